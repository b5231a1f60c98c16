"""Axes of tensors: functions composed of reshape, transpose and broadcast_to. Names and meanings are numpy's unless said."""
from __future__ import annotations

from typing import Sequence

from ...dialect import symbolic
from ...dialect.shapes import broadcast_shapes, normalize_axes, normalize_axis, require_equal
from ...errors import OnemlirError, ShapeError
from ..symbolic_int import size_of
from ..tensor import Tensor
from .declared import ops

__all__ = [
    "expand_dims", "unsqueeze", "squeeze", "permute", "permute_dims", "expand", "flatten", "ravel", "moveaxis", "swapaxes",
    "atleast_1d", "atleast_2d", "atleast_3d", "broadcast_tensors", "broadcast_arrays", "meshgrid",
]


def as_tensor(x) -> Tensor:
    """x itself when it is a tensor, else a tensor of it."""
    return x if isinstance(x, Tensor) else Tensor(x)


def sizes(x: Tensor) -> tuple:
    """The shape as ints and symbolic sizes (`dialect.symbolic.Dim`)."""
    return tuple(size_of(s) for s in x.shape)


def slice_along(x: Tensor, axis: int, start, count, step: int = 1) -> Tensor:
    """`count` elements of one axis from `start`, `step` apart; the caller makes sure that they exist. Sizes may be symbolic."""
    shape = sizes(x)
    axis = normalize_axis(axis, len(shape))
    starts, steps = [0] * len(shape), [1] * len(shape)
    starts[axis], steps[axis] = size_of(start), step
    return ops.slice(x, starts=tuple(starts), shape=shape[:axis] + (size_of(count),) + shape[axis + 1:], steps=tuple(steps))


def expand_dims(x: Tensor, axis=0) -> Tensor:
    """x with new axes of size 1 at `axis` (an int, or a tuple of places in the result)."""
    x = as_tensor(x)
    axes = (axis,) if isinstance(axis, int) else tuple(axis)
    axes = normalize_axes(axes, x.ndim + len(axes))
    rest = iter(x.shape)
    return ops.reshape(x, shape=tuple(1 if i in axes else next(rest) for i in range(x.ndim + len(axes))))


def unsqueeze(x: Tensor, axis=0) -> Tensor:
    """`expand_dims` by torch's name."""
    return expand_dims(x, axis)


def squeeze(x: Tensor, axis=None) -> Tensor:
    """x without the given axes, which must have size 1; without any axis of size 1 when None. ShapeError for another size.

    Without `axis` a symbolic size is decided on: name the axes in a recording.
    """
    x = as_tensor(x)
    shape = sizes(x)
    axes = tuple(i for i, s in enumerate(x.shape) if s == 1) if axis is None else normalize_axes(axis, len(shape))
    for i in axes:
        require_equal(shape[i], 1, f"squeeze: axis {i} has size {shape[i]}, expected 1")
    return ops.reshape(x, shape=tuple(s for i, s in enumerate(shape) if i not in axes))


def permute(x: Tensor, axes: Sequence[int]) -> Tensor:
    """The axes in another order: `transpose` by torch's name."""
    return ops.transpose(x, axes=tuple(axes))


def permute_dims(x: Tensor, axes: Sequence[int]) -> Tensor:
    """The axes in another order: `transpose` by the array API's name."""
    return ops.transpose(x, axes=tuple(axes))


def expand(x: Tensor, shape: Sequence) -> Tensor:
    """`broadcast_to`, where -1 keeps the size of x (torch's expand)."""
    x = as_tensor(x)
    kept = (1,) * (len(shape) - x.ndim) + sizes(x)
    return ops.broadcast_to(x, shape=tuple(k if isinstance(s, int) and s == -1 else size_of(s) for s, k in zip(shape, kept)))


def flatten(x: Tensor, start_axis: int = 0, end_axis: int = -1) -> Tensor:
    """The axes from start_axis to end_axis as one, in row-major order (torch's flatten)."""
    x = as_tensor(x)
    if x.ndim == 0:
        return ops.reshape(x, shape=(1,))
    first, last = normalize_axis(start_axis, x.ndim, "start_axis"), normalize_axis(end_axis, x.ndim, "end_axis")
    if first > last:
        raise ShapeError(f"flatten: start_axis {start_axis} is behind end_axis {end_axis}")
    shape = sizes(x)
    return ops.reshape(x, shape=shape[:first] + (symbolic.product(shape[first:last + 1]),) + shape[last + 1:])


def ravel(x: Tensor) -> Tensor:
    """All elements along one axis, in row-major order."""
    return flatten(x)


def moveaxis(x: Tensor, source, destination) -> Tensor:
    """The axes `source` moved to the places `destination`; the others keep their order."""
    x = as_tensor(x)
    source, destination = ([normalize_axis(int(a), x.ndim) for a in ((axes,) if isinstance(axes, int) else axes)] for axes in (source, destination))
    if len(source) != len(destination) or len(set(source)) != len(source) or len(set(destination)) != len(destination):
        raise ShapeError(f"moveaxis: source {source} and destination {destination} must be as many different axes")
    order = [a for a in range(x.ndim) if a not in source]
    for place, axis in sorted(zip(destination, source)):
        order.insert(place, axis)
    return ops.transpose(x, axes=tuple(order))


def swapaxes(x: Tensor, axis1: int, axis2: int) -> Tensor:
    """x with two axes exchanged."""
    x = as_tensor(x)
    a, b = normalize_axis(axis1, x.ndim), normalize_axis(axis2, x.ndim)
    order = list(range(x.ndim))
    order[a], order[b] = b, a
    return ops.transpose(x, axes=tuple(order))


def atleast_1d(x: Tensor) -> Tensor:
    """x with one axis at least."""
    x = as_tensor(x)
    return ops.reshape(x, shape=(1,)) if x.ndim == 0 else x


def atleast_2d(x: Tensor) -> Tensor:
    """x with two axes at least; new ones in front."""
    x = atleast_1d(x)
    return expand_dims(x, 0) if x.ndim == 1 else x


def atleast_3d(x: Tensor) -> Tensor:
    """x with three axes at least; a vector becomes (1, n, 1), a matrix (m, n, 1)."""
    x = atleast_2d(x)
    return expand_dims(x, 2) if x.ndim == 2 else x


def broadcast_tensors(*xs: Tensor) -> tuple[Tensor, ...]:
    """Tensors broadcast to their common shape."""
    xs = tuple(map(as_tensor, xs))
    shape = broadcast_shapes(*map(sizes, xs))
    return tuple(x if sizes(x) == shape else ops.broadcast_to(x, shape=shape) for x in xs)


broadcast_arrays = broadcast_tensors


def meshgrid(*xs: Tensor, indexing: str = "xy") -> tuple[Tensor, ...]:
    """Coordinate grids of vectors: result i varies along the axis of xs[i]; "xy" swaps the first two axes (as numpy; torch uses "ij")."""
    if indexing not in ("xy", "ij"):
        raise OnemlirError(f"meshgrid: 'indexing' must be 'xy' or 'ij', found {indexing!r}")
    xs = tuple(ravel(x) for x in xs)
    order = list(range(len(xs)))
    if indexing == "xy" and len(xs) > 1:
        order[:2] = 1, 0
    shape = [0] * len(xs)
    for x, axis in zip(xs, order):
        shape[axis] = sizes(x)[0]
    return tuple(ops.broadcast_to(expand_dims(x, [a for a in range(len(xs)) if a != axis]), shape=tuple(shape)) for x, axis in zip(xs, order))
