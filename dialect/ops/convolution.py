"""Convolutions over one to three spatial axes, in torch's layouts: x (n, channels, *spatial)."""
from __future__ import annotations

import numpy as np

from ...errors import OnemlirError, ShapeError
from .. import dtypes
from ..attributes import Ints
from ..declare import Attr, Numeric, Op, Operand, OptionalOperand, Result
from ..shapes import require_equal, show, TensorType, window_output
from .linear_algebra import Byte
from .reduction import wide


def per_axis(value, rank: int, name: str) -> tuple:
    """One entry for each spatial axis; a single number (or a sequence of one) stands for all of them."""
    values = tuple(value) if hasattr(value, "__iter__") else (value,)
    values = values * rank if len(values) == 1 else values
    if len(values) != rank:
        raise ShapeError(f"'{name}' must be one number or {rank}, found {value!r}")
    return values


def low_high(value, rank: int, name: str = "padding") -> tuple:
    """Padding as all lows, then all highs: from one number, one per axis, or lows and highs already."""
    values = tuple(value) if hasattr(value, "__iter__") else (value,)
    return values if len(values) == 2 * rank else per_axis(values, rank, name) * 2


def check_positive(opname: str, **attributes) -> None:
    """OnemlirError when an entry is below 1."""
    for name, values in attributes.items():
        if any(v < 1 for v in values):
            raise OnemlirError(f"{opname}: '{name}' must be at least 1 on each axis, found {values}")


def _canonical(attributes: dict, operands) -> dict:
    rank = max(operands[1].rank - 2, 1)
    for name in attributes.keys() & {"stride", "dilation", "output_padding"}:
        attributes[name] = per_axis(attributes[name], rank, name)
    return {**attributes, "padding": low_high(attributes["padding"], rank)}


def _check_operands(opname: str, x, weight, bias, channels_axis: int, out_channels, stride, padding, dilation, groups) -> None:
    if not 3 <= weight.rank <= 5 or x.rank != weight.rank:
        raise ShapeError(f"{opname}: x and weight must have 1 to 3 spatial axes each, found {show(x.shape)} and {show(weight.shape)}")
    if not all(isinstance(k, int) and k > 0 for k in weight.shape[2:]):
        raise ShapeError(f"{opname}: the kernel's sizes must be fixed and positive, found weight {show(weight.shape)}")
    check_positive(opname, stride=stride, dilation=dilation, groups=(groups,))
    if any(p < 0 for p in padding):
        raise OnemlirError(f"{opname}: 'padding' must not be negative, found {padding}; use pad to crop")
    channels = weight.shape[channels_axis]
    expected = channels * groups if channels_axis else channels
    require_equal(x.shape[1], expected, f"{opname}: x {show(x.shape)} has {x.shape[1]} channels but weight {show(weight.shape)} "
                                        f"with {groups} groups takes {expected}")
    if isinstance(weight.shape[0], int) and weight.shape[0] % groups:
        raise ShapeError(f"{opname}: {weight.shape[0]} channels of weight {show(weight.shape)} do not divide into {groups} groups")
    if bias is not None:
        if bias.rank != 1:
            raise ShapeError(f"{opname}: bias must be (out_channels,), found {show(bias.shape)}")
        require_equal(bias.shape[0], out_channels, f"{opname}: bias has {bias.shape[0]} elements for {out_channels} output channels")


class Conv(Op):
    """Cross-correlation: y[n, o, p] = bias[o] + sum over c, k of x[n, c, p * stride + k * dilation - low] * weight[o, c, k].

    x: (n, c_in, *spatial). weight: (c_out, c_in / groups, *kernel), its rank gives the number of spatial axes (1 to 3).
    bias: (c_out,). Result: (n, c_out, *out), out = floor((size + low + high - dilation * (kernel - 1) - 1) / stride) + 1.
    stride, dilation: one number or one per axis. padding: one number, one per axis, or all lows followed by all highs (ONNX's order).
    Source: torch's conv2d; ONNX Conv.
    """

    x: Operand[Numeric, "T"]
    weight: Operand[Numeric, "T"]
    bias: OptionalOperand[Numeric, "T"]
    stride: Attr[Ints] = 1
    padding: Attr[Ints] = 0
    dilation: Attr[Ints] = 1
    groups: Attr[int] = 1
    result: Result
    canonical = staticmethod(_canonical)

    def verify(x, weight, bias, stride, padding, dilation, groups):
        _check_operands("conv", x, weight, bias, 1, weight.shape[0], stride, padding, dilation, groups)

    def infer(x, weight, bias, stride, padding, dilation, groups):
        rank = len(stride)
        sizes = tuple(window_output(x.shape[2 + i], weight.shape[2 + i], stride[i], padding[i], padding[rank + i], dilation[i]) for i in range(rank))
        return TensorType(x.shape[:1] + weight.shape[:1] + sizes, x.dtype)

    def reference(x, weight, bias, stride, padding, dilation, groups):
        rank = len(stride)
        padded = np.pad(wide(x), [(0, 0), (0, 0), *zip(padding[:rank], padding[rank:])])
        taps = windows(padded, weight.shape[2:], stride, dilation)  # (n, c, *out, *kernel)
        n, channels, sizes = x.shape[0], x.shape[1] // groups, taps.shape[2:2 + rank]
        columns = np.moveaxis(taps.reshape(n, groups, channels, *taps.shape[2:]), range(3, 3 + rank), range(-rank, 0))
        columns = columns.reshape(n, groups, channels * int(np.prod(weight.shape[2:])), int(np.prod(sizes)))
        rows = wide(weight).reshape(groups, weight.shape[0] // groups, columns.shape[2])
        with np.errstate(all="ignore"):
            return _with_bias(np.matmul(rows, columns).reshape(n, weight.shape[0], *sizes), bias).astype(x.dtype)


def windows(x: np.ndarray, kernel, stride, dilation) -> np.ndarray:
    """A view of the windows over the last axes of x: (..., *out, *kernel)."""
    rank = len(kernel)
    extents = tuple(d * (k - 1) + 1 for k, d in zip(kernel, dilation))
    view = np.lib.stride_tricks.sliding_window_view(x, extents, axis=tuple(range(x.ndim - rank, x.ndim)))
    return view[(..., *(slice(None, None, s) for s in stride), *(slice(None, None, d) for d in dilation))]


def _with_bias(y: np.ndarray, bias) -> np.ndarray:
    return y if bias is None else y + wide(bias).reshape(-1, *[1] * (y.ndim - 2))


class ConvInteger(Op):
    """`Conv` of x - x_zero_point by weight - weight_zero_point in i32, which wraps around; the padding adds nothing to a sum.

    x, weight: u8 or i8 each, shapes and attributes as for `Conv`. x_zero_point: one number; weight_zero_point: one number, or (c_out,);
    zero when left out. Source: ONNX ConvInteger.
    """

    x: Operand[Byte, "T"]
    weight: Operand[Byte, "U"]
    x_zero_point: OptionalOperand[Byte, "T"]
    weight_zero_point: OptionalOperand[Byte, "U"]
    stride: Attr[Ints] = 1
    padding: Attr[Ints] = 0
    dilation: Attr[Ints] = 1
    groups: Attr[int] = 1
    result: Result
    canonical = staticmethod(_canonical)

    def verify(x, weight, x_zero_point, weight_zero_point, stride, padding, dilation, groups):
        _check_operands("conv_integer", x, weight, None, 1, weight.shape[0], stride, padding, dilation, groups)
        if x_zero_point is not None and x_zero_point.rank:
            raise ShapeError(f"conv_integer: x_zero_point must be one number, found shape {show(x_zero_point.shape)}")
        point = weight_zero_point
        if point is not None and point.rank and point.shape != weight.shape[:1]:
            raise ShapeError(f"conv_integer: weight_zero_point must be one number or one for each of the {weight.shape[0]} filters, "
                             f"found shape {show(point.shape)}")

    def infer(x, weight, x_zero_point, weight_zero_point, stride, padding, dilation, groups):
        return Conv.infer(x, weight, None, stride, padding, dilation, groups).with_dtype(dtypes.int32)

    def reference(x, weight, x_zero_point, weight_zero_point, stride, padding, dilation, groups):
        x = x.astype(np.int32) - (0 if x_zero_point is None else x_zero_point.astype(np.int32))
        point = np.zeros((), np.int32) if weight_zero_point is None else weight_zero_point.astype(np.int32)
        weight = weight.astype(np.int32) - point.reshape(-1, *[1] * (weight.ndim - 1))
        return Conv.reference(x, weight, None, stride, padding, dilation, groups)


class ConvTranspose(Op):
    """The transpose of `Conv` (its gradient by x): each x[n, c, p] adds x * weight[c, o, k] to y[n, o, p * stride + k * dilation - low].

    x: (n, c_in, *spatial). weight: (c_in, c_out / groups, *kernel). bias: (c_out,).
    Result: (n, c_out, *out), out = (size - 1) * stride - low - high + dilation * (kernel - 1) + output_padding + 1.
    padding: as for `Conv`, what is cut off the result; output_padding: what is added at the high end. Source: torch's conv_transpose2d.
    """

    x: Operand[Numeric, "T"]
    weight: Operand[Numeric, "T"]
    bias: OptionalOperand[Numeric, "T"]
    stride: Attr[Ints] = 1
    padding: Attr[Ints] = 0
    output_padding: Attr[Ints] = 0
    groups: Attr[int] = 1
    dilation: Attr[Ints] = 1
    result: Result
    canonical = staticmethod(_canonical)

    def verify(x, weight, bias, stride, padding, output_padding, groups, dilation):
        _check_operands("conv_transpose", x, weight, bias, 0, weight.shape[1] * groups, stride, padding, dilation, groups)
        if any(p < 0 for p in output_padding):
            raise OnemlirError(f"conv_transpose: 'output_padding' must not be negative, found {output_padding}")

    def infer(x, weight, bias, stride, padding, output_padding, groups, dilation):
        rank = len(stride)
        sizes = tuple((x.shape[2 + i] - 1) * stride[i] - padding[i] - padding[rank + i] + dilation[i] * (weight.shape[2 + i] - 1)
                      + output_padding[i] + 1 for i in range(rank))
        if any(isinstance(size, int) and size < 0 for size in sizes):
            raise ShapeError(f"conv_transpose: padding {padding} leaves nothing of x {show(x.shape)}: the result would be {show(sizes)}")
        return TensorType((x.shape[0], weight.shape[1] * groups, *sizes), x.dtype)

    def reference(x, weight, bias, stride, padding, output_padding, groups, dilation):
        kernel, spatial = weight.shape[2:], x.shape[2:]
        n, channels, outputs = x.shape[0], x.shape[1] // groups, weight.shape[1]
        rows = wide(weight).reshape(groups, channels, outputs * int(np.prod(kernel))).swapaxes(1, 2)
        with np.errstate(all="ignore"):
            taps = np.matmul(rows, wide(x).reshape(n, groups, channels, int(np.prod(spatial))))
            full = _scatter_taps(taps.reshape(n, groups * outputs, *kernel, *spatial), stride, dilation, padding, output_padding)
            return _with_bias(full, bias).astype(x.dtype)


def _scatter_taps(taps: np.ndarray, stride, dilation, padding, output_padding) -> np.ndarray:
    """Sum of the contributions (n, o, *kernel, *spatial) at their places, cut to the result's size."""
    rank = len(stride)
    kernel, spatial = taps.shape[2:2 + rank], taps.shape[2 + rank:]
    sizes = [(p - 1) * s + d * (k - 1) + 1 + extra for p, s, d, k, extra in zip(spatial, stride, dilation, kernel, output_padding)]
    full = np.zeros((*taps.shape[:2], *(max(size, 0) for size in sizes)), taps.dtype)
    for tap in np.ndindex(*kernel):
        places = tuple(slice(t * d, t * d + (p - 1) * s + 1, s) if p else slice(0, 0) for t, d, p, s in zip(tap, dilation, spatial, stride))
        full[(slice(None), slice(None), *places)] += taps[(slice(None), slice(None), *tap)]
    return full[(..., *(slice(low, size - high) for low, high, size in zip(padding[:rank], padding[rank:], full.shape[2:])))]


OPS = (Conv, ConvInteger, ConvTranspose)
