"""A graph of ONNX under construction: values are objects, named when the graph is written out."""
from __future__ import annotations

from typing import Any, Sequence

import numpy as np

from .. import dtypes
from ..shapes import TensorType
from .schema import Formal, schema, Schema


class Value:
    """A tensor of the graph. `type` is known for values of the om dialect, `dtype` for nearly all, `array` for literals.

    `name` is fixed for inputs, outputs and weights; others are named after `hint`.
    """

    __slots__ = ("hint", "name", "type", "_dtype", "array", "graph")

    def __init__(self, graph: "Graph | None", hint: str, dtype=None, type: TensorType | None = None, name: str | None = None, array=None):
        self.graph, self.hint, self.name, self.type, self._dtype, self.array = graph, hint, name, type, dtype, array

    @property
    def dtype(self) -> np.dtype | None:
        return self.type.dtype if self.type is not None else self._dtype

    @property
    def shape(self) -> tuple:
        return self.type.shape

    @property
    def rank(self) -> int:
        return self.type.rank


class Node:
    """An operator of ONNX with its inputs (None where left out), outputs and attributes (a `Graph` for a body)."""

    __slots__ = ("op_type", "inputs", "outputs", "attributes", "name")

    def __init__(self, op_type: str, inputs: list, outputs: list, attributes: dict, name: str):
        self.op_type, self.inputs, self.outputs, self.attributes, self.name = op_type, inputs, outputs, attributes, name


class Model:
    """What a graph and the bodies inside it share: the opset, literals and weights."""

    def __init__(self, opset: int):
        self.opset = opset
        self.initializers: list[Value] = []
        self.literals: dict[tuple, Value] = {}


class Graph:
    """Adds nodes: ``graph.Softmax(x, axis=1)``, or ``graph.node("Softmax", [x], axis=1)``.

    Inputs are values, None where left out, and numpy arrays, lists or Python scalars, which become literals of the dtype that the
    operator takes there. A dtype that the standard does not have for an operator is cast to a wider one and back.
    """

    def __init__(self, model: Model, parent: "Graph | None" = None):
        self.model, self.parent = model, parent
        self.inputs: list[Value] = []
        self.outputs: list[Value] = []
        self.nodes: list[Node] = []
        self.path = parent.path if parent is not None else ""

    @property
    def opset(self) -> int:
        return self.model.opset

    def body(self) -> "Graph":
        """A graph for an attribute of a node; it sees the values of this one."""
        return Graph(self.model, self)

    def __getattr__(self, op_type: str):
        if not op_type[:1].isupper():
            raise AttributeError(op_type)
        return lambda *inputs, outputs=1, **attributes: self.node(op_type, inputs, outputs, **attributes)

    def node(self, op_type: str, inputs: Sequence = (), outputs: int = 1, **attributes) -> Any:
        """Add a node; its value, or a tuple when it has several outputs. Attributes that are None are left out."""
        rules = schema(op_type, self.opset)
        inputs = list(inputs)
        while inputs and inputs[-1] is None:
            inputs.pop()
        given = self._bind(rules, inputs)
        taken = {variable: rules.dtype_for(formal, given[variable]) for variable, formal in _variables(rules, len(inputs)) if variable in given}
        values = [self._input(rules, rules.input(i), value, taken) for i, value in enumerate(inputs)]
        attributes = {name: value for name, value in attributes.items() if value is not None}
        made = [self.value(op_type, _result_dtype(rules.output(i), taken, attributes)) for i in range(outputs)]
        self.nodes.append(Node(op_type, values, made, attributes, self._hint(op_type)))
        results = [self._back(rules.output(i).variable, value, given, taken) for i, value in enumerate(made)]
        return results[0] if outputs == 1 else tuple(results)

    def Where(self, condition: "Value", x, y) -> "Value":
        """x where the condition holds, else y. Dtypes for which onnxruntime has no such operator go through others."""
        dtype = next((v.dtype for v in (x, y) if isinstance(v, Value)), None)
        if dtype == np.bool_:
            return self.Or(self.And(condition, x), self.And(self.Not(condition), y))
        wide = _SELECTED_AS.get(dtype.name) if dtype is not None else None
        if wide is None:
            return self.node("Where", [condition, x, y])
        x, y = (self.cast(v if isinstance(v, Value) else self.constant(v, dtype), wide) for v in (x, y))
        return self.cast(self.node("Where", [condition, x, y]), dtype)

    def _bind(self, rules: Schema, inputs: Sequence) -> dict[str, np.dtype]:
        """The dtype that stands for each type variable, from the values among the inputs."""
        bound: dict[str, np.dtype] = {}
        for number, value in enumerate(inputs):
            dtype = getattr(value, "dtype", None)
            if dtype is not None and rules.input(number).variable:
                bound.setdefault(rules.input(number).variable, np.dtype(dtype))
        return bound

    def _input(self, rules: Schema, formal: Formal, value, taken) -> Value | None:
        if value is None:
            return None
        wanted = taken.get(formal.variable) or formal.only
        if not isinstance(value, Value):
            return self.constant(np.asarray(value, _literal_dtype(value, wanted)))
        if wanted is None or not formal.variable or value.dtype in (None, wanted):
            return value
        return self.cast(value, wanted)

    def _back(self, variable: str, value: Value, given, taken) -> Value:
        before = None if variable.startswith("tensor(") else given.get(variable)
        return value if before is None or before == taken.get(variable) else self.cast(value, before)

    def own(self, value: Value) -> Value:
        """The value as one that a node of this graph defines and that is no output yet, as outputs must be."""
        if value.graph is self and value not in self.outputs and value not in self.inputs:
            return value
        copy = self.Identity(value)
        copy.type = value.type
        return copy

    # Values.
    def value(self, op_type: str, dtype=None, type: TensorType | None = None) -> Value:
        """A value that a node of this graph will define."""
        return Value(self, self._hint(op_type), dtype, type)

    def _hint(self, op_type: str) -> str:
        return f"{self.path}/{op_type}" if self.path else op_type

    def constant(self, array, dtype=None) -> Value:
        """A literal; the same literal is written once."""
        array = np.asarray(array, dtype)
        key = (array.dtype, array.shape, array.tobytes() if array.size <= 4096 else id(array))
        if key not in self.model.literals:
            value = Value(None, "constant", type=TensorType(array.shape, array.dtype), array=array)
            self.model.literals[key] = value
            self.model.initializers.append(value)
        return self.model.literals[key]

    def weight(self, name: str, array: np.ndarray) -> Value:
        """A weight by its name."""
        value = Value(None, name, type=TensorType(tuple(array.shape), array.dtype), name=name, array=None)
        self.model.initializers.append(value)
        return value

    def cast(self, value: Value, dtype) -> Value:
        """The value converted; itself when it has that dtype."""
        dtype = np.dtype(dtype)
        if value.dtype == dtype:
            return value
        if value.array is not None:
            return self.constant(value.array.astype(dtype))
        return self.node("Cast", [value], to=dtype)

    # Sizes: ints, or values of shape (1,) and dtype i64.
    def size(self, value: Value, axis: int):
        """The size of an axis: an int where it is fixed."""
        fixed = value.shape[axis]
        if isinstance(fixed, (int, np.integer)):
            return int(fixed)
        return self.Shape(value, start=axis, end=axis + 1)

    def sizes(self, value: Value) -> list:
        return [self.size(value, axis) for axis in range(value.rank)]

    def vector(self, sizes: Sequence) -> Value:
        """Sizes as a vector: a literal where all are ints."""
        if all(isinstance(s, int) for s in sizes):
            return self.constant(np.array(list(sizes), np.int64))
        parts: list = []
        for size in sizes:
            if isinstance(size, int) and parts and isinstance(parts[-1], list):
                parts[-1].append(size)
            else:
                parts.append([size] if isinstance(size, int) else size)
        values = [self.constant(np.array(p, np.int64)) if isinstance(p, list) else p for p in parts]
        return values[0] if len(values) == 1 else self.node("Concat", values, axis=0)

    def reshape(self, value: Value, sizes: Sequence) -> Value:
        """Reshape to sizes, of which 0 means 0 and one may be -1."""
        if any(isinstance(s, int) and s == -1 for s in sizes) or all(isinstance(s, int) and s > 0 for s in sizes):
            return self.Reshape(value, self.vector(sizes))
        unknown = [i for i, s in enumerate(sizes) if not isinstance(s, int)]
        if len(unknown) == 1 and all(not isinstance(s, int) or s > 0 for s in sizes):
            return self.Reshape(value, self.vector([s if isinstance(s, int) else -1 for s in sizes]))
        return self.Reshape(value, self.vector(sizes), allowzero=1)

    def unsqueeze(self, value: Value, *axes: int) -> Value:
        return self.Unsqueeze(value, list(axes)) if axes else value

    def squeeze(self, value: Value, *axes: int) -> Value:
        return self.Squeeze(value, list(axes)) if axes else value


_SELECTED_AS = {"int8": "int32", "int16": "int32", "uint16": "int32", "uint32": "int64", "uint64": "int64"}


def _variables(rules: Schema, count: int):
    return [(rules.input(i).variable, rules.input(i)) for i in range(count)]


def _literal_dtype(value, wanted):
    if wanted is not None or hasattr(value, "dtype"):
        return wanted
    flat = np.asarray(value)
    return np.int64 if flat.dtype.kind in "iu" or flat.size == 0 else np.float32 if flat.dtype.kind == "f" else flat.dtype


def _result_dtype(formal: Formal, taken, attributes):
    if formal.variable in taken:
        return taken[formal.variable]
    if formal.only is not None:
        return formal.only
    for name in ("to", "dtype", "output_dtype"):
        if name in attributes:
            return np.dtype(attributes[name])
    return attributes["value"].dtype if isinstance(attributes.get("value"), np.ndarray) else None


def lowest(dtype: np.dtype):
    """The value that no other is below."""
    return -np.inf if dtypes.is_floating(dtype) else np.iinfo(dtype).min


def highest(dtype: np.dtype):
    """The value that no other is above."""
    return np.inf if dtypes.is_floating(dtype) else np.iinfo(dtype).max
