"""Sorting, selecting, finding: TopK, Unique, NonMaxSuppression."""
from __future__ import annotations

import numpy as np

from ...dialect import dtypes
from ..ops.declared import declared as om
from ..ops.shape import slice_along
from ..regions import build_for
from ..symbolic_int import size_of
from ..tensor import Tensor
from .registry import reads
from .shape import sizes_of


@reads("TopK", since=10)
def read_topk(node, ops):
    k, = node.sizes(1)
    return ops.topk(node.tensor(0), k=(k,), axis=node.int("axis", -1), largest=bool(node.int("largest", 1)), sorted=bool(node.int("sorted", 1)))


@reads("TopK")
def read_topk_attribute(node, ops):
    return ops.topk(node.tensor(0), k=(node.int("k"),), axis=node.int("axis", -1))


@reads("Unique")
def read_unique(node, ops):
    return ops.unique(node.tensor(0), axis=node.int("axis"), sorted=bool(node.int("sorted", 1)))


@reads("NonMaxSuppression")
def read_non_max_suppression(node, ops):
    """Rows (batch, class, box): of each class the boxes by falling score, without those that overlap an earlier one too much.

    boxes (batch, n, 4), scores (batch, classes, n). One step for each rank of the scores serves all batches and classes at once.
    """
    boxes, scores = node.tensor(0), node.tensor(1)
    one = lambda i, dtype: ops.reshape(node.tensor(i), shape=()).astype(dtype) if node.has(i) else Tensor._wrap(np.zeros((), dtype))
    most, overlap, least = one(2, dtypes.int64), one(3, dtypes.float32), one(4, dtypes.float32) if node.has(4) else None
    ratios = _overlaps(boxes, bool(node.int("center_point_box", 0)))
    order = ops.argsort(scores, axis=-1, descending=True)
    ranked = ops.take_along_axis(scores, order, axis=-1)
    batch, classes, n = sizes_of(scores)
    eligible = ranked > least if least is not None else ops.equal(order, order)

    def step(index, carried):
        suppressed, count = carried
        place = slice_along(order, 2, size_of(index), 1)
        free = ops.logical_not(ops.take_along_axis(suppressed, place, axis=2))
        taken = ops.logical_and(ops.logical_and(free, slice_along(eligible, 2, size_of(index), 1)), count < most)
        rows = ops.gather_nd(ratios, place, batch_dims=1)
        suppressed = ops.logical_or(suppressed, ops.logical_and(taken, rows > overlap))
        return [suppressed, count + taken.astype(dtypes.int64)], [taken]

    false, zero = Tensor._wrap(np.zeros((), bool)), Tensor._wrap(np.zeros((), np.int64))
    start = [ops.full(false, shape=(batch, classes, n)), ops.full(zero, shape=(batch, classes, 1))]
    _, (taken,) = build_for(node.recorder, n, start, step)
    taken = ops.transpose(ops.reshape(taken, shape=(n, batch, classes)), axes=(1, 2, 0))
    places = ops.transpose(ops.nonzero(taken), axes=(1, 0))
    found = ops.gather_nd(order, places)
    count = sizes_of(places)[0]
    pairs = ops.slice(places, starts=(0, 0), shape=(count, 2), steps=(1, 1))
    return ops.concat([pairs, ops.reshape(found, shape=(count, 1))], axis=1)


def _overlaps(boxes: Tensor, centered: bool) -> Tensor:
    """Intersection over union of each two boxes: (batch, n, n)."""
    a, b, c, d = (slice_along(boxes, 2, i, 1) for i in range(4))
    if centered:  # x, y, width, height
        low_x, high_x, low_y, high_y = a - c / 2.0, a + c / 2.0, b - d / 2.0, b + d / 2.0
    else:  # two corners (y, x)
        low_y, high_y, low_x, high_x = om.minimum(a, c), om.maximum(a, c), om.minimum(b, d), om.maximum(b, d)
    area = (high_x - low_x) * (high_y - low_y)
    across = lambda t: om.transpose(t, axes=(0, 2, 1))
    width = om.minimum(high_x, across(high_x)) - om.maximum(low_x, across(low_x))
    height = om.minimum(high_y, across(high_y)) - om.maximum(low_y, across(low_y))
    shared = om.maximum(width, 0.0) * om.maximum(height, 0.0)
    total = area + across(area) - shared
    return om.where(total > 0, shared / total, 0.0)
