"""Convolutions."""
from __future__ import annotations

import numpy as np

from ...dialect import dtypes
from ..ops.declared import declared as om
from ..tensor import Tensor
from .registry import reads
from .windows import padded, window_of


def convolved(node, x: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
    """Conv with the node's attributes."""
    kernel = _shape(weight)[2:]
    window = window_of(node, kernel, _shape(x)[2:])
    if not window.is_fixed:
        x = padded(x, window, None)
    return om.conv(x, weight, bias, stride=window.strides, padding=window.padding, dilation=window.dilations, groups=node.int("group", 1))


def _shape(x: Tensor) -> tuple:
    from .shape import sizes_of

    return sizes_of(x)


@reads("Conv")
def read_conv(node, ops):
    return convolved(node, node.tensor(0), node.tensor(1), node.optional(2))


@reads("ConvInteger")
def read_conv_integer(node, ops):
    """Conv of x - x_zero_point and w - w_zero_point in i32."""
    x = _centered(node.tensor(0), node.optional(2), None)
    return convolved(node, x, _centered(node.tensor(1), node.optional(3), 0), None)


def _centered(x: Tensor, zero_point: Tensor | None, axis: int | None) -> Tensor:
    x = x.astype(dtypes.int32)
    if zero_point is None:
        return x
    zero_point = zero_point.astype(dtypes.int32)
    if zero_point.ndim == 1 and axis is not None:
        zero_point = om.reshape(zero_point, shape=tuple(-1 if i == axis else 1 for i in range(x.ndim)))
    return x - zero_point


@reads("QLinearConv")
def read_qlinear_conv(node, ops):
    """round(conv(x - x_zero, w - w_zero) * (x_scale * w_scale / y_scale)) + y_zero, saturated."""
    x, x_scale, x_zero, w, w_scale, w_zero, y_scale, y_zero, bias = (node.optional(i) for i in range(9))
    y = convolved(node, _centered(x, x_zero, None), _centered(w, w_zero, 0), bias)
    return requantized(y, x_scale, w_scale, y_scale, y_zero, 1)


def requantized(y: Tensor, x_scale, w_scale, y_scale, y_zero, axis: int) -> Tensor:
    """An i32 product as integers of y's scale and zero point."""
    if w_scale.ndim == 1:
        w_scale = om.reshape(w_scale, shape=tuple(-1 if i == axis else 1 for i in range(y.ndim)))
    factor = (x_scale * w_scale / y_scale).astype(dtypes.float32)
    limits = np.iinfo(y_zero.dtype)
    rounded = om.round(y.astype(dtypes.float32) * factor) + y_zero.astype(dtypes.float32)
    return om.minimum(om.maximum(rounded, float(limits.min)), float(limits.max)).astype(y_zero.dtype)


@reads("ConvTranspose")
def read_conv_transpose(node, ops):
    x, weight = node.tensor(0), node.tensor(1)
    spatial, kernel = node.shape(0)[2:], node.shape(1)[2:]
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
