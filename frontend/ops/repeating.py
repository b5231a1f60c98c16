"""Reordering, repeating and padding along axes: functions of the shape family composed of slice, concat, gather and broadcast_to."""
from __future__ import annotations

import numpy as np

from ...dialect import symbolic
from ...dialect.shapes import normalize_axes, normalize_axis
from ...errors import ShapeError
from ..symbolic_int import size_of
from ..tensor import Tensor
from .declared import ops
from .shape import as_tensor, expand_dims, ravel, sizes, slice_along

__all__ = ["flip", "roll", "tile", "repeat", "pad"]


def flip(x: Tensor, axis=None) -> Tensor:
    """x with its elements in reverse order along the given axes, all of them when None."""
    x = as_tensor(x)
    shape = sizes(x)
    axes = normalize_axes(axis, len(shape))
    starts = tuple(size - 1 if i in axes else 0 for i, size in enumerate(shape))
    return ops.slice(x, starts=starts, shape=shape, steps=tuple(-1 if i in axes else 1 for i in range(len(shape))))


def roll(x: Tensor, shift, axis=None) -> Tensor:
    """x with elements moved by `shift` places along the axes, those beyond the end coming in at the start; None rolls the flattened x."""
    x = as_tensor(x)
    if axis is None:
        return ops.reshape(roll(ravel(x), shift, 0), shape=sizes(x))
    axes = (axis,) if isinstance(axis, int) else tuple(axis)
    shifts = tuple(shift) if isinstance(shift, (tuple, list)) else (shift,) * len(axes)
    axes = axes * len(shifts) if len(axes) == 1 else axes
    if len(axes) != len(shifts):
        raise ShapeError(f"roll: {len(shifts)} shifts for {len(axes)} axes")
    for by, one in zip(shifts, axes):
        x = _roll_axis(x, size_of(by), normalize_axis(one, x.ndim))
    return x


def _roll_axis(x: Tensor, shift, axis: int) -> Tensor:
    size = sizes(x)[axis]
    if size == 0 or shift == 0:
        return x
    moved = symbolic.mod(shift, size)
    return ops.concat([slice_along(x, axis, size - moved, moved), slice_along(x, axis, 0, size - moved)], axis=axis)


def tile(x: Tensor, repetitions) -> Tensor:
    """x repeated as a whole `repetitions` times along each axis; missing ones are 1, more than x has axes add axes in front."""
    x = as_tensor(x)
    counts = tuple(map(size_of, repetitions)) if hasattr(repetitions, "__iter__") else (size_of(repetitions),)
    rank = max(x.ndim, len(counts))
    shape, counts = (1,) * (rank - x.ndim) + sizes(x), (1,) * (rank - len(counts)) + counts
    spread = ops.reshape(x, shape=tuple(s for size in shape for s in (1, size)))
    spread = ops.broadcast_to(spread, shape=tuple(s for count, size in zip(counts, shape) for s in (count, size)))
    return ops.reshape(spread, shape=tuple(count * size for count, size in zip(counts, shape)))


def repeat(x: Tensor, repeats, axis: int | None = None) -> Tensor:
    """Each element repeated `repeats` times along an axis, None for the flattened x (torch's repeat_interleave).

    repeats: one number, or a sequence of ints with one for each element of the axis.
    """
    x = ravel(x) if axis is None else as_tensor(x)
    axis = normalize_axis(axis or 0, x.ndim)
    if hasattr(repeats, "__iter__"):
        return ops.gather(x, np.repeat(np.arange(sizes(x)[axis]), [int(r) for r in repeats]), axis=axis)
    count, shape = size_of(repeats), sizes(x)
    spread = ops.broadcast_to(expand_dims(x, axis + 1), shape=shape[:axis + 1] + (count,) + shape[axis + 1:])
    return ops.reshape(spread, shape=shape[:axis] + (shape[axis] * count,) + shape[axis + 1:])


def pad(x: Tensor, pad_width, mode: str = "constant", constant_values=0) -> Tensor:
    """x with elements added at both ends of its axes; negative widths crop.

    pad_width: (before, after) for each axis, one pair for all, or one number for all. mode: "constant" (constant_values, a number or a
    rank-0 tensor), "reflect", "edge", "wrap". Source: numpy.pad.
    """
    x = as_tensor(x)
    low, high = zip(*_widths(pad_width, x.ndim)) if x.ndim else ((), ())
    value = None
    if mode == "constant":
        value = constant_values.astype(x.dtype) if isinstance(constant_values, Tensor) else Tensor(constant_values, x.dtype)
    return ops.pad(x, value, low=low, high=high, mode=mode)


def _widths(pad_width, rank: int) -> list[tuple]:
    if not hasattr(pad_width, "__iter__"):
        return [(size_of(pad_width),) * 2] * rank
    entries = list(pad_width)
    if len(entries) == 2 and not any(hasattr(e, "__iter__") for e in entries):
        return [(size_of(entries[0]), size_of(entries[1]))] * rank
    pairs = [tuple(map(size_of, e)) if hasattr(e, "__iter__") else (size_of(e),) * 2 for e in entries]
    pairs = pairs * rank if len(pairs) == 1 else pairs
    if len(pairs) != rank or any(len(pair) != 2 for pair in pairs):
        raise ShapeError(f"pad: pad_width must be a number, a pair, or {rank} pairs, found {pad_width!r}")
    return pairs
