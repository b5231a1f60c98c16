"""Writers of reductions and running sums. What ReduceMax, ArgMax and their like do with NaN the standard leaves open."""
from __future__ import annotations

import math

import numpy as np

from ..ops import reduction as om
from .graph import Graph, Value
from .registry import writes
from .sizes import as_value, product
from .written_op import WrittenOp


def reduce(graph: Graph, op_type: str, x: Value, axes, keepdims: bool) -> Value:
    """A reduction over axes, of which there may be none."""
    return graph.node(op_type, [x, list(axes)], keepdims=keepdims) if axes else graph.Identity(x)


def _reduction(op_type: str):
    return lambda graph, op: reduce(graph, op_type, graph.cast(op.x, op.dtype), op.axis, op.keepdims)


for _op, _op_type in ((om.Sum, "ReduceSum"), (om.Prod, "ReduceProd"), (om.Mean, "ReduceMean"), (om.Max, "ReduceMax"), (om.Min, "ReduceMin"),
                      (om.Logsumexp, "ReduceLogSumExp")):
    writes(_op)(_reduction(_op_type))


def _found(graph: Graph, x: Value, op: WrittenOp) -> Value:
    """Whether any element is true: a count, since onnxruntime refuses the largest element of an empty axis."""
    return graph.Greater(reduce(graph, "ReduceSum", graph.cast(x, np.int64), op.axis, op.keepdims), 0)


@writes(om.Any)
def write_any(graph: Graph, op: WrittenOp):
    return _found(graph, op.x, op)


@writes(om.All)
def write_all(graph: Graph, op: WrittenOp):
    return graph.Not(_found(graph, graph.Not(op.x), op))


@writes(om.Argmax)
def write_argmax(graph: Graph, op: WrittenOp):
    return graph.ArgMax(op.x, axis=op.axis, keepdims=op.keepdims)


@writes(om.Argmin)
def write_argmin(graph: Graph, op: WrittenOp):
    return graph.ArgMin(op.x, axis=op.axis, keepdims=op.keepdims)


def variance(graph: Graph, op: WrittenOp) -> Value:
    centered = graph.Sub(op.x, reduce(graph, "ReduceMean", op.x, op.axis, True))
    squares = graph.Mul(centered, centered)
    if op.correction == 0:
        return reduce(graph, "ReduceMean", squares, op.axis, op.keepdims)
    count = product(graph, [graph.size(op.x, axis) for axis in op.axis])
    if isinstance(count, int):
        rest = graph.constant(max(count - op.correction, 0), op.dtype)
    else:
        rest = graph.Max(graph.Sub(graph.Squeeze(graph.cast(as_value(graph, count), op.dtype), [0]), op.correction), 0.0)
    return graph.Div(reduce(graph, "ReduceSum", squares, op.axis, op.keepdims), rest)


@writes(om.Var)
def write_var(graph: Graph, op: WrittenOp):
    return variance(graph, op)


@writes(om.Std)
def write_std(graph: Graph, op: WrittenOp):
    return graph.Sqrt(variance(graph, op))


@writes(om.Norm)
def write_norm(graph: Graph, op: WrittenOp):
    if op.ord in (1, 2):
        return reduce(graph, "ReduceL1" if op.ord == 1 else "ReduceL2", op.x, op.axis, op.keepdims) if op.axis else graph.Abs(op.x)
    size = graph.Abs(op.x)
    if math.isinf(op.ord):
        return reduce(graph, "ReduceMax" if op.ord > 0 else "ReduceMin", size, op.axis, op.keepdims)
    if op.ord == 0:
        return reduce(graph, "ReduceSum", graph.cast(graph.Not(graph.Equal(op.x, 0)), op.dtype), op.axis, op.keepdims)
    total = reduce(graph, "ReduceSum", graph.Pow(size, np.array(op.ord, op.dtype)), op.axis, op.keepdims)
    return graph.Pow(total, np.array(1 / op.ord, op.dtype))


@writes(om.Cumsum)
def write_cumsum(graph: Graph, op: WrittenOp):
    axis = graph.constant(op.axis, np.int64)
    return graph.CumSum(graph.cast(op.x, op.dtype), axis, exclusive=op.exclusive, reverse=op.reverse)


@writes(om.Cumprod)
def write_cumprod(graph: Graph, op: WrittenOp):
    """A Scan that carries the product."""
    sizes = graph.sizes(op.x)
    one = np.ones(1, op.dtype)
    rest = sizes[:op.axis] + sizes[op.axis + 1:]
    first = graph.ConstantOfShape(graph.vector(rest), value=one) if rest else graph.constant(one[0])
    body = graph.body()
    before, element = (Value(body, hint, op.dtype) for hint in ("product", "element"))
    body.inputs = [before, element]
    after = body.Mul(before, element)
    body.outputs.append(after)
    body.outputs.append(body.own(before if op.exclusive else after))
    direction = int(op.reverse)
    _, result = graph.node("Scan", [first, graph.cast(op.x, op.dtype)], outputs=2, body=body, num_scan_inputs=1, scan_input_axes=[op.axis],
                           scan_output_axes=[op.axis], scan_input_directions=[direction], scan_output_directions=[direction])
    return result
