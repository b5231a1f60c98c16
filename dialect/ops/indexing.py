"""Ops that read or write at places that index tensors name. Negative indices count from the end, once; others are out of range."""
from __future__ import annotations

import numpy as np

from ...errors import IndexRangeError, ShapeError
from ..attributes import Axis, Choice, Ints, Offsets, Shape
from ..declare import AnyDType, Attr, Index, Op, Operand, Result
from ..shapes import require_equal, require_less_equal, show, TensorType

Reduction = Choice("none", "add", "mul", "max", "min")


def wrapped(opname: str, indices: np.ndarray, size: int, axis: int) -> np.ndarray:
    """Indices with negative ones counted from the end. IndexRangeError names the first one out of range."""
    wrong = (indices < -size) | (indices >= size)
    if wrong.any():
        place = tuple(int(p) for p in np.argwhere(wrong)[0]) if indices.ndim else ()
        raise IndexRangeError(f"{opname}: index {int(indices[place])} at position {place} is out of range for axis {axis} of size {size}")
    return np.where(indices < 0, indices + size, indices)


def combine(target: np.ndarray, places, updates, reduction: str) -> np.ndarray:
    """target with `updates` written at, or combined into, `places`; of several writes to one place the last wins."""
    if reduction == "none":
        target[places] = updates
    else:
        with np.errstate(all="ignore"):
            {"add": np.add, "mul": np.multiply, "max": np.maximum, "min": np.minimum}[reduction].at(target, places, updates)
    return target


class Gather(Op):
    """The slices of x at `indices` along one axis: numpy's take with an axis, ONNX's Gather.

    indices: any shape. Result: x.shape[:axis] + indices.shape + x.shape[axis + 1:]. Raises IndexRangeError.
    """

    x: Operand[AnyDType]
    indices: Operand[Index]
    axis: Attr[Axis] = 0
    result: Result

    def infer(x, indices, axis):
        return x.with_shape(x.shape[:axis] + indices.shape + x.shape[axis + 1:])

    def reference(x, indices, axis):
        return np.take(x, wrapped("gather", indices, x.shape[axis], axis), axis=axis)


def _require_within(opname: str, indices: TensorType, x: TensorType, axis: int) -> None:
    if indices.rank != x.rank:
        raise ShapeError(f"{opname}: indices {show(indices.shape)} must have the rank of x {show(x.shape)}")
    for i, (a, b) in enumerate(zip(indices.shape, x.shape)):
        if i != axis:
            require_less_equal(a, b, f"{opname}: axis {i} of indices {show(indices.shape)} is {a}, more than the {b} of x {show(x.shape)}")


def _element_places(opname: str, x: np.ndarray, indices: np.ndarray, axis: int) -> tuple:
    places = list(np.indices(indices.shape, sparse=True))
    places[axis] = wrapped(opname, indices, x.shape[axis], axis)
    return tuple(places)


class TakeAlongAxis(Op, public=False):
    """result[.., i, ..] = x[.., indices[.., i, ..], ..]: one index for each element of the result (ONNX GatherElements, torch.gather).

    indices: the rank of x, off `axis` at most its sizes. Result: the shape of indices. Raises IndexRangeError.
    """

    x: Operand[AnyDType]
    indices: Operand[Index]
    axis: Attr[Axis] = -1
    result: Result

    def infer(x, indices, axis):
        _require_within("take_along_axis", indices, x, axis)
        return x.with_shape(indices.shape)

    def reference(x, indices, axis):
        return x[_element_places("take_along_axis", x, indices, axis)]


class Scatter(Op):
    """x with updates[.., i, ..] written at [.., indices[.., i, ..], ..] along one axis (ONNX ScatterElements, torch.scatter).

    updates: the shape of indices. reduction: "none" overwrites, of several updates to one place the last in row-major order wins;
    "add", "mul", "max" and "min" combine with what is there. Result: the type of x. Raises IndexRangeError.
    """

    x: Operand[AnyDType, "T"]
    indices: Operand[Index]
    updates: Operand[AnyDType, "T"]
    axis: Attr[Axis] = 0
    reduction: Attr[Reduction] = "none"
    result: Result["x"]

    def verify(x, indices, updates, axis, reduction):
        _require_within("scatter", indices, x, axis)
        _require_shape("scatter: updates must have the shape of indices", updates.shape, indices.shape)

    def reference(x, indices, updates, axis, reduction):
        return combine(x.copy(), _element_places("scatter", x, indices, axis), updates, reduction)


def _require_shape(what: str, found, expected) -> None:
    why = f"{what}, found {show(found)}, expected {show(expected)}"
    if len(found) != len(expected):
        raise ShapeError(why)
    for a, b in zip(found, expected):
        require_equal(a, b, why)


def _tuple_length(opname: str, x: TensorType, indices: TensorType, batch_dims: int) -> int:
    """How many axes of x each tuple of indices (the last axis of `indices`) names."""
    if indices.rank == 0 or not isinstance(indices.shape[-1], int):
        raise ShapeError(f"{opname}: the last axis of indices holds tuples of a fixed length, found shape {show(indices.shape)}")
    if not 0 <= batch_dims < indices.rank or batch_dims + indices.shape[-1] > x.rank:
        raise ShapeError(f"{opname}: tuples of {indices.shape[-1]} indices after {batch_dims} batch axes do not fit x {show(x.shape)} "
                         f"and indices {show(indices.shape)}")
    for i in range(batch_dims):
        require_equal(x.shape[i], indices.shape[i], f"{opname}: batch axis {i} is {x.shape[i]} in x {show(x.shape)} but "
                                                    f"{indices.shape[i]} in indices {show(indices.shape)}")
    return indices.shape[-1]


def _tuple_places(opname: str, x: np.ndarray, indices: np.ndarray, batch_dims: int) -> tuple:
    batch = [grid.reshape(grid.shape + (1,) * (indices.ndim - 1 - batch_dims)) for grid in np.indices(indices.shape[:batch_dims], sparse=True)]
    named = [wrapped(opname, indices[..., i], x.shape[batch_dims + i], batch_dims + i) for i in range(indices.shape[-1])]
    return tuple(batch + named)


class GatherNd(Op):
    """The slices of x that tuples of indices name: result[b, p] = x[b, *indices[b, p]] with `batch_dims` leading axes b in common.

    indices: (*batch, *places, length). Result: (*batch, *places) + x.shape[batch_dims + length:]. Source: ONNX GatherND. Raises IndexRangeError.
    """

    x: Operand[AnyDType]
    indices: Operand[Index]
    batch_dims: Attr[int] = 0
    result: Result

    def infer(x, indices, batch_dims):
        length = _tuple_length("gather_nd", x, indices, batch_dims)
        return x.with_shape(indices.shape[:-1] + x.shape[batch_dims + length:])

    def reference(x, indices, batch_dims):
        places = _tuple_places("gather_nd", x, indices, batch_dims)
        return x[places] if places else np.broadcast_to(x, indices.shape[:-1] + x.shape)


class ScatterNd(Op):
    """x with the slices that tuples of indices name replaced by, or combined with, updates: x[*indices[p]] = updates[p].

    indices: (*places, length). updates: (*places) + x.shape[length:]. reduction: as for `Scatter`. Result: the type of x.
    Source: ONNX ScatterND. Raises IndexRangeError.
    """

    x: Operand[AnyDType, "T"]
    indices: Operand[Index]
    updates: Operand[AnyDType, "T"]
    reduction: Attr[Reduction] = "none"
    result: Result["x"]

    def verify(x, indices, updates, reduction):
        length = _tuple_length("scatter_nd", x, indices, 0)
        _require_shape("scatter_nd: updates do not fit indices and x", updates.shape, indices.shape[:-1] + x.shape[length:])

    def reference(x, indices, updates, reduction):
        places = _tuple_places("scatter_nd", x, indices, 0)
        if places:
            return combine(x.copy(), places, updates, reduction)
        return combine(np.array(x)[None], np.zeros(indices.shape[:-1], np.int64), updates, reduction)[0]


class DynamicSlice(Op, public=False):
    """`shape` many elements of x from `starts`, a tensor with one start for each axis; starts are clamped so that the slice fits.

    starts: (rank,). Result: shape, at most that of x. Source: XLA DynamicSlice.
    """

    x: Operand[AnyDType]
    starts: Operand[Index]
    shape: Attr[Shape]
    result: Result

    def infer(x, starts, shape):
        _require_fits("dynamic_slice", x, starts, shape)
        return x.with_shape(shape)

    def reference(x, starts, shape):
        return x[_dynamic_places(x, starts, shape)].copy()


class DynamicUpdate(Op, public=False):
    """x with `update` written from `starts`, a tensor with one start for each axis; starts are clamped so that the update fits.

    starts: (rank,). update: at most the shape of x. Result: the type of x. Source: XLA DynamicUpdateSlice.
    """

    x: Operand[AnyDType, "T"]
    update: Operand[AnyDType, "T"]
    starts: Operand[Index]
    result: Result["x"]

    def verify(x, update, starts):
        _require_fits("dynamic_update", x, starts, update.shape)

    def reference(x, update, starts):
        result = x.copy()
        result[_dynamic_places(x, starts, update.shape)] = update
        return result


def _require_fits(opname: str, x: TensorType, starts: TensorType, shape) -> None:
    if starts.shape != (x.rank,) or len(shape) != x.rank:
        raise ShapeError(f"{opname}: x {show(x.shape)} needs {x.rank} starts and sizes, found starts {show(starts.shape)} and sizes {show(shape)}")
    for axis, (part, size) in enumerate(zip(shape, x.shape)):
        require_less_equal(part, size, f"{opname}: axis {axis}: {part} elements do not fit into the {size} of x {show(x.shape)}")


class SliceUpdate(Op, public=False):
    """x with `update` written to every `steps`-th place (positive) from `starts` along each axis: numpy's ``x[a:b:s] = update``.

    starts: sizes, which may be symbolic; the places must exist. update: the rank of x. Result: the type of x.
    """

    x: Operand[AnyDType, "T"]
    update: Operand[AnyDType, "T"]
    starts: Attr[Offsets]
    steps: Attr[Ints]
    result: Result["x"]

    def verify(x, update, starts, steps):
        if not len(starts) == len(steps) == update.rank == x.rank:
            raise ShapeError(f"slice_update: starts, steps and the update must have {x.rank} entries, found {len(starts)}, {len(steps)}, {update.rank}")
        for axis, (size, start, count, step) in enumerate(zip(x.shape, starts, update.shape, steps)):
            if step < 1:
                raise ShapeError(f"slice_update: the step of axis {axis} must be positive, found {step}")
            known = all(isinstance(v, int) for v in (size, start, count)) and count > 0
            if known and not 0 <= start <= size - 1 - (count - 1) * step:
                raise ShapeError(f"slice_update: axis {axis} of size {size} has no elements {start} to {start + (count - 1) * step}")

    def reference(x, update, starts, steps):
        result = x.copy()
        result[tuple(slice(start, start + (count - 1) * step + 1, step) if count else slice(0, 0) for start, count, step in zip(starts, update.shape, steps))] = update
        return result


class AppendRows(Op, public=False):
    """Rows behind those that each sample has, then zeros: how a cache of keys or values grows.

    past: (batch, heads, places, width). new: (batch, heads, rows, width). before: (batch,), how many rows of `past` stay; negative ones count
    as 0. Result: (batch, heads, size, width). Raises IndexRangeError where the past has fewer rows, or the new ones do not fit.
    Source: GroupQueryAttention of onnxruntime.
    """

    past: Operand[AnyDType, "T"]
    new: Operand[AnyDType, "T"]
    before: Operand[Index]
    size: Attr[Shape]
    result: Result

    def infer(past, new, before, size):
        if not past.rank == new.rank == 4 or before.rank != 1 or len(size) != 1:
            raise ShapeError(f"append_rows: needs caches of 4 axes and a vector, found {show(past.shape)}, {show(new.shape)}, {show(before.shape)}")
        for axis in (0, 1, 3):
            require_equal(past.shape[axis], new.shape[axis], f"append_rows: axis {axis} of {show(past.shape)} and {show(new.shape)}")
        require_equal(past.shape[0], before.shape[0], f"append_rows: samples of {show(past.shape)} and {show(before.shape)}")
        return past.with_shape((*past.shape[:2], size[0], past.shape[3]))

    def reference(past, new, before, size):
        rows, most = new.shape[2], min(past.shape[2], size[0] - new.shape[2])
        result = np.zeros((*past.shape[:2], size[0], past.shape[3]), past.dtype)
        for sample, count in enumerate(wrapped("append_rows", np.maximum(before, 0), most + 1, 2)):
            result[sample, :, :count] = past[sample, :, :count]
            result[sample, :, count:count + rows] = new[sample]
        return result


def _dynamic_places(x: np.ndarray, starts: np.ndarray, shape) -> tuple:
    firsts = [min(max(int(start), 0), size - part) for start, size, part in zip(starts, x.shape, shape)]
    return tuple(slice(first, first + part) for first, part in zip(firsts, shape))


OPS = (Gather, TakeAlongAxis, Scatter, GatherNd, ScatterNd, DynamicSlice, DynamicUpdate, SliceUpdate, AppendRows)
