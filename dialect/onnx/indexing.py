"""Writers of ops that read or write at places that index tensors name."""
from __future__ import annotations

import numpy as np

from ..ops import indexing as om
from .graph import Graph, Value
from .registry import writes
from .shape import dynamic_range
from .sizes import as_value
from .written_op import WrittenOp


@writes(om.Gather)
def write_gather(graph: Graph, op: WrittenOp):
    return graph.Gather(op.x, op.indices, axis=op.axis)


@writes(om.TakeAlongAxis)
def write_take_along_axis(graph: Graph, op: WrittenOp):
    return graph.GatherElements(op.x, op.indices, axis=op.axis)


@writes(om.Scatter)
def write_scatter(graph: Graph, op: WrittenOp):
    return graph.ScatterElements(op.x, op.indices, op.updates, axis=op.axis, reduction=op.reduction)


@writes(om.GatherNd)
def write_gather_nd(graph: Graph, op: WrittenOp):
    return graph.GatherND(op.x, op.indices, batch_dims=op.batch_dims)


@writes(om.ScatterNd)
def write_scatter_nd(graph: Graph, op: WrittenOp):
    return graph.ScatterND(op.x, op.indices, op.updates, reduction=op.reduction)


def _starts(graph: Graph, op: WrittenOp, part: Value) -> Value:
    return dynamic_range(graph, op.starts, graph.Sub(graph.vector(graph.sizes(op.x)), part))


@writes(om.DynamicSlice)
def write_dynamic_slice(graph: Graph, op: WrittenOp):
    if not op.x.rank:
        return op.x
    part = graph.vector(op.shape)
    starts = _starts(graph, op, part)
    return graph.Slice(op.x, starts, graph.Add(starts, part))


@writes(om.DynamicUpdate)
def write_dynamic_update(graph: Graph, op: WrittenOp):
    if not op.x.rank:
        return op.update
    part = graph.vector(graph.sizes(op.update))
    starts = _starts(graph, op, part)
    if op.x.shape[1:] == op.update.shape[1:]:
        return _update_rows(graph, op, starts)
    rest = graph.Sub(graph.Sub(graph.vector(graph.sizes(op.x)), part), starts)
    pads = graph.Concat(starts, rest, axis=0)
    inside = graph.Pad(graph.ConstantOfShape(part, value=np.ones(1, bool)), pads, np.array(False))
    return graph.Where(inside, graph.Pad(op.update, pads), op.x)


def _update_rows(graph: Graph, op: WrittenOp, starts: Value) -> Value:
    """Whole rows are written at their numbers."""
    first = graph.Gather(starts, graph.constant([0], np.int64))
    count = graph.size(op.update, 0)
    if isinstance(count, int):
        rows = graph.Add(first, np.arange(count))
    else:
        rows = graph.Add(first, graph.Range(graph.constant(0, np.int64), graph.Squeeze(count, [0]), graph.constant(1, np.int64)))
    return graph.ScatterND(op.x, graph.Unsqueeze(rows, [1]), op.update)


@writes(om.SliceUpdate)
def write_slice_update(graph: Graph, op: WrittenOp):
    """The update is scattered along one axis after the other: rows that it changes are taken out, changed, and written back."""
    if not op.x.rank:
        return op.update
    axes = [a for a in range(op.x.rank) if op.update.shape[a] != op.x.shape[a] or op.starts[a] != 0 or op.steps[a] != 1]
    return _update_axes(graph, op, op.x, axes) if axes else op.update


def _update_axes(graph: Graph, op: WrittenOp, x: Value, axes: list[int]) -> Value:
    axis, *rest = axes
    places = _places(graph, op, axis)
    update = _update_axes(graph, op, graph.Gather(x, places, axis=axis), rest) if rest else op.update
    order = [axis, *(a for a in range(op.x.rank) if a != axis)]
    back = [order.index(a) for a in range(op.x.rank)]
    if axis == 0:
        return graph.ScatterND(x, graph.Unsqueeze(places, [1]), update)
    scattered = graph.ScatterND(graph.Transpose(x, perm=order), graph.Unsqueeze(places, [1]), graph.Transpose(update, perm=order))
    return graph.Transpose(scattered, perm=back)


def _places(graph: Graph, op: WrittenOp, axis: int) -> Value:
    """The places along one axis, as a vector."""
    start, step, count = op.starts[axis], op.steps[axis], graph.size(op.update, axis)
    if isinstance(start, int) and isinstance(count, int):
        return graph.constant(start + step * np.arange(count), np.int64)
    if isinstance(count, int):
        return graph.Add(start, step * np.arange(count))
    zero, one = graph.constant(0, np.int64), graph.constant(1, np.int64)
    numbers = graph.Range(zero, graph.Squeeze(count, [0]), one)
    return graph.Add(graph.Mul(numbers, [step]), as_value(graph, start))
