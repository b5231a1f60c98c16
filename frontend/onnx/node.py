"""A node of an ONNX graph as its reader sees it: inputs, attributes with their types checked, version."""
from __future__ import annotations

from typing import Any

import numpy as np
import onnx

from ...dialect import dtypes
from ...errors import FormatError, UnsupportedOpError
from ..ops.declared import declared as om
from ..tensor import Tensor
from .recorder import NeedsConstant
from .registry import reader_of
from .tensors import array_of, attribute_value, dtype_name, element_dtype
from .values import as_value, FOLDED, Sequence, Value


AXES = 64  # of a tensor whose sizes are data
STEPS = 1 << 14  # parts of a tensor or steps of a loop that are written out, at most


class OnnxNode:
    """One node. `version` is that of its domain's operator set; `output_count` how many outputs it lists."""

    def __init__(self, graph, proto: onnx.NodeProto, version: int, inputs: list[Value | None]):
        self.graph, self.proto, self.version, self.inputs = graph, proto, version, inputs
        self.op_type = proto.op_type
        self.attributes = {a.name: a for a in proto.attribute}
        self.output_count = len(proto.output)

    domain = property(lambda self: self.proto.domain)
    recorder = property(lambda self: self.graph.recorder)

    def __str__(self) -> str:
        return describe(self.proto)

    def refuse(self, text: str):
        """UnsupportedOpError for what this operator asks for; the reader adds the node's name."""
        raise UnsupportedOpError(text)

    def needs_size(self, number: int, text: str):
        """NeedsConstant for a symbolic size of an input on which the structure depends."""
        raise NeedsConstant(text, self.value(number).depends, symbolic=True)

    def read_as(self, op_type: str, *inputs, version: int | None = None, **attributes):
        """What an operator of ai.onnx gives for other inputs (tensors, values, None) with the attributes of this node, of which some are
        replaced (None: left out)."""
        version = onnx.defs.onnx_opset_version() if version is None else version
        node = OnnxNode(self.graph, self.proto, version, [None if x is None else as_value(x) for x in inputs])
        node.op_type = op_type
        node.attributes = {n: a for n, a in node.attributes.items() if n not in attributes}
        node.attributes |= {n: onnx.helper.make_attribute(n, v) for n, v in attributes.items() if v is not None}
        return reader_of("", op_type, version)(node, om)

    def steps(self, count: int, what: str, most: int = STEPS) -> int:
        """A number of parts that are read one by one. UnsupportedOpError where they are too many."""
        if count > most:
            raise UnsupportedOpError(f"{what} are {count}; up to {most} can be read one by one")
        return count

    def wants(self, number: int) -> bool:
        """Whether an output is used."""
        return number < self.output_count and bool(self.proto.output[number])

    # Inputs.
    def has(self, number: int) -> bool:
        """Whether an input is given."""
        return number < len(self.inputs) and self.inputs[number] is not None

    def value(self, number: int) -> Value:
        """An input that must be there."""
        if not self.has(number):
            raise FormatError(f"input {number} is missing")
        return self.inputs[number]

    def tensor(self, number: int) -> Tensor:
        """An input as a tensor; large constants are parameters of the recording, small ones stay constants."""
        value = self.value(number)
        if isinstance(value, Sequence):
            raise FormatError(f"input {number} is a sequence, expected a tensor")
        if value.narrow is not None:
            raise UnsupportedOpError(f"input {number} has {dtype_name(value.narrow)}, which {self.op_type} does not take here")
        return self.graph.lifted(value)

    def with_sizes(self, number: int, sizes: dict) -> Tensor:
        """An input whose symbolic sizes along some axes follow from the operator: they are checked on every run."""
        x, shape = self.tensor(number), list(self.shape(number))
        unknown = {axis: size for axis, size in sizes.items() if not isinstance(shape[axis], int)}
        for axis, size in unknown.items():
            self.recorder.require_size("eq", shape[axis], size, f"axis {axis} of input {number} must be {size}, found {{found}}")
            shape[axis] = size
        return om.reshape(x, shape=tuple(shape)) if unknown else x

    def tensors(self) -> list[Tensor]:
        """All inputs."""
        return [self.tensor(i) for i in range(len(self.inputs))]

    def optional(self, number: int) -> Tensor | None:
        return self.tensor(number) if self.has(number) else None

    def shape(self, number: int) -> tuple:
        """Ints and symbolic sizes of an input."""
        return self.value(number).shape

    def rank(self, number: int) -> int:
        return len(self.shape(number))

    def array(self, number: int) -> np.ndarray:
        """The data of a constant input. NeedsConstant when it is computed."""
        value = self.value(number)
        if value.array is None:
            raise NeedsConstant(f"input {number} ('{self.proto.input[number]}') must be known when the model is read, but it "
                                f"{'depends on ' + ', '.join(sorted(value.depends)) if value.depends else 'is computed'}; "
                                "inputs can be fixed with constants={name: array}, their sizes with shapes={name: sizes}", value.depends)
        return value.array

    def ints(self, number: int) -> list[int]:
        """The integers of a constant input."""
        return [int(v) for v in self.array(number).reshape(-1)]

    def sizes(self, number: int, count: int | None = None) -> list:
        """An input as sizes: constants, symbolic sizes, or non-negative values that are known only when the model runs; `count` of them,
        which is checked on every run where the input's length is symbolic."""
        value = self.value(number)
        if value.content is not None:
            return [v if not isinstance(v, (bool, np.integer)) else int(v) for v in value.content.reshape(-1)]
        if len(value.shape) > 1:
            self.array(number)
        return [self.recorder.size_of_tensor(x) for x in self.elements(number, count)]

    def elements(self, number: int, count: int | None = None) -> list[Tensor]:
        """The elements of a rank-0 or rank-1 input as rank-0 tensors of i64. A symbolic length must be `count`."""
        shape = self.shape(number)
        if not all(isinstance(s, int) for s in shape):
            if count is None or len(shape) != 1:
                self.array(number)
            self.recorder.require_size("eq", shape[0], count, f"input {number} must have {count} elements, found {{found}}")
        x = om.reshape(self.tensor(number), shape=(-1,) if count is None else (count,)).astype(dtypes.int64)
        count = x.shape[0]
        self.steps(count, f"the elements of input {number}, which are sizes or places along axes,", AXES)
        return [om.reshape(om.slice(x, starts=(i,), shape=(1,), steps=(1,)), shape=()) for i in range(count)]

    def is_known(self, number: int) -> bool:
        """Whether an input's integers are known, perhaps as symbolic sizes."""
        return self.value(number).content is not None

    # Attributes.
    def _get(self, name: str, kinds: tuple[int, ...], expected: str, default) -> Any:
        attribute = self.attributes.get(name)
        if attribute is None:
            if default is REQUIRED:
                raise FormatError(f"the attribute '{name}' is missing")
            return default
        if attribute.type not in kinds:
            raise FormatError(f"the attribute '{name}' must be {expected}, found {onnx.AttributeProto.AttributeType.Name(attribute.type)}")
        return attribute_value(attribute)

    def int(self, name: str, default=None):
        return self._get(name, (onnx.AttributeProto.INT,), "an int", default)

    def float(self, name: str, default=None):
        return self._get(name, (onnx.AttributeProto.FLOAT,), "a float", default)

    def text(self, name: str, default=None):
        return self._get(name, (onnx.AttributeProto.STRING,), "a text", default)

    def ints_attribute(self, name: str, default=None):
        return self._get(name, (onnx.AttributeProto.INTS,), "ints", default)

    def floats(self, name: str, default=None):
        return self._get(name, (onnx.AttributeProto.FLOATS,), "floats", default)

    def texts(self, name: str, default=None):
        return self._get(name, (onnx.AttributeProto.STRINGS,), "texts", default)

    def subgraph(self, name: str) -> onnx.GraphProto:
        return self._get(name, (onnx.AttributeProto.GRAPH,), "a graph", REQUIRED)

    def tensor_attribute(self, name: str, default=None):
        """A tensor attribute as an array."""
        proto = self._get(name, (onnx.AttributeProto.TENSOR,), "a tensor", None)
        return default if proto is None else array_of(proto, self.graph.files)

    def dtype_attribute(self, name: str, default=None):
        """A dtype given by ONNX's number."""
        number = self.int(name)
        return default if number is None else element_dtype(number, f"the attribute '{name}'")


REQUIRED = object()


def describe(proto: onnx.NodeProto) -> str:
    """How messages call a node."""
    name = proto.name or next((o for o in proto.output if o), "")
    domain = f"{proto.domain}." if proto.domain not in ("", "ai.onnx") else ""
    return f"node '{name}' ({domain}{proto.op_type})"


__all__ = ["OnnxNode", "REQUIRED", "describe", "FOLDED"]
