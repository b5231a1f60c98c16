"""Gradients of convolutions, which are convolutions again."""
from __future__ import annotations

from ...dialect.ops import convolution as om
from ..ops.declared import declared as ops
from ..ops.shape import sizes
from .broadcasting import zeros
from .registry import gradient_of


@gradient_of(om.Conv)
def conv(call, gradient):
    options = (call.stride, call.padding, call.dilation, call.groups)
    by_x = by_input(call.x, call.weight, gradient, *options) if call.needs("x") else None
    by_weight = _by_weight(call.x, gradient, sizes(call.weight)[2:], *options) if call.needs("weight") else None
    return by_x, by_weight, _by_bias(gradient) if call.needs("bias") else None


def _by_bias(gradient):
    return ops.sum(gradient, axis=(0, *range(2, gradient.ndim)))


def by_input(x, weight, gradient, stride, padding, dilation, groups):
    """The convolution of the gradient, spaced by the stride, with the weight turned round: all taps that an element of x took part in."""
    rank, size, out = len(stride), sizes(x)[2:], sizes(gradient)[2:]
    reach = [d * (k - 1) for d, k in zip(dilation, sizes(weight)[2:])]
    low = [r - p for r, p in zip(reach, padding)]
    high = [size[i] - 1 - (out[i] - 1) * stride[i] + padding[i] for i in range(rank)]
    if not all(isinstance(p, int) and p >= 0 for p in (*low, *high)) or not all(isinstance(n, int) for n in out if max(stride) > 1):
        return _transposed(x, weight, gradient, stride, padding, dilation, groups)
    return ops.conv(_spaced(gradient, stride), _turned(weight, groups), padding=(*low, *high), dilation=dilation, groups=groups)


def _spaced(x, stride):
    """x with stride - 1 zeros between its elements."""
    if all(s == 1 for s in stride) or 0 in sizes(x):
        return x
    shape = (*sizes(x)[:2], *((n - 1) * s + 1 for n, s in zip(sizes(x)[2:], stride)))
    return ops.slice_update(zeros(shape, x.dtype), x, starts=(0,) * x.ndim, steps=(1, 1, *stride))


def _turned(weight, groups: int):
    """The weight (g o, c, kernel) as (g c, o, kernel), each kernel from its end to its start."""
    rows, channels, *kernel = sizes(weight)
    starts, steps = (0, 0, *(k - 1 for k in kernel)), (1, 1, *(-1 for _ in kernel))
    weight = ops.slice(weight, starts=starts, shape=sizes(weight), steps=steps)
    if groups == 1:
        return _swap_first(weight)
    weight = ops.reshape(weight, shape=(groups, rows // groups, channels, *kernel))
    weight = ops.transpose(weight, axes=(0, 2, 1, *range(3, 3 + len(kernel))))
    return ops.reshape(weight, shape=(groups * channels, rows // groups, *kernel))


def _transposed(x, weight, gradient, stride, padding, dilation, groups):
    """The transposed convolution of the gradient; what the windows left over at the high end is made up for."""
    rank, shape = len(stride), sizes(x)
    kernel, out = sizes(weight)[2:], sizes(gradient)[2:]
    reached = [(out[i] - 1) * stride[i] + dilation[i] * (kernel[i] - 1) + 1 - padding[i] - padding[rank + i] for i in range(rank)]
    rest = tuple(size - used for size, used in zip(shape[2:], reached))
    if all(isinstance(r, int) for r in rest):
        return ops.conv_transpose(gradient, weight, stride=stride, padding=padding, output_padding=rest, groups=groups, dilation=dilation)
    y = ops.conv_transpose(gradient, weight, stride=stride, padding=padding, groups=groups, dilation=dilation)
    return ops.pad_constant(y, x.dtype.type(0), low=(0,) * x.ndim, high=(0, 0, *rest))


def _by_weight(x, gradient, kernel, stride, padding, dilation, groups):
    """The convolution of x with the gradient as kernel, samples in the place of channels; stride and dilation change places.

    x (n, g c, ...) becomes (c, g n, ...), the gradient (n, g o, ...) becomes (g o, n, ...), which gives (c, g o, kernel).
    """
    if groups == 1:
        images = _swap_first(x)
    else:
        n, channels, *spatial = sizes(x)
        images = ops.reshape(x, shape=(n, groups, channels // groups, *spatial))
        images = ops.transpose(images, axes=(2, 1, 0, *range(3, 3 + len(spatial))))
        images = ops.reshape(images, shape=(channels // groups, groups * n, *spatial))
    found = ops.conv(images, _swap_first(gradient), stride=dilation, padding=padding, dilation=stride, groups=groups)
    if sizes(found)[2:] != kernel:
        found = ops.slice(found, starts=(0,) * found.ndim, shape=(*sizes(found)[:2], *kernel), steps=(1,) * found.ndim)
    return _swap_first(found)


def _swap_first(x):
    return ops.transpose(x, axes=(1, 0, *range(2, x.ndim)))


@gradient_of(om.ConvTranspose)
def conv_transpose(call, gradient):
    options = (call.stride, call.padding, call.dilation, call.groups)
    by_x = by_weight = None
    if call.needs("x"):
        by_x = ops.conv(gradient, call.weight, stride=call.stride, padding=call.padding, dilation=call.dilation, groups=call.groups)
        if sizes(by_x) != sizes(call.x):
            by_x = ops.slice(by_x, starts=(0,) * by_x.ndim, shape=sizes(call.x), steps=(1,) * by_x.ndim)
    if call.needs("weight"):
        by_weight = _by_weight(gradient, call.x, sizes(call.weight)[2:], *options)
    return by_x, by_weight, _by_bias(gradient) if call.needs("bias") else None
