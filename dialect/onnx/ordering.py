"""Writers of ops that order, select and find elements."""
from __future__ import annotations

import numpy as np

from ..ops import ordering as om
from .graph import Graph
from .registry import writes
from .sizes import as_value
from .written_op import WrittenOp


def _sorted(graph: Graph, op: WrittenOp) -> tuple:
    """Values and places; TopK of a whole axis is a stable sort."""
    size = as_value(graph, graph.size(op.x, op.axis))
    return graph.TopK(op.x, size, outputs=2, axis=op.axis, largest=op.descending, sorted=1)


@writes(om.Sort)
def write_sort(graph: Graph, op: WrittenOp):
    return _sorted(graph, op)[0]


@writes(om.Argsort)
def write_argsort(graph: Graph, op: WrittenOp):
    return _sorted(graph, op)[1]


@writes(om.Topk)
def write_topk(graph: Graph, op: WrittenOp):
    return graph.TopK(op.x, as_value(graph, op.k[0]), outputs=2, axis=op.axis, largest=op.largest, sorted=op.sorted)


@writes(om.Nonzero)
def write_nonzero(graph: Graph, op: WrittenOp):
    return graph.NonZero(op.x)


@writes(om.Unique)
def write_unique(graph: Graph, op: WrittenOp):
    return graph.Unique(op.x, outputs=4, axis=op.axis, sorted=op.fields["sorted"])


@writes(om.Searchsorted)
def write_searchsorted(graph: Graph, op: WrittenOp):
    """How many elements are below each v."""
    below = (graph.LessOrEqual if op.right else graph.Less)(op.fields["sorted"], graph.Unsqueeze(op.v, [-1]))
    return graph.ReduceSum(graph.Cast(below, to=np.dtype(np.int64)), [-1], keepdims=0)
