"""Sizes: `index` values of the dialect are ints where they are known, else i64 tensors of shape (1,)."""
from __future__ import annotations

import numpy as np
from mlir import ir

from .. import symbolic
from ..ops import constant as om
from .export import Exporter, writes_upstream
from .graph import Graph, Value
from .registry import writes


def as_value(graph: Graph, size) -> Value:
    """A size as a tensor of shape (1,)."""
    return graph.constant([size], np.int64) if isinstance(size, int) else size


def add(graph: Graph, left, right):
    if isinstance(left, int) and isinstance(right, int):
        return left + right
    if isinstance(left, int) and left == 0:
        return right
    return left if isinstance(right, int) and right == 0 else graph.Add(as_value(graph, left), as_value(graph, right))


def subtract(graph: Graph, left, right):
    if isinstance(left, int) and isinstance(right, int):
        return left - right
    return left if isinstance(right, int) and right == 0 else graph.Sub(as_value(graph, left), as_value(graph, right))


def multiply(graph: Graph, left, right):
    if isinstance(left, int) and isinstance(right, int):
        return left * right
    if isinstance(left, int) and left == 1:
        return right
    return left if isinstance(right, int) and right == 1 else graph.Mul(as_value(graph, left), as_value(graph, right))


def minimum(graph: Graph, left, right):
    both = isinstance(left, int) and isinstance(right, int)
    return min(left, right) if both else graph.Min(as_value(graph, left), as_value(graph, right))


def maximum(graph: Graph, left, right):
    both = isinstance(left, int) and isinstance(right, int)
    return max(left, right) if both else graph.Max(as_value(graph, left), as_value(graph, right))


def product(graph: Graph, sizes):
    result = 1
    for size in sizes:
        result = multiply(graph, result, size)
    return result


def floor_quotient(graph: Graph, left, right):
    """floor(left / right); ONNX truncates, so the general form is written out."""
    from .integers import floor_divide

    if isinstance(left, int) and isinstance(right, int):
        return symbolic.FUNCTIONS["floordiv"](left, right)
    return floor_divide(graph, as_value(graph, left), as_value(graph, right))


def remainder(graph: Graph, left, right):
    """left % right with the sign of the divisor; 0 for a divisor of 0."""
    from .integers import safe_divisor

    if isinstance(left, int) and isinstance(right, int):
        return symbolic.FUNCTIONS["mod"](left, right)
    return graph.Mod(as_value(graph, left), safe_divisor(graph, as_value(graph, right)))


def broadcast(graph: Graph, left, right):
    """`right` where `left` is 1, else `left`."""
    if isinstance(left, int):
        return right if left == 1 else left
    return graph.Where(graph.Equal(left, 1), as_value(graph, right), left)


_ARITHMETIC = {"arith.addi": add, "arith.subi": subtract, "arith.muli": multiply, "arith.minsi": minimum, "arith.maxsi": maximum,
               "arith.floordivsi": floor_quotient, "arith.divsi": floor_quotient, "om.size_mod": remainder, "om.size_broadcast": broadcast}


@writes_upstream(*_ARITHMETIC)
def write_arithmetic(exporter: Exporter, graph: Graph, operation: ir.Operation) -> list:
    known = exporter.analysis.sizes.get(operation.results[0])
    if isinstance(known, int):
        return [known]
    left, right = (exporter.values[v] for v in operation.operands)
    if operation.name in ("arith.floordivsi", "arith.divsi") and isinstance(right, int) and right > 0:
        low, _ = symbolic.bounds(exporter.analysis.size(operation.operands[0]))
        if low is not None and low >= 0:
            return [graph.Div(as_value(graph, left), [right])]
    return [_ARITHMETIC[operation.name](graph, left, right)]


@writes_upstream("arith.constant")
def write_index_constant(exporter: Exporter, graph: Graph, operation: ir.Operation) -> list:
    attribute = operation.attributes["value"]
    if isinstance(operation.results[0].type, ir.IndexType):
        return [ir.IntegerAttr(attribute).value]
    return [graph.constant(bool(ir.IntegerAttr(attribute).value))]


@writes_upstream("om.dim")
def write_dim(exporter: Exporter, graph: Graph, operation: ir.Operation) -> list:
    return [graph.size(exporter.values[operation.operands[0]], ir.IntegerAttr(operation.attributes["axis"]).value)]


@writes_upstream("om.from_size")
def write_from_size(exporter: Exporter, graph: Graph, operation: ir.Operation) -> list:
    size = exporter.values[operation.operands[0]]
    return [graph.constant(size, np.int64) if isinstance(size, int) else graph.Squeeze(size, [0])]


@writes(om.ToSize)
def write_to_size(graph: Graph, op):
    return graph.Max(graph.Reshape(graph.cast(op.x, np.int64), [1]), [0])
