"""Gradients of ops that move elements."""
from __future__ import annotations

import numpy as np

from ...dialect.ops import shape as om
from ...errors import UnsupportedOpError
from ..ops.declared import declared as ops
from ..ops.shape import sizes
from .broadcasting import summed_to, zeros_like
from .composed import composed_gradient
from .registry import gradient_of


@gradient_of(om.Reshape)
def reshape(call, gradient):
    return ops.reshape(gradient, shape=sizes(call.x))


@gradient_of(om.Transpose)
def transpose(call, gradient):
    axes = call.axes
    return ops.transpose(gradient, axes=tuple(axes.index(i) for i in range(len(axes))))


@gradient_of(om.BroadcastTo)
def broadcast_to(call, gradient):
    return summed_to(gradient, sizes(call.x))


@gradient_of(om.Slice)
def slice(call, gradient):
    starts, counts = list(call.starts), call.shape
    for axis, step in enumerate(call.steps):
        if step < 0:
            gradient = _reversed(gradient, axis)
            starts[axis] = starts[axis] + (counts[axis] - 1) * step if counts[axis] != 0 else 0
    return ops.slice_update(zeros_like(call.x), gradient, starts=tuple(starts), steps=tuple(abs(s) for s in call.steps))


def _reversed(x, axis: int):
    shape, starts, steps = sizes(x), [0] * x.ndim, [1] * x.ndim
    if shape[axis] == 0:
        return x
    starts[axis], steps[axis] = shape[axis] - 1, -1
    return ops.slice(x, starts=tuple(starts), shape=shape, steps=tuple(steps))


@gradient_of(om.Concat)
def concat(call, gradient):
    parts, start = [], 0
    for x, wanted in zip(call.xs, call._wanted):
        starts = tuple(start if i == call.axis else 0 for i in range(x.ndim))
        parts.append(ops.slice(gradient, starts=starts, shape=sizes(x), steps=(1,) * x.ndim) if wanted else None)
        start = start + sizes(x)[call.axis]
    return tuple(parts)


@gradient_of(om.PadConstant)
def pad_constant(call, gradient):
    inner = ops.slice(gradient, starts=call.low, shape=sizes(call.x), steps=(1,) * call.x.ndim)
    return inner, ops.sum(gradient) - ops.sum(inner) if call.needs("value") else None


@composed_gradient(om.Pad)
def pad(call, x, value):
    """Each axis in turn: cropped, then padded with constants or with copies of its own elements."""
    low, high = call.low, call.high
    if not all(isinstance(size, int) for size in (*sizes(x), *low, *high)):
        raise UnsupportedOpError(f"the gradient of pad needs fixed sizes, found x {x.shape}")
    starts = tuple(max(-a, 0) for a in low)
    shape = tuple(size - start - max(-b, 0) for size, start, b in zip(x.shape, starts, high))
    x = ops.slice(x, starts=starts, shape=shape, steps=(1,) * x.ndim)
    low, high = tuple(max(a, 0) for a in low), tuple(max(b, 0) for b in high)
    if call.mode == "constant":
        return ops.pad_constant(x, x.dtype.type(0) if value is None else value, low=low, high=high)
    for axis, pair in enumerate(zip(low, high)):
        if any(pair):
            x = ops.gather(x, np.pad(np.arange(x.shape[axis]), pair, mode=call.mode), axis=axis)
    return x
