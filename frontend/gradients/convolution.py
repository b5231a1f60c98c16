"""Gradients of convolutions, which are convolutions again."""
from __future__ import annotations

from ...dialect.ops import convolution as om
from ..ops.declared import declared as ops
from ..ops.shape import sizes
from .registry import gradient_of


@gradient_of(om.Conv)
def conv(call, gradient):
    options = (call.stride, call.padding, call.dilation, call.groups)
    by_x = _by_input(call.x, call.weight, gradient, *options) if call.needs("x") else None
    by_weight = _by_weight(call.x, gradient, sizes(call.weight)[2:], *options) if call.needs("weight") else None
    return by_x, by_weight, _by_bias(gradient) if call.needs("bias") else None


def _by_bias(gradient):
    return ops.sum(gradient, axis=(0, *range(2, gradient.ndim)))


def _by_input(x, weight, gradient, stride, padding, dilation, groups):
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
