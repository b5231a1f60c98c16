"""Item assignment as a function: ``x[key] = value`` gives a new tensor."""
from __future__ import annotations

import numpy as np

from ...dialect import dtypes, symbolic
from ...errors import OnemlirError
from ..symbolic_int import size_of
from ..tensor import Tensor
from .declared import as_tensor, ops
from .indexing import _range, getitem, read_key
from .shape import expand_dims, sizes

__all__: list[str] = []


def assigned(x: Tensor, key, value) -> Tensor:
    """x with x[key] replaced by value, broadcast and cast as numpy does. Errors as for indexing; ShapeError for a value that does not fit."""
    value = as_tensor(value)
    value = value if value.dtype == x.dtype else value.astype(x.dtype)
    key = key if isinstance(key, tuple) else (key,)
    if len(key) == 1 and _is_mask(key[0]) and value.ndim == 0:
        return _masked(x, as_tensor(key[0]), value)
    if all(_is_basic(item) for item in key):
        return _slice_assigned(x, key, value)
    return _scattered(x, key, value)


def _is_mask(item) -> bool:
    return isinstance(item, (Tensor, np.ndarray)) and item.dtype == dtypes.bool_ and item.ndim > 0


def _is_basic(item) -> bool:
    return item is None or item is Ellipsis or isinstance(item, slice) or (size_of(item) is not None and not isinstance(item, np.ndarray))


def _masked(x: Tensor, mask: Tensor, value: Tensor) -> Tensor:
    """One value at all places of a mask, which covers the leading axes."""
    for _ in range(x.ndim - mask.ndim):
        mask = expand_dims(mask, -1)
    return ops.where(mask, value, x)


def _slice_assigned(x: Tensor, key: tuple, value: Tensor) -> Tensor:
    from ..mutation import slice_written

    entries = [e for e in read_key(x, key) if e.kind not in ("ellipsis", "new", "new_tensor")]
    starts, counts, steps = zip(*(_range(e, size, axis) for axis, (e, size) in enumerate(zip(entries, sizes(x))))) if entries else ((), (), ())
    region = sizes(getitem(x, key))
    return slice_written(x, ops.reshape(_fitted(value, region), shape=counts), starts, counts, steps)


def _fitted(value: Tensor, shape: tuple) -> Tensor:
    """The value broadcast to the shape; leading axes of size 1 too many are dropped, as numpy does."""
    extra = value.ndim - len(shape)
    if extra > 0:
        if any(size != 1 for size in sizes(value)[:extra]):
            raise OnemlirError(f"cannot assign a value of shape {sizes(value)} to elements of shape {shape}")
        value = ops.reshape(value, shape=sizes(value)[extra:])
    return value if sizes(value) == shape else ops.broadcast_to(value, shape=shape)


def _scattered(x: Tensor, key: tuple, value: Tensor) -> Tensor:
    """Index tensors: the numbers of the elements are indexed by the key, and the flat tensor is written at them."""
    count = symbolic.product(sizes(x))
    numbers = getitem(ops.reshape(ops.iota(size=(count,)), shape=sizes(x)), key)
    flat = ops.reshape(_fitted(value, sizes(numbers)), shape=(symbolic.product(sizes(numbers)),))
    places = ops.reshape(numbers, shape=(symbolic.product(sizes(numbers)),))
    return ops.reshape(ops.scatter(ops.reshape(x, shape=(count,)), places, flat, axis=0, reduction="none"), shape=sizes(x))
