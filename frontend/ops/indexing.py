"""Indexing as in numpy, ``x[...]``: a key is read into one entry per axis, then slices, then index tensors are applied."""
from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...dialect import dtypes, symbolic
from ...dialect.shapes import broadcast_shapes, require_equal, require_less_equal
from ...dialect.symbolic import Size
from ...errors import IndexRangeError, OnemlirError, ShapeError
from ..dispatch import current_recorder
from ..symbolic_int import size_of
from ..tensor import Tensor
from .declared import ops
from .shape import expand_dims, moveaxis, sizes

__all__: list[str] = []


@dataclass
class Entry:
    """What a key says about one axis: `kind` is int, slice, new (an axis of size 1), or tensor; `separates` tensors around it."""

    kind: str
    value: object = None


def getitem(x: Tensor, key) -> Tensor:
    """``x[key]`` for ints, slices, None, Ellipsis, bool masks, integer tensors and arrays, mixed as in numpy.

    An int or slice bound may be symbolic; an int may be a rank-0 tensor. Raises IndexRangeError for an index out of range,
    ShapeError for a mask that does not fit.
    """
    entries = read_key(x, key if isinstance(key, tuple) else (key,))
    advanced = any(e.kind == "new_tensor" or e.kind == "tensor" and e.value.ndim for e in entries)
    if advanced:
        entries = [Entry("tensor", Tensor(np.int64(e.value))) if e.kind == "int" and isinstance(e.value, int) else
                   Entry("tensor", _size_tensor(e.value)) if e.kind == "int" else e for e in entries]
    y, axes = _basic(x, [e for e in entries if e.kind != "ellipsis"])
    if not advanced:
        return _scalars(y, axes)
    return _advanced(y, axes, _adjacent(entries))


def read_key(x: Tensor, key: tuple) -> list[Entry]:
    """Entries for all axes of x, a mask as the tensors of its places."""
    entries = [entry for item in key for entry in _read_item(item)]
    used = sum(e.kind in ("int", "slice", "tensor") for e in entries)
    fill = [i for i, e in enumerate(entries) if e.kind == "ellipsis"]
    if len(fill) > 1:
        raise OnemlirError("an index has more than one Ellipsis")
    if used > x.ndim:
        raise ShapeError(f"too many indices: {used} for a tensor of rank {x.ndim}")
    place = fill[0] + 1 if fill else len(entries)
    entries[place:place] = [Entry("slice", slice(None))] * (x.ndim - used)
    return _check_masks(x, entries)


def _read_item(item) -> list[Entry]:
    if item is None:
        return [Entry("new")]
    if item is Ellipsis:
        return [Entry("ellipsis")]
    if isinstance(item, slice):
        return [Entry("slice", item)]
    if isinstance(item, (bool, np.bool_)):
        return [Entry("new"), Entry("flag", bool(item))]
    if size_of(item) is not None and not isinstance(item, np.ndarray):
        return [Entry("int", size_of(item))]
    return _read_tensor(item)


def _read_tensor(item) -> list[Entry]:
    if not isinstance(item, (Tensor, np.ndarray, list, tuple)):
        raise OnemlirError(f"an index must be an int, slice, None, Ellipsis, or a tensor of ints or bools, found {type(item).__name__}: {item!r:.60}")
    index = item if isinstance(item, Tensor) else Tensor(np.asarray(item, np.int64) if np.size(item) == 0 and not hasattr(item, "dtype") else item)
    if index.dtype == dtypes.bool_:
        if index.ndim == 0:
            return [Entry("new"), Entry("flag", bool(index))]
        places = ops.nonzero(index)
        return [Entry("mask", index)] + [Entry("tensor", getitem(places, i)) for i in range(index.ndim)]
    if index.dtype not in dtypes.INTEGER:
        raise OnemlirError(f"an index tensor must hold integers or bools, found {index.dtype}")
    return [Entry("tensor", index if index.dtype in (dtypes.int32, dtypes.int64) else index.astype(dtypes.int64))]


def _check_masks(x: Tensor, entries: list[Entry]) -> list[Entry]:
    """Entries without the marks of masks, whose sizes are compared with the axes they stand on; a rank-0 bool picks 1 or 0 of a new axis."""
    result: list[Entry] = []
    axis, shape = 0, sizes(x)
    for entry in entries:
        if entry.kind == "mask":
            mask = sizes(entry.value)
            for size, expected in zip(mask, shape[axis:]):
                require_equal(size, expected, f"a mask of shape {mask} does not fit axes {axis} and on of shape {shape}")
            continue
        if entry.kind == "flag":
            result[-1] = Entry("flag", Tensor(np.zeros(int(entry.value), np.int64)))
            continue
        axis += entry.kind in ("int", "slice", "tensor")
        result.append(entry)
    return [Entry("new_tensor", e.value) if e.kind == "flag" else e for e in result]


# Basic indexing.
def _basic(x: Tensor, entries: list[Entry]) -> tuple[Tensor, list]:
    """x with slices, ints and new axes applied; and for each axis that is left its index tensor, or None."""
    shape = sizes(x)
    starts, counts, steps, kept, axes = [], [], [], [], []
    axis = 0
    for entry in entries:
        if entry.kind in ("new", "new_tensor"):
            kept.append(1)
            axes.append(entry.value)
            continue
        start, count, step = _range(entry, shape[axis], axis)
        starts, counts, steps = starts + [start], counts + [count], steps + [step]
        axis += 1
        if entry.kind != "int":
            kept.append(count)
            axes.append(entry.value if entry.kind == "tensor" else None)
    if any((start, step) != (0, 1) or count != size for start, count, step, size in zip(starts, counts, steps, shape)):
        x = ops.slice(x, starts=tuple(starts), shape=tuple(counts), steps=tuple(steps))
    return (x if tuple(kept) == sizes(x) else ops.reshape(x, shape=tuple(kept))), axes


def _range(entry: Entry, size: Size, axis: int) -> tuple[Size, Size, int]:
    """Start, count and step of what an entry takes of an axis."""
    if entry.kind == "int":
        return _place(entry.value, size, axis), 1, 1
    if entry.kind == "slice" and entry.value != slice(None):
        return slice_range(entry.value, size)
    return 0, size, 1


def _place(index: Size, size: Size, axis: int) -> Size:
    """The non-negative place of an int index. IndexRangeError when it is out of range for certain."""
    if isinstance(index, int) and isinstance(size, int):
        if not -size <= index < size:
            raise IndexRangeError(f"index {index} is out of range for axis {axis} of size {size}")
        return index % size
    why = f"index {index} must be in range for axis {axis} of size {size}"
    if isinstance(index, int) and index < 0:
        require_less_equal(-index, size, why)
        return size + index
    require_less_equal(0, index, why)
    require_less_equal(index + 1, size, why)
    return index


def slice_range(key: slice, size: Size) -> tuple[Size, Size, int]:
    """Start, count and step of a slice with Python's clamping; bounds and size may be symbolic. Signs that are open are required to be >= 0."""
    step = 1 if key.step is None else int(key.step)
    if step == 0:
        raise OnemlirError("a slice's step must not be zero")
    start, stop = (None if bound is None else _bound(bound) for bound in (key.start, key.stop))
    if all(isinstance(v, (int, type(None))) for v in (start, stop, size)) and isinstance(size, int):
        found = range(*slice(start, stop, step).indices(size))
        return (found.start if len(found) else 0), len(found), step
    return _forward(start, stop, size, step) if step > 0 else _backward(start, stop, size, step)


def _bound(bound) -> Size:
    size = size_of(bound)
    if size is None and isinstance(bound, Tensor):
        size = bound.__index__() if not bound.is_recorded else _size_made_into(bound)
    if size is None:
        raise OnemlirError(f"a slice's bounds must be ints or sizes, found {bound!r:.60}; ops.dynamic_slice takes starts that are tensors")
    return size


def _size_made_into(bound: Tensor) -> Size | None:
    from ..size_tensors import size_in

    return size_of(size_in(bound))


def _is_negative(bound: Size) -> bool:
    low, high = symbolic.bounds(bound)
    if high is not None and high < 0:
        return True
    if high == 0 and low != 0:  # x[-n:] counts from the end, but is all of x for n = 0
        require_less_equal(bound, -1, f"the slice bound {bound} must be negative")
        return True
    if low is None or low < 0:
        require_less_equal(0, bound, f"the slice bound {bound} must not be negative")
    return False


def _forward(start, stop, size: Size, step: int) -> tuple[Size, Size, int]:
    end = size if stop is None else symbolic.maximum(size + stop, 0) if _is_negative(stop) else symbolic.minimum(stop, size)
    start = 0 if start is None else start
    if _is_negative(start):
        first, span = symbolic.maximum(size + start, 0), symbolic.minimum(end, end - size - start)
    else:
        first, span = symbolic.minimum(start, size), end - start
    span = symbolic.maximum(span, 0)
    return first, symbolic.floordiv(span + step - 1, step), step


def _backward(start, stop, size: Size, step: int) -> tuple[Size, Size, int]:
    if start is None:
        first = size - 1
    else:
        first = symbolic.maximum(size + start, -1) if _is_negative(start) else symbolic.minimum(start, size - 1)
    if stop is None:
        last = -1
    else:
        last = symbolic.maximum(size + stop, -1) if _is_negative(stop) else symbolic.minimum(stop, size - 1)
    span = symbolic.maximum(first - last, 0)
    return first, symbolic.floordiv(span - step - 1, -step), step


# Index tensors.
def _size_tensor(size: Size) -> Tensor:
    """A symbolic size as a rank-0 index."""
    return Tensor._recorded(current_recorder().from_size(size))


def _scalars(x: Tensor, axes: list) -> Tensor:
    """Axes that rank-0 tensors index, one after the other."""
    for axis in reversed([i for i, index in enumerate(axes) if index is not None]):
        x = ops.gather(x, axes[axis], axis=axis)
    return x


def _adjacent(entries: list[Entry]) -> bool:
    """Whether the index tensors stand side by side in the key: then their axes take the place of the first one, else they come first."""
    places = [i for i, e in enumerate(entries) if e.kind in ("tensor", "new_tensor")]
    return places[-1] - places[0] + 1 == len(places)


def _advanced(x: Tensor, axes: list, adjacent: bool) -> Tensor:
    indexed = [i for i, index in enumerate(axes) if index is not None]
    if len(indexed) == 1:
        return ops.gather(x, axes[indexed[0]], axis=indexed[0])
    indices = [axes[i] for i in indexed]
    shape = broadcast_shapes(*map(sizes, indices), what="shapes of index tensors")
    dtype = dtypes.promote(*(index.dtype for index in indices))
    columns = [expand_dims(index.astype(dtype) if sizes(index) == shape else ops.broadcast_to(index.astype(dtype), shape=shape), -1) for index in indices]
    front = moveaxis(x, indexed, range(len(indexed)))
    y = ops.gather_nd(front, ops.concat(columns, axis=-1))
    if not adjacent:
        return y
    return moveaxis(y, range(len(shape)), range(indexed[0], indexed[0] + len(shape)))
