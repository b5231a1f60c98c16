"""Pooling over windows of the last axes of a tensor, as many as `kernel_size` has entries."""
from __future__ import annotations

import numpy as np

from ...errors import OnemlirError, ShapeError
from .. import dtypes
from ..attributes import Ints
from ..declare import Attr, Composite, Floating, Numeric, Op, Operand, Pure, Result
from ..shapes import show, TensorType, window_output
from .convolution import check_positive, low_high, per_axis, windows
from .reduction import wide


def _canonical(attributes: dict, operands) -> dict:
    kernel = attributes["kernel_size"]
    kernel = tuple(kernel) if hasattr(kernel, "__iter__") else (kernel,) * max(operands[0].rank - 2, 1)
    rank, stride = len(kernel), attributes["stride"]
    return {**attributes, "kernel_size": kernel, "stride": per_axis(kernel if stride is None else stride, rank, "stride"),
            "padding": low_high(attributes["padding"], rank), "dilation": per_axis(attributes["dilation"], rank, "dilation")}


class Pool(Op, abstract=True):
    """Base of window reductions. stride: None for the kernel's size. padding: one number, one per axis, or all lows then all highs; less
    than the window spans.

    ceil_mode counts a last partial window that starts inside the input or the low padding.
    """

    x: Operand[Numeric]
    kernel_size: Attr[Ints]
    stride: Attr[Ints] = None
    padding: Attr[Ints] = 0
    dilation: Attr[Ints] = 1
    ceil_mode: Attr[bool] = False
    canonical = staticmethod(_canonical)

    @classmethod
    def verify(cls, x, kernel_size, stride, padding, dilation, ceil_mode, **_):
        if x.rank < len(kernel_size) or not kernel_size:
            raise ShapeError(f"{cls.opname}: a window over {len(kernel_size)} axes does not fit x {show(x.shape)}")
        check_positive(cls.opname, kernel_size=kernel_size, stride=stride, dilation=dilation)
        if any(p < 0 for p in padding):
            raise OnemlirError(f"{cls.opname}: 'padding' must not be negative, found {padding}; use pad to crop")
        extents = [d * (k - 1) + 1 for k, d in zip(kernel_size, dilation)]
        if any(p >= extent for p, extent in zip(padding, extents * 2)):
            raise OnemlirError(f"{cls.opname}: 'padding' must be smaller than the window, which spans {tuple(extents)}, found {padding}: "
                               "a window would see padding alone")

    @staticmethod
    def pooled(x, kernel_size, stride, padding, dilation, ceil_mode) -> TensorType:
        """The type of the result."""
        rank, lead = len(kernel_size), x.rank - len(kernel_size)
        sizes = (window_output(x.shape[lead + i], kernel_size[i], stride[i], padding[i], padding[rank + i], dilation[i], ceil_mode) for i in range(rank))
        return x.with_shape(x.shape[:lead] + tuple(sizes))

    @classmethod
    def infer(cls, x, kernel_size, stride, padding, dilation, ceil_mode, **_):
        return cls.pooled(x, kernel_size, stride, padding, dilation, ceil_mode)


def pool_windows(x, fill, kernel_size, stride, padding, dilation, ceil_mode) -> np.ndarray:
    """Windows (..., *out, *kernel) over x padded with `fill`, partial ones included."""
    rank, lead = len(kernel_size), x.ndim - len(kernel_size)
    out = Pool.pooled(TensorType(x.shape, x.dtype), kernel_size, stride, padding, dilation, ceil_mode).shape[lead:]
    pads, crop = [(0, 0)] * lead, [slice(None)] * lead
    for i, count in enumerate(out):
        length = max(count - 1, 0) * stride[i] + dilation[i] * (kernel_size[i] - 1) + 1
        pads.append((padding[i], max(length - padding[i] - x.shape[lead + i], 0)))
        crop.append(slice(0, length))
    padded = np.pad(x, pads, constant_values=fill)[tuple(crop)]
    return windows(padded, kernel_size, stride, dilation)[(..., *(slice(0, n) for n in out), *[slice(None)] * rank)]


def lowest(dtype: np.dtype):
    """The value that no other is below: -inf, or the smallest integer."""
    return dtype.type(-np.inf) if dtypes.is_floating(dtype) else np.iinfo(dtype).min


class MaxPool(Pool):
    """The largest element of each window; NaN when there is one. Padding is below every number (-inf, the smallest integer).

    x: (..., *spatial). Result: (..., *out), out as for `Conv`, or rounded up with ceil_mode. Source: torch's max_pool2d; ONNX MaxPool.
    """

    result: Result

    def reference(x, kernel_size, **attributes):
        taps = pool_windows(x, lowest(x.dtype), kernel_size, **attributes)
        return taps.max(axis=tuple(range(-len(kernel_size), 0)))


class MaxPoolWithIndices(Pool):
    """`MaxPool` together with where each maximum is: its row-major position within the pooled axes of x (i64), torch's meaning.

    The first of equal elements, or the first NaN, is named. A window that ceil_mode lets see padding alone has no position: -1.
    """

    result: Result
    indices: Result
    traits = (Pure, Composite)

    def infer(x, **attributes):
        pooled = Pool.pooled(x, **attributes)
        return pooled, pooled.with_dtype(dtypes.int64)

    def reference(x, kernel_size, **attributes):
        rank = len(kernel_size)
        places = np.arange(int(np.prod(x.shape[x.ndim - rank:]))).reshape(x.shape[x.ndim - rank:])
        places = pool_windows(places, -1, kernel_size, **attributes)
        taps = pool_windows(x, lowest(x.dtype), kernel_size, **attributes)
        flat = taps.reshape(*taps.shape[:-rank], -1)
        places = np.broadcast_to(places, taps.shape).reshape(flat.shape)
        order = np.where(places < 0, -np.inf, flat.astype(np.float64)) if dtypes.is_floating(x.dtype) else flat
        inside = (places >= 0) & ((order == order.max(-1, keepdims=True)) | (order != order))
        best = inside.argmax(-1)[..., None]
        found = np.where(inside.any(-1), np.take_along_axis(places, best, -1)[..., 0], -1)
        return flat.max(-1), found


class AvgPool(Pool):
    """The mean of each window.

    count_include_pad: whether padding (zeros) counts as elements; what lies beyond it with ceil_mode never does. divisor: divide by this
    instead of the count (1 gives sums). x: (..., *spatial). Source: torch's avg_pool2d; ONNX AveragePool.
    """

    x: Operand[Floating]
    count_include_pad: Attr[bool] = True
    divisor: Attr[int | None] = None
    result: Result

    def reference(x, kernel_size, stride, padding, dilation, ceil_mode, count_include_pad, divisor):
        rank = len(kernel_size)
        taps = pool_windows(wide(x), 0, kernel_size, stride, padding, dilation, ceil_mode)
        total = taps.sum(axis=tuple(range(-rank, 0)))
        with np.errstate(all="ignore"):
            if divisor is not None:
                return (total / total.dtype.type(divisor)).astype(x.dtype)
            lead, counts = x.ndim - rank, total.dtype.type(1)
            for i, out in enumerate(total.shape[lead:]):
                taps = tap_counts(out, x.shape[lead + i], kernel_size[i], stride[i], padding[i], padding[rank + i], dilation[i], count_include_pad)
                counts = counts * taps.astype(total.dtype).reshape(-1, *[1] * (rank - 1 - i))
            return (total / counts).astype(x.dtype)


def tap_counts(count: int, size: int, kernel: int, stride: int, low: int, high: int, dilation: int, include_pad: bool) -> np.ndarray:
    """How many taps of each of the `count` windows along one axis are counted."""
    places = np.arange(count)[:, None] * stride + np.arange(kernel) * dilation - low
    first, last = (-low, size + high) if include_pad else (0, size)
    return ((places >= first) & (places < last)).sum(1)


OPS = (MaxPool, MaxPoolWithIndices, AvgPool)
