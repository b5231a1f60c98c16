"""Decompositions of searches."""
from __future__ import annotations

from ...dialect import dtypes
from ...dialect.ops.ordering import Searchsorted
from .registry import decomposes


@decomposes(Searchsorted)
def searchsorted(ops, sorted, v, right):
    """Counts the elements before each v; NaN belongs at the end, after all numbers."""
    spread = ops.reshape(v, shape=(*v.shape, 1))
    before = ops.less_equal(sorted, spread) if right else ops.less(sorted, spread)
    if dtypes.is_floating(v.dtype):
        nan = ops.isnan(spread)
        before = ops.where(nan, ops.full(x_true(ops, v), shape=(1,)) if right else ops.logical_not(ops.isnan(sorted)), before)
    return ops.sum(ops.cast(before, dtype=dtypes.int64), axis=(v.rank,))


def x_true(ops, v):
    """A rank-0 true."""
    return v.builder.scalar(True, dtypes.bool_)
