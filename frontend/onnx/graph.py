"""Reading the nodes of a graph, one after the other, into the recording."""
from __future__ import annotations

from typing import Mapping, Sequence as Seq

import numpy as np
import onnx

from ...dialect import dtypes
from ...errors import DTypeError, FormatError, OnemlirError, TraceError, UnsupportedOpError
from ..ops.declared import declared as om
from ..recording import SMALL
from ..tensor import Tensor
from .content import read_content
from .functions import attributes_for, body_of, bound, FunctionTable
from .narrow import NARROW, stored_tensor
from .node import describe, OnnxNode
from .recorder import ModelRecorder, NeedsConstant
from .registry import reader_of
from .tensors import array_of, Files
from .types import check_inputs
from .unsupported import DEPTH, subgraphs, version_of
from .values import as_value, FOLDED, Sequence, Value

MALFORMED = (IndexError, KeyError, TypeError, ValueError, AttributeError, OverflowError, ZeroDivisionError, AssertionError)


class Scope:
    """Values by name; a subgraph sees those of the graph around it."""

    def __init__(self, outer: "Scope | None" = None):
        self.values: dict[str, Value] = {}
        self.outer = outer

    def find(self, name: str) -> Value | None:
        scope: Scope | None = self
        while scope is not None:
            if name in scope.values:
                return scope.values[name]
            scope = scope.outer
        return None

    def define(self, name: str, value: Value) -> None:
        """FormatError for a name that the graph has given already."""
        if name in self.values:
            raise FormatError(f"the name '{name}' is given twice")
        self.values[name] = value


class GraphReader:
    """Reads nodes of one graph or function body. `versions`: operator sets by domain."""

    def __init__(self, recorder: ModelRecorder, functions: FunctionTable, versions: Mapping[str, int], files: Files, depth: int = 0,
                 prefix: str = "", constants: "Constants | None" = None):
        self.recorder, self.functions, self.versions, self.files = recorder, functions, versions, files
        self.depth, self.prefix = depth, prefix
        self.constants = Constants(recorder) if constants is None else constants
        self.scope = Scope()
        if depth > DEPTH:
            raise FormatError(f"functions or subgraphs lie more than {DEPTH} deep within one another")

    def inner(self, versions=None, prefix: str = "") -> "GraphReader":
        """A reader for a subgraph (which sees the names of this one) or, with `versions`, for a function's body."""
        reader = GraphReader(self.recorder, self.functions, self.versions if versions is None else versions, self.files, self.depth + 1,
                             self.prefix + prefix, self.constants)
        reader.scope = Scope(self.scope if versions is None else None)
        return reader

    def initializers(self, graph: onnx.GraphProto) -> None:
        """Define the names of the graph's constants."""
        if graph.sparse_initializer:
            raise UnsupportedOpError(f"the graph '{graph.name}' has sparse initializers")
        for tensor in graph.initializer:
            if tensor.data_type == onnx.TensorProto.STRING:
                continue
            narrow = tensor.data_type in NARROW and tensor.data_location != onnx.TensorProto.EXTERNAL
            array = stored_tensor(tensor, self.files) if narrow else array_of(tensor, self.files)
            value = self.constants.named(self.prefix + tensor.name, array)
            value.narrow = tensor.data_type if narrow else None
            self.scope.define(tensor.name, value)

    def run(self, nodes: Seq[onnx.NodeProto], outputs: Seq[str]) -> list[Value]:
        """Read the nodes that the outputs need; their values."""
        for proto in needed(nodes, outputs):
            self.node(proto)
        return [self.lookup(name, "the graph's outputs") for name in outputs]

    def lookup(self, name: str, user: str) -> Value:
        value = self.scope.find(name)
        if value is None:
            raise FormatError(f"{user}: '{name}' is given by no input, initializer or earlier node")
        return value

    def node(self, proto: onnx.NodeProto) -> None:
        """Read one node and define its outputs."""
        outer, self.recorder.where = self.recorder.where, self.prefix + describe(proto)
        try:
            self._node(proto)
        except OnemlirError as error:
            raise located(error, self.recorder.where) from None
        except RecursionError:
            raise FormatError(f"{self.recorder.where}: nested too deeply") from None
        except MemoryError as error:
            raise located(UnsupportedOpError(f"takes more memory than there is to be read: {error}"), self.recorder.where) from error
        except MALFORMED as error:
            raise located(FormatError(f"cannot be read: {type(error).__name__}: {error}"), self.recorder.where) from error
        self.recorder.where = outer

    def _node(self, proto: onnx.NodeProto) -> None:
        inputs = [self.lookup(name, "the inputs") if name else None for name in proto.input]
        results = self.results(proto, inputs)
        given = [name for name in proto.output if name]
        if len(results) < len(proto.output) and given and proto.output[len(results):] and any(proto.output[len(results):]):
            raise FormatError(f"has {len(proto.output)} outputs, the operator gives {len(results)}")
        depends = frozenset().union(*(v.depends for v in inputs if v is not None))
        for name, result in zip(proto.output, results):
            if name:
                value = as_value(result, depends)
                self.constants.keep(self.prefix + name, value)
                self.scope.define(name, value)

    def results(self, proto: onnx.NodeProto, inputs: list[Value | None]) -> Seq:
        """What the operator gives for these inputs."""
        version = version_of(self.versions, proto.domain)
        function = self.functions.find(proto)
        if function is not None:
            return self.inline(function, proto, version, inputs)
        check_inputs(proto, version, inputs)
        node = OnnxNode(self, proto, version, inputs)
        known = read_content(node)
        if known is not None:
            return (known,)
        reader = reader_of(proto.domain, proto.op_type, version)
        if reader is None:
            return self.expand(proto, version, inputs)
        results = reader(node, om)
        return results if isinstance(results, tuple) else (results,)

    def expand(self, proto: onnx.NodeProto, version: int, inputs: list[Value | None]) -> list[Value]:
        """An operator by the function body of its schema."""
        function = body_of(proto, version, inputs)
        if function is None:
            raise UnsupportedOpError(f"the operator {proto.op_type} of version {version} cannot be read for inputs of these types")
        return self.inline(function, proto, version, inputs)

    def inline(self, function: onnx.FunctionProto, proto: onnx.NodeProto, version: int, inputs: list[Value | None]) -> list[Value]:
        """The outputs of a function's body."""
        versions = {o.domain: o.version for o in function.opset_import}
        versions.setdefault("", version_of(self.versions, ""))
        reader = self.inner(versions, f"{proto.name or proto.output[0]}/")
        for name, value in zip(function.input, [*inputs, *[None] * (len(function.input) - len(inputs))]):
            reader.scope.values[name] = value
        attributes = attributes_for(function, proto, version)
        nodes = [bound(n, attributes) for n in function.node]
        wanted = [name for name, used in zip(function.output, proto.output) if used]
        found = dict(zip(wanted, reader.run(nodes, wanted)))
        return [found.get(name) for name in function.output[:len(proto.output)]]

    def lifted(self, value: Value) -> Tensor:
        """The tensor of a value; a large constant as a parameter of the recording."""
        tensor = value.tensor
        if not tensor.is_recorded and tensor._array.size > FOLDED:
            return Tensor._recorded(self.recorder.lift(tensor))
        return tensor


class Constants:
    """Constants and the names by which they become parameters."""

    def __init__(self, recorder: ModelRecorder):
        self.recorder = recorder
        self._kept: list[Tensor] = []
        self._names: set[str] = set()

    def named(self, name: str, array: np.ndarray) -> Value:
        """An array as a value of its name."""
        value = Value(Tensor._wrap(array))
        self.keep(name, value)
        return value

    def keep(self, name: str, value: Value) -> None:
        """Give a constant a name, unless it has one or is small enough for a literal."""
        if isinstance(value, Sequence) or value.array is None or value.array.size <= SMALL or id(value.tensor) in self.recorder.parameter_names:
            return
        unique, count = name, 1
        while unique in self._names:
            unique, count = f"{name}_{count}", count + 1
        self._names.add(unique)
        self._kept.append(value.tensor)
        self.recorder.parameter_names[id(value.tensor)] = unique


def located(error: OnemlirError, where: str) -> OnemlirError:
    """The error with the innermost node's name in front: a graph whose sizes or names do not fit is a damaged model, a dtype that an op
    does not take is one that is not supported."""
    if getattr(error, "located", False):
        return error
    text = f"{where}: {error}"
    if isinstance(error, NeedsConstant):
        result: OnemlirError = NeedsConstant(text, error.inputs, error.symbolic)
    else:
        result = (UnsupportedOpError if isinstance(error, (UnsupportedOpError, TraceError, DTypeError)) else FormatError)(text)
    result.located = True
    return result


def uses(proto: onnx.NodeProto) -> set[str]:
    """The names that a node reads, those that its subgraphs take from outside among them."""
    found = {name for name in proto.input if name}
    for graph in subgraphs(proto):
        found |= {o.name for o in graph.output}
        for node in graph.node:
            found |= uses(node)
    return found


def needed(nodes: Seq[onnx.NodeProto], outputs: Seq[str]) -> list[onnx.NodeProto]:
    """The nodes that outputs depend on, in their order."""
    wanted, kept = set(outputs), []
    for proto in reversed(nodes):
        if any(name in wanted for name in proto.output if name):
            kept.append(proto)
            wanted |= uses(proto)
    return kept[::-1]


__all__ = ["Scope", "GraphReader", "Constants", "dtypes"]
