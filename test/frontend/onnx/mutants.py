"""Damaged ONNX models: the suite's models with bytes, sizes, names, attributes or nodes changed at random."""
from __future__ import annotations

import random
import warnings
from typing import Callable

import onnx


def models() -> list[bytes]:
    """The models of the suite's node cases and simple cases, as bytes."""
    warnings.simplefilter("ignore")
    from onnx.backend.test.loader import load_model_tests

    cases = load_model_tests(kind="node") + load_model_tests(kind="simple") + load_model_tests(kind="pytorch-operator")
    found = [case.model or onnx.load(f"{case.model_dir}/model.onnx") for case in cases]
    return [model.SerializeToString() for model in found if model.ByteSize() < 1 << 16]


def bytes_changed(data: bytes, rng: random.Random) -> bytes:
    changed = bytearray(data)
    for _ in range(rng.randint(1, 4)):
        changed[rng.randrange(len(changed))] = rng.randrange(256)
    return bytes(changed)


def truncated(data: bytes, rng: random.Random) -> bytes:
    return data[:rng.randrange(len(data))]


def _edited(edit: Callable) -> Callable:
    def mutate(data: bytes, rng: random.Random) -> bytes:
        model = onnx.ModelProto.FromString(data)
        try:
            edit(model.graph, rng)
        except (IndexError, ValueError):
            pass  # the model has nothing of this kind
        return model.SerializeToString()
    return mutate


def _dims(graph, rng):
    dim = rng.choice([d for v in list(graph.input) + list(graph.output) for d in v.type.tensor_type.shape.dim])
    dim.dim_value = rng.choice([0, 1, 2, -1, -7, 3, 1 << 31, 1 << 40, 1 << 62, -(1 << 63)])


def _rank(graph, rng):
    dims = rng.choice(graph.input).type.tensor_type.shape.dim
    if rng.random() < 0.5:
        dims.add().dim_value = 2
    else:
        del dims[rng.randrange(len(dims))]


def _element_type(graph, rng):
    rng.choice(graph.input).type.tensor_type.elem_type = rng.randrange(28)


def _attribute_value(graph, rng):
    attribute = rng.choice([a for n in graph.node for a in n.attribute])
    wild = [0, 1, -1, 2, 7, -5, 1 << 31, 1 << 62, -(1 << 63)]
    if attribute.ints:
        attribute.ints[rng.randrange(len(attribute.ints))] = rng.choice(wild)
    elif attribute.type == onnx.AttributeProto.STRING:
        attribute.s = rng.choice([b"", b"nonsense", b"\xff\xfe", b"constant"])
    elif attribute.type == onnx.AttributeProto.FLOAT:
        attribute.f = rng.choice([0.0, -1.0, float("nan"), float("inf"), 1e38])
    else:
        attribute.i = rng.choice(wild)


def _attribute_type(graph, rng):
    rng.choice([a for n in graph.node for a in n.attribute]).type = rng.randrange(15)


def _attribute_dropped(graph, rng):
    attributes = rng.choice([n.attribute for n in graph.node if n.attribute])
    del attributes[rng.randrange(len(attributes))]


def _attribute_length(graph, rng):
    attribute = rng.choice([a for n in graph.node for a in n.attribute if a.ints])
    attribute.ints.append(3) if rng.random() < 0.5 else attribute.ints.pop()


def _names(graph) -> list[str]:
    return [i.name for i in graph.input] + [o for n in graph.node for o in n.output] + ["", "nothing"]


def _input_renamed(graph, rng):
    node = rng.choice(graph.node)
    node.input[rng.randrange(len(node.input))] = rng.choice(_names(graph))


def _output_renamed(graph, rng):
    node = rng.choice(graph.node)
    node.output[rng.randrange(len(node.output))] = rng.choice(_names(graph))


def _inputs_changed(graph, rng):
    node = rng.choice(graph.node)
    node.input.append(rng.choice(_names(graph))) if rng.random() < 0.5 else node.input.pop()


def _operator(graph, rng):
    node = rng.choice(graph.node)
    node.op_type = rng.choice(["Add", "Reshape", "Conv", "Concat", "Gather", "Slice", "Loop", "If", "LSTM", "Softmax", "MatMul", "Split", "Pad", "Nonsense"])


def _order(graph, rng):
    nodes = list(graph.node)
    rng.shuffle(nodes)
    del graph.node[:]
    graph.node.extend(nodes)


def _initializer(graph, rng):
    tensor = rng.choice(graph.initializer) if graph.initializer and rng.random() < 0.7 else rng.choice([a.t for n in graph.node for a in n.attribute if a.HasField("t")])
    kind = rng.randrange(4)
    if kind == 0:
        tensor.raw_data = tensor.raw_data[:-1]
    elif kind == 1:
        tensor.dims.append(rng.choice([2, 0, -1, 1 << 40]))
    elif kind == 2:
        tensor.data_type = rng.randrange(28)
    else:
        tensor.data_location = onnx.TensorProto.EXTERNAL
        tensor.external_data.add(key="location", value=rng.choice(["../secret", "/etc/hostname", "weights", ""]))


MUTATIONS = [bytes_changed, truncated] + [_edited(e) for e in (
    _dims, _dims, _rank, _element_type, _attribute_value, _attribute_value, _attribute_type, _attribute_dropped, _attribute_length, _input_renamed,
    _output_renamed, _inputs_changed, _operator, _order, _initializer)]


def mutant(sources: list[bytes], seed: int) -> bytes:
    """The mutant of a number: always the same one."""
    rng = random.Random(seed)
    data = rng.choice(sources)
    for _ in range(rng.choice([1, 1, 2])):
        try:
            data = rng.choice(MUTATIONS)(data, rng)
        except Exception:  # the first mutation left no message to change
            break
    return data
