"""Reading and writing at places that index tensors name."""
from __future__ import annotations

import numpy as np

from ...dialect import dtypes, symbolic
from ...dialect.shapes import normalize_axis
from ..ops.declared import declared as om
from ..tensor import Tensor
from .registry import reads
from .shape import sizes_of


def _indices(x: Tensor) -> Tensor:
    return x if x.dtype in (dtypes.int32, dtypes.int64) else x.astype(dtypes.int64)


@reads("Gather")
def read_gather(node, ops):
    """A known scalar index is a slice: a view instead of a copy."""
    axis, index = normalize_axis(node.int("axis", 0), node.rank(0)), node.value(1).array
    size = node.shape(0)[axis] if node.rank(0) else None
    if index is not None and index.ndim == 0 and isinstance(size, int) and -size <= index < size:
        return _slice_at(node.tensor(0), axis, int(index) % size, ops)
    return ops.gather(node.tensor(0), _indices(node.tensor(1)), axis=axis)


def _slice_at(x: Tensor, axis: int, index: int, ops) -> Tensor:
    shape = sizes_of(x)
    starts = tuple(index if i == axis else 0 for i in range(x.ndim))
    part = ops.slice(x, starts=starts, shape=(*shape[:axis], 1, *shape[axis + 1:]), steps=(1,) * x.ndim)
    return ops.reshape(part, shape=(*shape[:axis], *shape[axis + 1:]))


@reads("GatherElements")
def read_gather_elements(node, ops):
    return ops.take_along_axis(node.tensor(0), _indices(node.tensor(1)), axis=node.int("axis", 0))


@reads("GatherND")
def read_gather_nd(node, ops):
    return ops.gather_nd(node.tensor(0), _indices(node.tensor(1)), batch_dims=node.int("batch_dims", 0))


@reads("ScatterElements", "Scatter")
def read_scatter(node, ops):
    return ops.scatter(node.tensor(0), _indices(node.tensor(1)), node.tensor(2), axis=node.int("axis", 0), reduction=node.text("reduction", "none"))


@reads("ScatterND")
def read_scatter_nd(node, ops):
    return ops.scatter_nd(node.tensor(0), _indices(node.tensor(1)), node.tensor(2), reduction=node.text("reduction", "none"))


@reads("OneHot")
def read_one_hot(node, ops):
    """on at the places that indices name along a new axis, off elsewhere; indices out of range give off throughout."""
    depth, = node.sizes(1)
    axis = node.int("axis", -1)
    indices = node.tensor(0).astype(dtypes.int64)
    axis = axis + indices.ndim + 1 if axis < 0 else axis
    bound = _as_tensor(depth)
    indices = ops.where(indices < 0, indices + bound, indices)
    shape = sizes_of(indices)
    indices = ops.reshape(indices, shape=(*shape[:axis], 1, *shape[axis:]))
    places = ops.reshape(ops.iota(size=(depth,)), shape=(depth, *[1] * (len(shape) - axis)))
    off, on = (ops.reshape(ops.slice(node.tensor(2), starts=(i,), shape=(1,), steps=(1,)), shape=()) for i in range(2))
    return ops.where(indices == places, on, off)


def _as_tensor(size) -> Tensor:
    from .values import _scalar

    return _scalar(size)


@reads("Compress")
def read_compress(node, ops):
    x, condition, axis = node.tensor(0), node.tensor(1), node.int("axis")
    if axis is None:
        x, axis = ops.reshape(x, shape=(symbolic.product(node.shape(0)),)), 0
    axis = normalize_axis(axis, x.ndim)
    places = ops.nonzero(condition)
    return ops.gather(x, ops.reshape(places, shape=(sizes_of(places)[1],)), axis=axis)


@reads("NonZero")
def read_nonzero(node, ops):
    x = node.tensor(0)
    if x.ndim:
        return ops.nonzero(x)
    found = ops.nonzero(ops.reshape(x, shape=(1,)))
    return ops.slice(found, starts=(0, 0), shape=(0, sizes_of(found)[1]), steps=(1, 1))


@reads("TensorScatter")
def read_tensor_scatter(node, ops):
    """A cache with `update` written along the sequence axis from one place of each sample on."""
    cache, update = node.tensor(0), node.tensor(1)
    axis = normalize_axis(node.int("axis", -2), cache.ndim)
    shape, part = sizes_of(cache), sizes_of(update)
    start = ops.reshape(node.tensor(2).astype(dtypes.int64), shape=(shape[0], *[1] * (cache.ndim - 1))) if node.has(2) else 0
    places = ops.reshape(ops.iota(size=(part[axis],)), shape=(part[axis], *[1] * (cache.ndim - 1 - axis))) + start
    if node.text("mode", "linear") == "circular":
        places = ops.remainder(places, _as_tensor(shape[axis]))
    return ops.scatter(cache, ops.broadcast_to(places, shape=part), update, axis=axis)


__all__ = ["om", "np"]
