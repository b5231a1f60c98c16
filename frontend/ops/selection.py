"""Choosing and writing elements by index tensors: functions of the indexing family on top of gather and scatter."""
from __future__ import annotations

import numpy as np

from ...dialect import dtypes
from ...errors import DTypeError, ShapeError
from ..dispatch import current_recorder
from ..tensor import Tensor
from .creation import arange
from .declared import as_tensor, declared

__all__ = ["take", "take_along_axis", "index_select", "select", "embedding", "one_hot", "scatter_add", "scatter_max", "scatter_min", "masked_fill",
           "nonzero", "argwhere", "unique", "unique_values", "compress", "bucketize", "dynamic_slice", "dynamic_update"]


def _indices(x) -> Tensor:
    """Index tensors as i32 or i64; other integers are converted, floats and bool refused."""
    x = as_tensor(x)
    if x.dtype not in dtypes.INTEGER:
        raise DTypeError(f"indices must be integers, found {x.dtype}")
    return x if x.dtype in (dtypes.int32, dtypes.int64) else x.astype(dtypes.int64)


def take(x: Tensor, indices, axis: int | None = None) -> Tensor:
    """The elements of x at `indices` along an axis, of the flat x when axis is None: numpy's take. Raises IndexRangeError."""
    x = as_tensor(x)
    if axis is None:
        return declared.gather(x.reshape((-1,)), _indices(indices), axis=0)
    return declared.gather(x, _indices(indices), axis=axis)


def index_select(x: Tensor, axis: int, indices) -> Tensor:
    """The slices of x at `indices` along an axis: torch's index_select."""
    return take(x, indices, axis)


def select(x: Tensor, axis: int, index: int) -> Tensor:
    """The slice at one index along an axis, which the result does not have."""
    return x[(slice(None),) * (axis % x.ndim) + (index,)]


def take_along_axis(x: Tensor, indices, axis: int = -1) -> Tensor:
    """result[.., i, ..] = x[.., indices[.., i, ..], ..]: numpy's take_along_axis. The other axes of both broadcast. Raises IndexRangeError."""
    x, indices = as_tensor(x), _indices(indices)
    if x.ndim != indices.ndim:
        raise ShapeError(f"take_along_axis: indices of shape {indices.shape} must have the rank of x, {x.ndim}")
    axis = axis % x.ndim
    shape = tuple(s if i == axis or isinstance(s, int) and s != 1 or not isinstance(s, int) else x.shape[i] for i, s in enumerate(indices.shape))
    source = tuple(x.shape[i] if i == axis or not (isinstance(x.shape[i], int) and x.shape[i] == 1) else shape[i] for i in range(x.ndim))
    indices = indices if shape == tuple(indices.shape) else declared.broadcast_to(indices, shape=shape)
    x = x if source == tuple(x.shape) else declared.broadcast_to(x, shape=source)
    return declared.take_along_axis(x, indices, axis=axis)


def embedding(indices, weight: Tensor) -> Tensor:
    """The rows of weight (count, width) at `indices`: (*indices.shape, width). Raises IndexRangeError."""
    return take(weight, indices, 0)


def one_hot(indices, num_classes: int, dtype=dtypes.int64) -> Tensor:
    """1 at each index along a new last axis of `num_classes`, 0 elsewhere; an index out of range gives zeros alone."""
    indices = _indices(indices)
    shape = tuple(indices.shape) + (1,)
    return (indices.reshape(shape) == arange(num_classes).astype(indices.dtype)).astype(dtype)


def scatter_add(x: Tensor, indices, updates, axis: int = 0) -> Tensor:
    """`scatter` that adds to what is there."""
    return declared.scatter(x, _indices(indices), updates, axis=axis, reduction="add")


def scatter_max(x: Tensor, indices, updates, axis: int = 0) -> Tensor:
    """`scatter` that keeps the larger."""
    return declared.scatter(x, _indices(indices), updates, axis=axis, reduction="max")


def scatter_min(x: Tensor, indices, updates, axis: int = 0) -> Tensor:
    """`scatter` that keeps the smaller."""
    return declared.scatter(x, _indices(indices), updates, axis=axis, reduction="min")


def masked_fill(x: Tensor, mask, value) -> Tensor:
    """x with `value` where mask holds."""
    return declared.where(mask, value, x)


def nonzero(x: Tensor) -> tuple[Tensor, ...]:
    """The places of the elements that are not zero, one tensor of i64 for each axis: numpy's nonzero."""
    places = declared.nonzero(as_tensor(x))
    return tuple(places[i] for i in range(as_tensor(x).ndim))


def argwhere(x: Tensor) -> Tensor:
    """The places of the elements that are not zero: (count, rank), i64."""
    return declared.transpose(declared.nonzero(as_tensor(x)), axes=(1, 0))


def unique(x: Tensor, axis: int | None = None, *, return_index: bool = False, return_inverse: bool = False, return_counts: bool = False):
    """The sorted distinct elements of x, or slices along axis; with more results on request, as numpy's unique."""
    values, indices, inverse, counts = declared.unique(as_tensor(x), axis=axis, sorted=True)
    extra = [t for wanted, t in ((return_index, indices), (return_inverse, inverse), (return_counts, counts)) if wanted]
    return (values, *extra) if extra else values


def unique_values(x: Tensor) -> Tensor:
    """The sorted distinct elements of x. Source: array API."""
    return unique(x)


def compress(condition, x: Tensor, axis: int | None = None) -> Tensor:
    """The slices of x along axis at which condition (rank 1, bool) holds; of the flat x when axis is None."""
    x = as_tensor(x)
    x, axis = (x.reshape((-1,)), 0) if axis is None else (x, axis)
    places = declared.reshape(declared.nonzero(as_tensor(condition).astype(dtypes.bool_)), shape=(-1,))
    return declared.gather(x, places, axis=axis)


def bucketize(x, boundaries, right: bool = False) -> Tensor:
    """For each element of x its place in the sorted `boundaries` (rank 1): torch's bucketize."""
    return declared.searchsorted(boundaries, x, right=right)


def dynamic_slice(x: Tensor, starts, shape) -> Tensor:
    """`shape` many elements of x from `starts` (one tensor or a sequence of scalars, one for each axis), clamped so that it fits."""
    return declared.dynamic_slice(as_tensor(x), _starts(starts), shape=shape)


def dynamic_update(x: Tensor, update, starts) -> Tensor:
    """x with `update` written from `starts`, clamped so that it fits."""
    return declared.dynamic_update(as_tensor(x), as_tensor(update), _starts(starts))


def _starts(starts) -> Tensor:
    if isinstance(starts, (tuple, list)):
        parts = [as_tensor(s).astype(dtypes.int64).reshape((1,)) for s in starts]
        return declared.concat(parts, axis=0) if current_recorder() is not None else Tensor._wrap(np.concatenate([p._array for p in parts]))
    return _indices(starts)
