"""Convolutions of 8-bit integers, by the kernels for f32: a sum of products of numbers up to 255 is exact in f32 while it has 256 terms."""
from __future__ import annotations

from functools import reduce
from math import prod
from operator import add
from typing import Callable

from ...dialect import dtypes
from ..ops.shape import slice_along
from ..tensor import Tensor

TERMS = 256  # 256 * 255 * 255 < 2**24
PARTS = 32  # f32 convolutions of one of integers at most


def centered(x: Tensor, zero_point: Tensor | None) -> Tensor:
    """x - zero_point in f32. x: 8-bit integers; zero_point: a scalar, or what broadcasts to x."""
    wide = x.astype(dtypes.float32)
    return wide if zero_point is None else wide - zero_point.astype(dtypes.float32)


def integer_conv(conv: Callable[[Tensor, Tensor], Tensor], x: Tensor, weight: Tensor, groups: int) -> Tensor:
    """conv(x, weight) in i32, without a bias. x (n, channels, ...), weight (features, channels / groups, ...): f32 tensors of integers up to
    255 in absolute value."""
    sizes = weight.shape[1:]
    known = all(isinstance(size, int) for size in sizes)
    width = TERMS // max(prod(sizes[1:]), 1) if known else 0  # channels of a part
    if not known or sizes[0] > (width if groups > 1 else width * PARTS):
        return conv(x.astype(dtypes.int32), weight.astype(dtypes.int32))
    if sizes[0] <= width:
        return conv(x, weight).astype(dtypes.int32)
    parts = [(first, min(width, sizes[0] - first)) for first in range(0, sizes[0], width)]
    return reduce(add, (conv(slice_along(x, 1, *part), slice_along(weight, 1, *part)).astype(dtypes.int32) for part in parts))
