"""From a `Graph` to protobuf: names, removal of what nothing uses, tensors."""
from __future__ import annotations

from typing import Callable, Mapping

import numpy as np
import onnx
from onnx import helper

from .. import symbolic
from ..shapes import TensorType
from .graph import Graph, Node, Value
from .schema import ELEMENT_TYPES

PRODUCER = "onemlir"


def model_proto(graph: Graph, weights: Mapping[str, np.ndarray], tensor: Callable | None = None) -> onnx.ModelProto:
    """The model. `tensor(name, array)` makes the TensorProto of an initializer, None to leave it out; by default with the data inside."""
    names = Names(graph)
    live = live_nodes(graph)
    used = {id(v) for node in live.values() for v in node.inputs if v is not None}
    initializers = []
    for value in graph.model.initializers:
        if id(value) in used:
            made = (tensor or tensor_proto)(names.of(value), initializer_array(value, weights))
            initializers += [] if made is None else [made]
    proto = graph_proto(graph, names, live, "main")
    proto.initializer.extend(initializers)
    opset = helper.make_opsetid("", graph.opset)
    return helper.make_model(proto, producer_name=PRODUCER, opset_imports=[opset], ir_version=helper.find_min_ir_version_for([opset]))


def initializer_array(value: Value, weights: Mapping[str, np.ndarray]) -> np.ndarray:
    return value.array if value.array is not None else np.asarray(weights[value.name])


def tensor_proto(name: str, array: np.ndarray) -> onnx.TensorProto:
    """A tensor with its data inside."""
    proto = tensor_header(name, array)
    proto.raw_data = little_endian(array).tobytes()
    return proto


def tensor_header(name: str, array: np.ndarray) -> onnx.TensorProto:
    """Name, dtype and shape of a tensor, without data."""
    return onnx.TensorProto(name=name, data_type=ELEMENT_TYPES[np.dtype(array.dtype)], dims=array.shape)


def little_endian(array: np.ndarray) -> np.ndarray:
    return array.astype(array.dtype.newbyteorder("<"), copy=False) if array.dtype.kind in "iuf" else array


class Names:
    """Unique names of values: those that are fixed first, others after their hints in order."""

    def __init__(self, graph: Graph):
        self.taken: set[str] = set()
        self.names: dict[int, str] = {}
        self.counts: dict[str, int] = {}
        self.nodes: set[str] = set()
        for value in [*graph.inputs, *graph.outputs, *(v for v in graph.model.initializers if v.name is not None)]:
            if id(value) not in self.names:
                self.names[id(value)] = self.unique(value.name)

    def of(self, value: Value | None) -> str:
        """The name; "" for an input that is left out."""
        if value is None:
            return ""
        if id(value) not in self.names:
            self.names[id(value)] = self.unique(value.hint)
        return self.names[id(value)]

    def unique(self, hint: str) -> str:
        name = hint
        while name in self.taken:
            self.counts[hint] = self.counts.get(hint, 0) + 1
            name = f"{hint}_{self.counts[hint]}"
        self.taken.add(name)
        return name


def live_nodes(graph: Graph) -> dict[int, Node]:
    """Nodes on which an output depends, by identity, those of bodies included."""
    live: dict[int, Node] = {}
    _mark(graph, set(), live)
    return live


def _mark(graph: Graph, wanted: set[int], live: dict[int, Node]) -> set[int]:
    """Values that the graph's live nodes read; `wanted` grows by them."""
    wanted |= {id(v) for v in graph.outputs}
    for node in reversed(graph.nodes):
        if not wanted.isdisjoint(map(id, node.outputs)):
            live[id(node)] = node
            wanted |= {id(v) for v in node.inputs if v is not None}
            for body in node.attributes.values():
                if isinstance(body, Graph):
                    _mark(body, wanted, live)
    return wanted


def graph_proto(graph: Graph, names: Names, live: Mapping[int, Node], name: str) -> onnx.GraphProto:
    proto = onnx.GraphProto(name=name)
    proto.input.extend(value_info(names.of(v), v) for v in graph.inputs)
    nodes = [node for node in graph.nodes if id(node) in live]
    for node in nodes:
        proto.node.append(node_proto(node, names, live))
    proto.output.extend(value_info(names.of(v), v) for v in graph.outputs)
    return proto


def node_proto(node: Node, names: Names, live: Mapping[int, Node]) -> onnx.NodeProto:
    inputs = [names.of(v) for v in node.inputs]
    outputs = [names.of(v) for v in node.outputs]
    proto = onnx.NodeProto(op_type=node.op_type, input=inputs, output=outputs, name=outputs[0])
    for name, value in node.attributes.items():
        proto.attribute.append(attribute_proto(name, value, names, live, outputs[0]))
    return proto


def attribute_proto(name: str, value, names: Names, live: Mapping[int, Node], owner: str) -> onnx.AttributeProto:
    if isinstance(value, Graph):
        return helper.make_attribute(name, graph_proto(value, names, live, f"{owner}/{name}"))
    if isinstance(value, np.dtype):
        return helper.make_attribute(name, int(ELEMENT_TYPES[value]))
    if isinstance(value, np.ndarray):
        return helper.make_attribute(name, tensor_proto("", value))
    if isinstance(value, bool):
        return helper.make_attribute(name, int(value))
    return helper.make_attribute(name, value)


def value_info(name: str, value: Value) -> onnx.ValueInfoProto:
    if value.type is None:
        return helper.make_tensor_value_info(name, ELEMENT_TYPES[value.dtype], None)
    return helper.make_tensor_value_info(name, ELEMENT_TYPES[value.dtype], dimensions(value.type))


def dimensions(type: TensorType) -> list:
    """Sizes as ints, symbolic ones as text, None where a size is known when the model runs only."""
    return [int(size) if isinstance(size, (int, np.integer)) else dimension_text(size) for size in type.shape]


def dimension_text(size: symbolic.Dim) -> str | None:
    return None if any(s.anonymous or s.name.startswith("?") for s in size.symbols()) else str(size)
