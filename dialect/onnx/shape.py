"""Writers of ops that move elements: reshape, transpose, expand, slice, concat, pad."""
from __future__ import annotations

import numpy as np

from .. import symbolic
from ..ops import shape as om
from .graph import Graph
from .registry import Unwritable, writes
from .sizes import add, as_value, maximum, multiply
from .written_op import WrittenOp

END, START = np.iinfo(np.int64).max, np.iinfo(np.int64).min


@writes(om.Reshape)
def write_reshape(graph: Graph, op: WrittenOp):
    return graph.reshape(op.x, op.shape)


@writes(om.Transpose)
def write_transpose(graph: Graph, op: WrittenOp):
    return graph.Transpose(op.x, perm=list(op.axes)) if op.axes else op.x


@writes(om.BroadcastTo)
def write_broadcast_to(graph: Graph, op: WrittenOp):
    return graph.Expand(op.x, graph.vector(op.shape)) if op.shape else op.x


@writes(om.Slice)
def write_slice(graph: Graph, op: WrittenOp):
    axes = [a for a in range(op.x.rank) if (op.starts[a], op.steps[a]) != (0, 1) or op.type.shape[a] != op.x.shape[a]]
    if not axes:
        return op.x
    starts, steps = [_start(graph, op, a) for a in axes], [op.steps[a] for a in axes]
    ends = [_end(graph, op, a) for a in axes]
    return graph.Slice(op.x, graph.vector(starts), graph.vector(ends), axes, steps)


def _start(graph: Graph, op: WrittenOp, axis: int):
    """Where a slice starts; going backwards over no elements it may be -1, which means the last one."""
    return maximum(graph, op.starts[axis], 0) if op.steps[axis] < 0 else op.starts[axis]


def _end(graph: Graph, op: WrittenOp, axis: int):
    """Where a slice ends; going backwards, an end before the first element is the smallest integer, since -1 means the last one."""
    start, step, size = _start(graph, op, axis), op.steps[axis], op.x.shape[axis]
    if isinstance(start, int) and step > 0 and symbolic.less_equal(size, symbolic.add(symbolic.mul(op.type.shape[axis], step), start)):
        return END
    end = add(graph, start, multiply(graph, op.shape[axis], step))
    if step > 0:
        return end
    if isinstance(end, int):
        return end if end >= 0 else START
    return graph.Where(graph.Less(end, 0), [START], end)


@writes(om.Concat)
def write_concat(graph: Graph, op: WrittenOp):
    return graph.node("Concat", op.xs, axis=op.axis)


@writes(om.PadConstant)
def write_pad_constant(graph: Graph, op: WrittenOp):
    return graph.Pad(op.x, graph.vector([*op.low, *op.high]), op.value)


@writes(om.Pad)
def write_pad(graph: Graph, op: WrittenOp):
    pads = [*op.low, *op.high]
    if op.mode == "constant":
        return graph.Pad(op.x, graph.vector(pads), op.value)
    _check_mirrored(graph, op)
    return graph.Pad(op.x, graph.vector(pads), mode=op.mode)


def _check_mirrored(graph: Graph, op: WrittenOp) -> None:
    """ONNX does not say what cropping or mirroring repeatedly does."""
    if op.mode == "wrap" and graph.opset < 19:
        raise Unwritable(f"wrapping needs opset 19, found {graph.opset}")
    for size, low, high in zip(op.x.shape, op.low, op.high):
        if any(isinstance(pad, int) and (pad < 0 or isinstance(size, int) and op.mode != "edge" and pad >= max(size, 1)) for pad in (low, high)):
            raise Unwritable(f"ONNX's Pad with mode {op.mode!r} takes pads from 0 to below the size")


def dynamic_range(graph: Graph, starts, room):
    """Starts clamped to [0, room]."""
    return graph.Max(graph.Min(graph.cast(starts, np.int64), room), as_value(graph, 0))
