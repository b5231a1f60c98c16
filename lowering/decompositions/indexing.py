"""Decompositions of searches and of caches."""
from __future__ import annotations

from ...dialect import dtypes
from ...dialect.ops.indexing import AppendRows
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


@decomposes(AppendRows)
def append_rows(ops, past, new, before, size):
    """The past, made longer, without what stands behind its valid rows, and the new ones written there."""
    (columns,), (batch, _, rows, _) = size, new.shape
    start = ops.reshape(ops.maximum(before, ops.full(before.builder.scalar(0, before.dtype), shape=())), shape=(batch, 1, 1, 1))
    places = lambda count: ops.reshape(ops.iota(size=(count,), dtype=before.dtype), shape=(count, 1))
    longer = ops.pad(past, None, low=(0,) * 4, high=(0, 0, columns - past.shape[2], 0))
    kept = ops.where(ops.less(places(columns), start), longer, past.builder.scalar(0, past.dtype))
    at = ops.broadcast_to(ops.add(places(rows), start), shape=new.shape)
    return ops.scatter(kept, at, new, axis=2)
