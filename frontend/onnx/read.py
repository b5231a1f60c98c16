"""`read_onnx`: an ONNX model as a program of the dialect."""
from __future__ import annotations

import os
import pathlib
from typing import Callable, Mapping

import numpy as np
import onnx

from ...dialect.program import Program
from ...dialect.shapes import TensorType
from ...dialect.structure import flatten, to_json
from ...dialect.symbolic import Dim
from ...errors import FormatError, OnemlirError, UnsupportedOpError
from ..recording import recording
from ..tensor import Tensor
from . import families  # noqa: F401  registers the readers
from .functions import FunctionTable
from .graph import GraphReader, located, MALFORMED, needed
from .narrow import NARROW
from .recorder import anonymous_axis, Choices, ModelRecorder, NeedsConstant
from .tensors import element_dtype, Files
from .types import check_outputs
from .unsupported import check_supported, imports
from .values import Missing, Sequence, Value
from .weights_in_file import without_weights


def load_model(model) -> tuple[onnx.ModelProto, pathlib.Path | None]:
    """The message of a path, bytes or ModelProto, and the folder of external data. FormatError for what is no ONNX model."""
    if isinstance(model, onnx.ModelProto):
        if not model.HasField("graph"):
            raise FormatError("the ModelProto has no graph")
        return model, None
    if isinstance(model, (bytes, bytearray, memoryview)):
        return _parsed(bytes(model), f"{len(model)} bytes"), None
    if isinstance(model, (str, os.PathLike)):
        path = pathlib.Path(model)
        return _parsed(path.read_bytes(), f"'{path}'"), path.parent
    raise FormatError(f"an ONNX model is a path, bytes or a ModelProto, found {type(model).__name__}")


def load_mapped(path: pathlib.Path) -> tuple[onnx.ModelProto, list[memoryview]]:
    """The message of a file without its weights, and these in the mapped file."""
    if path.stat().st_size:
        data = memoryview(np.memmap(path, np.uint8, "r"))
        try:
            rest, weights = without_weights(data)
            del data
            return _parsed(rest, f"'{path}'"), weights
        except (ValueError, IndexError, RecursionError):
            pass  # the parser says what is wrong
    return _parsed(path.read_bytes(), f"'{path}'"), []


def _parsed(data: bytes, what: str) -> onnx.ModelProto:
    proto = onnx.ModelProto()
    try:
        proto.ParseFromString(data)
    except Exception as error:  # protobuf's DecodeError, which depends on its implementation
        raise FormatError(f"cannot read {what} as an ONNX model; perhaps it is truncated: {error}") from None
    if not proto.HasField("graph"):
        raise FormatError(f"cannot read {what} as an ONNX model: there is no graph; perhaps it is truncated")
    return proto


def read_onnx(model, constants: Mapping[str, np.ndarray] | None = None, shapes: Mapping[str, tuple] | None = None,
              lengths: Mapping[str, int] | None = None, assume: bool = True) -> Program:
    """Read an ONNX model: a path, bytes, or a ModelProto.

    constants: values of inputs that are fixed, and are no inputs any more: those that decide about the graph's structure, such as axes.
    shapes: sizes of inputs, in place of what the model says. lengths: how many elements inputs that are sequences have; they become inputs
    ``name_0``, ``name_1``, … assume: of an If whose branches give values of different ranks, read the one that fits the rest of the model,
    and check on every run that it is the one (GuardError); False refuses such a model with NeedsConstant. Raises FormatError for a damaged model, UnsupportedOpError for what cannot be read.
    """
    if isinstance(model, (str, os.PathLike)):
        proto, mapped = load_mapped(pathlib.Path(model))
        files = Files(pathlib.Path(model).parent, mapped)
    else:
        proto, folder = load_model(model)
        files = Files(folder)
    try:
        return _read_with_choices(lambda choices: _read(proto, files, constants or {}, shapes or {}, lengths or {}, choices), assume)
    except MALFORMED as error:  # fields that are no text, for instance
        raise FormatError(f"the model cannot be read: {type(error).__name__}: {error}") from error


ATTEMPTS = 64  # combinations of branches that are tried at most


def _read_with_choices(read: Callable[[Choices | None], Program], assume: bool) -> Program:
    """What `read` gives for the first combination of branches that fits the model; the first error when none does."""
    choices, first = Choices() if assume else None, None
    for _ in range(ATTEMPTS):
        try:
            return read(choices)
        except OnemlirError as error:
            first = first or error
            choices = choices and choices.following()
        if choices is None:
            break
    raise first


def _read(proto: onnx.ModelProto, files: Files, constants: Mapping, shapes: Mapping, lengths: Mapping, choices: Choices | None) -> Program:
    versions, functions = imports(proto.opset_import), FunctionTable(proto.functions)
    _check_versions(proto, versions)
    graph = proto.graph
    outputs = [output.name for output in graph.output]
    if not outputs:
        raise FormatError(f"the graph '{graph.name}' has no outputs")
    check_supported(needed(graph.node, outputs), versions, functions)
    recorder = ModelRecorder(choices)
    with recording(recorder):
        reader = GraphReader(recorder, functions, versions, files)
        reader.initializers(graph)
        _Inputs(reader, constants, shapes, lengths).define(graph)
        values = reader.run(graph.node, outputs)
        recorder.where = "the outputs"
        if choices is not None and choices.taken:
            _check_ranks(graph, values)
        check_outputs(graph, values)
        named, structure = _outputs(outputs, values)
        program = recorder.finish(named, structure)
    program.metadata = {"producer": proto.producer_name, "opset": versions.get("", 0)}
    return program


def _check_ranks(graph: onnx.GraphProto, values: list[Value]) -> None:
    """FormatError where an output has not the rank that the graph declares: then another branch was meant."""
    for info, value in zip(graph.output, values):
        declared = info.type.tensor_type
        if declared.HasField("shape") and len(declared.shape.dim) != len(value.shape):
            raise FormatError(f"the output '{info.name}' has {len(value.shape)} axes, but the graph declares {len(declared.shape.dim)}")


def _check_versions(proto: onnx.ModelProto, versions: Mapping[str, int]) -> None:
    if proto.ir_version > onnx.IR_VERSION:
        raise FormatError(f"the model has IR version {proto.ir_version}; the installed onnx package knows versions up to {onnx.IR_VERSION}")
    newest = onnx.defs.onnx_opset_version()
    if versions.get("", 1) > newest or versions.get("", 1) < 1:
        raise FormatError(f"the model uses operator set {versions['']}; the installed onnx package knows sets 1 to {newest}")


class _Inputs:
    """Defines the inputs of the graph."""

    def __init__(self, reader: GraphReader, constants: Mapping, shapes: Mapping, lengths: Mapping):
        self.reader, self.constants, self.shapes, self.lengths = reader, constants, shapes, lengths

    def define(self, graph: onnx.GraphProto) -> None:
        seen: set[str] = set()
        for info in graph.input:
            if info.name in seen:
                raise FormatError(f"the input '{info.name}' is given twice")
            seen.add(info.name)
            if info.name not in self.reader.scope.values:
                self.reader.scope.define(info.name, self._value(info))

    def _value(self, info: onnx.ValueInfoProto) -> Value:
        if info.name in self.constants:
            return Value(Tensor._wrap(np.asarray(self.constants[info.name])))
        kind = info.type.WhichOneof("value")
        try:
            if kind == "sequence_type":
                return self._sequence(info.name, info.type.sequence_type)
            if kind == "optional_type":
                return self._optional(info.name, info.type.optional_type)
            if kind != "tensor_type":
                raise UnsupportedOpError(f"the input '{info.name}' is a {(kind or 'value without a type').replace('_type', '')}, expected a tensor")
            return self._tensor(info.name, info.type.tensor_type, info.name)
        except NeedsConstant as error:
            raise located(error, f"input '{info.name}'") from None

    def _tensor(self, name: str, type: onnx.TypeProto.Tensor, source: str) -> Value:
        narrow = NARROW.get(type.elem_type)
        dtype = narrow.storage if narrow is not None else element_dtype(type.elem_type, f"the input '{name}'")
        number = len(self.reader.recorder.inputs)
        if name in self.shapes:
            shape = tuple(s if isinstance(s, (int, Dim)) else Dim.symbol(s) for s in self.shapes[name])
        elif not type.HasField("shape"):
            raise NeedsConstant(f"the rank of the input '{name}' is not known: pass shapes={{'{name}': (…)}}", frozenset([source]))
        else:
            shape = tuple(self._size(d, number, axis, name, name == source) for axis, d in enumerate(type.shape.dim))
        tensor = self.reader.recorder.add_typed_input(name, TensorType(shape, dtype))
        value = Value(tensor, depends=frozenset([source]))
        value.narrow = type.elem_type if narrow is not None else None
        return value

    def _size(self, dim, number: int, axis: int, name: str, named: bool):
        if dim.HasField("dim_value"):
            if dim.dim_value == -1:  # what some exporters write for an unknown size
                return anonymous_axis(number, axis)
            if not 0 <= dim.dim_value < 1 << 40:
                raise FormatError(f"axis {axis} of the input '{name}' has the size {dim.dim_value}")
            return dim.dim_value
        text = dim.dim_param
        return Dim.symbol(text) if named and text and not text.startswith("?") else anonymous_axis(number, axis)

    def _sequence(self, name: str, type: onnx.TypeProto.Sequence) -> Value:
        if name not in self.lengths:
            raise NeedsConstant(f"the input '{name}' is a sequence of unknown length: pass lengths={{'{name}': …}}", frozenset([name]))
        if type.elem_type.WhichOneof("value") != "tensor_type":
            raise UnsupportedOpError(f"the input '{name}' is a sequence of something else than tensors")
        return Sequence([self._tensor(f"{name}_{i}", type.elem_type.tensor_type, name) for i in range(self.lengths[name])])

    def _optional(self, name: str, type: onnx.TypeProto.Optional) -> Value:
        if self.lengths.get(name) is None and name not in self.shapes:
            raise NeedsConstant(f"whether the optional input '{name}' has an element is not known", frozenset([name]))
        if self.lengths.get(name) == -1:
            return Missing()
        if type.elem_type.WhichOneof("value") == "sequence_type":
            return self._sequence(name, type.elem_type.sequence_type)
        return self._tensor(name, type.elem_type.tensor_type, name)


def _outputs(names: list[str], values: list[Value]):
    """Names and tensors of the outputs, sequences by their elements; and how they are nested."""
    nested = [_nested(value, name) for name, value in zip(names, values)]
    leaves: list = []
    structure = flatten(tuple(nested) if len(nested) > 1 else nested[0], lambda v: isinstance(v, Tensor), leaves)
    flat = []
    for name, item in zip(names, nested):
        flat += [(f"{name}_{i}", t) for i, t in enumerate(item)] if isinstance(item, list) else [(name, item)]
    return flat, to_json(structure)


def _nested(value: Value, name: str):
    if isinstance(value, Missing):
        raise UnsupportedOpError(f"the output '{name}' is an optional without an element")
    if isinstance(value, Sequence):
        return [_nested(item, name) for item in value.items]
    return value.tensor
