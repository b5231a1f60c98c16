"""Convolutions."""
from __future__ import annotations

import numpy as np

from ...dialect import dtypes
from ..ops.declared import declared as om
from ..tensor import Tensor
from .quantization import of_words, one, zero_point
from .registry import reads
from .windows import padded, Window, window_of


def convolved(node, x: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
    """Conv with the node's attributes."""
    return _slid(node, window_of(node, _shape(weight)[2:], _shape(x)[2:]), x, weight, bias)


def _slid(node, window: Window, x: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
    if not window.is_fixed:
        x = padded(x, window, None)
    return om.conv(x, weight, bias, stride=window.strides, padding=window.padding, dilation=window.dilations, groups=node.int("group", 1))


def _shape(x: Tensor) -> tuple:
    from .shape import sizes_of

    return sizes_of(x)


@reads("Conv")
def read_conv(node, ops):
    return convolved(node, node.tensor(0), weight_of(node), node.optional(2))


def weight_of(node) -> Tensor:
    """The weight, whose symbolic kernel sizes are those of the attribute."""
    return node.with_sizes(1, dict(enumerate(node.ints_attribute("kernel_shape", ()), 2)))


@reads("ConvInteger")
def read_conv_integer(node, ops):
    return _integers_convolved(node, node.tensor(0), node.tensor(1), zero_point(node, 2), zero_point(node, 3))


def _integers_convolved(node, x: Tensor, w: Tensor, x_zero: Tensor | None, w_zero: Tensor | None) -> Tensor:
    """Conv of x - x_zero and w - w_zero in i32; x_zero: one number; w_zero: one, or one a feature."""
    window = window_of(node, _shape(w)[2:], _shape(x)[2:])
    if not window.is_fixed:
        x = padded(x, window, Tensor._wrap(np.zeros((), x.dtype)) if x_zero is None else x_zero)
    return om.conv_integer(x, w, x_zero, w_zero, stride=window.strides, padding=window.padding, dilation=window.dilations,
                           groups=node.int("group", 1))


@reads("QLinearConv")
def read_qlinear_conv(node, ops):
    """round((conv(x - x_zero, w - w_zero) + bias) * (x_scale * w_scale / y_scale)) + y_zero, saturated."""
    x, x_scale, _, w, w_scale, _, y_scale, y_zero, bias = (node.optional(i) for i in range(9))
    y = _integers_convolved(node, x, w, zero_point(node, 2), zero_point(node, 5))
    features = (-1, *[1] * (y.ndim - 2))
    if bias is not None:
        y = y + om.reshape(bias, shape=features)
    w_scale = one(w_scale)
    factor = one(x_scale) * (om.reshape(w_scale, shape=features) if w_scale.ndim else w_scale) / one(y_scale)
    return of_words(y, factor.astype(dtypes.float32), one(y_zero))


@reads("ConvTranspose")
def read_conv_transpose(node, ops):
    x, weight = node.tensor(0), weight_of(node)
    spatial, kernel = node.shape(0)[2:], _shape(weight)[2:]
    rank = len(kernel)
    strides, dilations, extra = (node.ints_attribute(name, (default,) * rank)
                                 for name, default in (("strides", 1), ("dilations", 1), ("output_padding", 0)))
    low, high, extra = _transposed_padding(node, spatial, kernel, strides, dilations, extra)
    groups = node.int("group", 1)
    return ops.conv_transpose(x, weight, node.optional(2), stride=strides, padding=(*low, *high), output_padding=extra, groups=groups, dilation=dilations)


def _transposed_padding(node, spatial, kernel, strides, dilations, extra):
    rank, mode = len(kernel), node.text("auto_pad", "NOTSET")
    target = node.ints_attribute("output_shape")
    pads = node.ints_attribute("pads", (0,) * (2 * rank))
    if target is None and mode in ("NOTSET", ""):
        return pads[:rank], pads[rank:], extra
    if target is None and mode == "VALID":
        return (0,) * rank, (0,) * rank, extra
    target = tuple(size * s for size, s in zip(spatial, strides)) if target is None else target[-rank:]
    total = [s * (size - 1) + e + (k - 1) * d + 1 - t for s, size, e, k, d, t in zip(strides, spatial, extra, kernel, dilations, target)]
    if not all(isinstance(t, int) for t in total):
        node.refuse("padding that follows from a symbolic size cannot be read: fix the spatial axes")
    extra = tuple(e + max(-t, 0) for e, t in zip(extra, total))
    total = [max(t, 0) for t in total]
    half, rest = tuple(t // 2 for t in total), tuple(t - t // 2 for t in total)
    return (*((half, rest) if mode == "SAME_UPPER" else (rest, half)), extra)
