"""Decompositions of padding: cropping, then constant padding or reading at mapped places."""
from __future__ import annotations

from ...dialect import symbolic
from ...dialect.ops.shape import Pad
from .registry import decomposes


@decomposes(Pad)
def pad(ops, x, value, low, high, mode):
    x = _cropped(ops, x, low, high)
    low, high = (tuple(symbolic.maximum(p, 0) for p in side) for side in (low, high))
    if mode == "constant":
        value = x.builder.scalar(0, x.dtype) if value is None else value
        return ops.pad_constant(x, value, low=low, high=high)
    for axis, (before, after) in enumerate(zip(low, high)):
        if (before, after) != (0, 0):
            x = ops.gather(x, _places(ops, x, axis, before, after, mode), axis=axis)
    return x


def _cropped(ops, x, low, high):
    """x without what negative pads take away."""
    starts = tuple(symbolic.maximum(symbolic.mul(a, -1), 0) for a in low)
    shape = tuple(size + symbolic.minimum(a, 0) + symbolic.minimum(b, 0) for size, a, b in zip(x.shape, low, high))
    if shape == x.shape:
        return x
    return ops.slice(x, starts=starts, shape=shape, steps=(1,) * x.rank)


def _places(ops, x, axis: int, before, after, mode: str):
    """For each place of the padded axis the place of x that it repeats."""
    size = x.shape[axis]
    number = x.builder.from_size
    places = ops.iota(size=(before + size + after,)) - number(before)
    if mode == "edge":
        return ops.minimum(ops.maximum(places, 0), number(size - 1))
    if mode == "wrap":
        return ops.remainder(places, number(size))
    period = number(symbolic.maximum(2 * (size - 1), 1))
    places = ops.remainder(places, period)
    return ops.minimum(places, period - places) if size != 1 else places * 0
