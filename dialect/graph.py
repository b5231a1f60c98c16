"""Building graphs of ops: a `Node` is a tensor value with its symbolic type, a `GraphBuilder` adds ops at an insertion point.

The recorder, decompositions, om-level rewrites and readers all build through this class, so promotion, shape rules and symbolic
sizes are treated alike everywhere.
"""
from __future__ import annotations

from typing import Any, Callable, Mapping, Sequence

import numpy as np
from mlir import ir
from mlir.dialects import arith

from . import dtypes
from .build import create, mlir_type
from .calling import bind_arguments, common_dtype
from .declare import dynamic_sizes, Op, REGISTRY
from .shapes import TensorType
from .symbolic import Dim, Size, Symbol


class Node:
    """A tensor value in IR: `value`, its symbolic `type`, and the builder it belongs to. Has numpy's operators.

    weak: it stands for a Python number, so that it does not decide about dtypes.
    """

    __slots__ = ("value", "type", "builder", "weak")
    __array_ufunc__ = None

    def __init__(self, value: ir.Value, type: TensorType, builder: "GraphBuilder"):
        self.value, self.type, self.builder, self.weak = value, type, builder, False

    shape = property(lambda self: self.type.shape)
    dtype = property(lambda self: self.type.dtype)
    rank = property(lambda self: self.type.rank)


def _operator(function: str, swap: bool = False) -> Callable:
    def apply(self, other):
        return self.builder.call(function, *((other, self) if swap else (self, other)))
    return apply


for _name, _function in {"add": "add", "sub": "subtract", "mul": "multiply", "truediv": "divide", "floordiv": "floor_divide", "mod": "remainder",
                         "pow": "pow", "and": "bitwise_and", "or": "bitwise_or", "xor": "bitwise_xor"}.items():
    setattr(Node, f"__{_name}__", _operator(_function))
    setattr(Node, f"__r{_name}__", _operator(_function, swap=True))
for _name, _function in {"lt": "less", "le": "less_equal", "gt": "greater", "ge": "greater_equal", "eq": "equal", "ne": "not_equal"}.items():
    setattr(Node, f"__{_name}__", _operator(_function))
Node.__neg__ = lambda self: self.builder.call("negative", self)
Node.__invert__ = lambda self: self.builder.call("bitwise_not", self)
Node.__matmul__ = lambda self, other: self.builder.call("matmul", self, other)
Node.__hash__ = object.__hash__


class OpNamespace:
    """``ops.softmax(x, axis=-1)``: every declared op as a function that adds it to the graph."""

    def __init__(self, builder: "GraphBuilder"):
        self._builder = builder

    def __getattr__(self, name: str) -> Callable:
        return lambda *args, **kwargs: self._builder.call(name, *args, **kwargs)


class GraphBuilder:
    """Adds ops at the current insertion point of a context. `locate` gives the location of the next op."""

    def __init__(self, locate: Callable[[], ir.Location | None] = lambda: None):
        self.locate = locate
        self.origins: dict[str, tuple] = {}  # axis name -> (tensor value, axis) or (index value, None) to read it from
        self.size_values: dict[ir.Value, Size] = {}  # rank-0 tensors that were made of sizes
        self.ops = OpNamespace(self)

    def node(self, value: ir.Value, type: TensorType) -> Node:
        """A node for an existing value; its plain axes become readable as sizes."""
        for axis, size in enumerate(type.shape):
            if isinstance(size, Dim):
                symbol = plain_symbol(size)
                if symbol is not None:
                    self.origins.setdefault(symbol.name, (value, axis))
        return Node(value, type, self)

    def index_origin(self, value: ir.Value, size: Size) -> None:
        """Let a plain axis that is the value of an index be read from it."""
        symbol = plain_symbol(size)
        if symbol is not None:
            self.origins.setdefault(symbol.name, (value, None))

    def call(self, name: str, *args, **attributes):
        """Add the op named `name` (of the `om` namespace unless it has a dot); arguments as in its declaration."""
        op = REGISTRY[name if "." in name else f"om.{name}"]
        operands, given = bind_arguments(op, args, attributes)
        return self.emit(op, operands, given)

    def emit(self, op: type[Op], operands: Sequence, attributes: Mapping[str, Any]):
        """Add an op: operands are nodes, arrays, Python scalars or None. Returns a node, a tuple of nodes, or None."""
        nodes = self.promote(op, operands)
        types = [None if n is None else n.type for n in nodes]
        op.check_operands(types)
        checked = op.check_attributes(attributes, types)
        results = op.result_types(types, checked)
        return self.insert(op, nodes, checked, results)

    def insert(self, op: type[Op], nodes: Sequence[Node | None], attributes: Mapping[str, Any], results: Sequence[TensorType]):
        """Add an op whose operands, attributes and result types are already checked."""
        sizes = [self.size(s) for s in dynamic_sizes(op, attributes)]
        operation = create(op, [None if n is None else n.value for n in nodes], attributes, [mlir_type(t) for t in results], sizes, self.locate())
        outputs = tuple(self.node(v, t) for v, t in zip(operation.results, results))
        return outputs if len(outputs) > 1 else outputs[0] if outputs else None

    def promote(self, op: type[Op], operands: Sequence) -> list[Node | None]:
        """Operands as nodes, those that share a dtype variable cast to their common dtype."""
        pairs = list(op.operand_specs(operands))
        common: dict[str, np.dtype] = {}
        for variable in {spec.variable for spec, _ in pairs if spec.variable}:
            group = [value for spec, value in pairs if spec.variable == variable and value is not None]
            spec = next(spec for spec, _ in pairs if spec.variable == variable)
            common[variable] = common_dtype(group, spec.dtypes)
        return [None if value is None else self._operand(value, spec, common.get(spec.variable)) for spec, value in pairs]

    def _operand(self, value, spec, dtype) -> Node:
        if dtype is None:
            dtype = common_dtype([value], spec.dtypes)
        if isinstance(value, Dim):
            return self.cast(self.from_size(value), dtype)
        if not isinstance(value, Node):
            return self.constant(np.asarray(value, dtype))
        return value if value.dtype == dtype else self.insert(REGISTRY["om.cast"], [value], {"dtype": dtype}, [value.type.with_dtype(dtype)])

    def constant(self, array: np.ndarray) -> Node:
        """A literal; for a few elements, not for weights."""
        array = np.asarray(array)
        return self.insert(REGISTRY["om.constant"], [], {"value": array}, [TensorType(tuple(array.shape), array.dtype)])

    def scalar(self, value, dtype) -> Node:
        """A rank-0 literal of the given dtype."""
        return self.constant(np.asarray(value, dtype))

    def cast(self, x: Node, dtype) -> Node:
        """x as `dtype`; x itself when it has that dtype."""
        return x if x.dtype == np.dtype(dtype) else self.call("cast", x, dtype=dtype)

    def full(self, value, shape: Sequence[Size], dtype) -> Node:
        """A tensor of one value."""
        return self.call("full", self.scalar(value, dtype), shape=tuple(shape))

    def from_size(self, size: Size) -> Node:
        """A size as a rank-0 i64 tensor."""
        if isinstance(size, int):
            return self.scalar(size, np.int64)
        operation = create(REGISTRY["om.from_size"], [], {}, [mlir_type(TensorType((), dtypes.int64))], [self.size(size)], self.locate())
        self.size_values[operation.results[0]] = size
        return self.node(operation.results[0], TensorType((), dtypes.int64))

    def to_size(self, x: Node, symbol: Dim) -> Dim:
        """A rank-0 integer tensor as a size that goes by the name of `symbol`."""
        operation = create(REGISTRY["om.to_size"], [x.value], {}, [ir.IndexType.get()], (), self.locate())
        self.origins[plain_symbol(symbol).name] = (operation.results[0], None)
        return symbol

    def size(self, size: Size) -> ir.Value:
        """The index value of a size, computed at the insertion point."""
        location = self.locate() or ir.Location.unknown()
        index = ir.IndexType.get()

        def constant(value: int) -> ir.Value:
            return arith.ConstantOp(index, value, loc=location).result

        def atom(a) -> ir.Value:
            if isinstance(a, Symbol):
                return self._symbol(a, location)
            left, right = self.size(a.left), self.size(a.right)
            if a.function in ("mod", "broadcast"):
                return create(REGISTRY[f"om.size_{a.function}"], [], {}, [index], [left, right], location).results[0]
            return {"floordiv": arith.FloorDivSIOp, "min": arith.MinSIOp, "max": arith.MaxSIOp}[a.function](left, right, loc=location).result

        return fold_size(size, constant, atom, lambda a, b: arith.AddIOp(a, b, loc=location).result, lambda a, b: arith.MulIOp(a, b, loc=location).result)

    def _symbol(self, symbol: Symbol, location) -> ir.Value:
        value, axis = self.origins[symbol.name]
        if axis is None:
            return value
        return create(REGISTRY["om.dim"], [value], {"axis": axis}, [ir.IndexType.get()], (), location).results[0]


def plain_symbol(size: Size) -> Symbol | None:
    """The axis that a size consists of, or None when it is an expression."""
    if isinstance(size, Dim) and len(size.terms) == 1:
        (monomial, factor), = size.terms.items()
        if factor == 1 and len(monomial) == 1 and isinstance(monomial[0], Symbol):
            return monomial[0]
    return None


def fold_size(size: Size, constant, atom, add, multiply):
    """Evaluate a size bottom-up with the given constructors; terms in a fixed order, so that IR is reproducible."""
    if isinstance(size, int):
        return constant(size)
    total = None
    for monomial, factor in sorted(size.terms.items(), key=lambda item: str(item[0])):
        term = None
        for a in monomial:
            value = atom(a)
            term = value if term is None else multiply(term, value)
        if term is None:
            term = constant(factor)
        elif factor != 1:
            term = multiply(term, constant(factor))
        total = term if total is None else add(total, term)
    return total
