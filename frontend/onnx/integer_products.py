"""Products of 8-bit integers, by the kernels for f32: a sum of products of numbers up to 255 is exact in f32 while it has 256 terms."""
from __future__ import annotations

from math import prod
from typing import Callable

from ...dialect import dtypes
from ..ops.declared import declared as om
from ..ops.shape import slice_along
from ..tensor import Tensor

TERMS = 256  # 256 * 255 * 255 < 2**24
PARTS = 32  # f32 products of one integer product at most


def centered(x: Tensor, zero_point: Tensor | None) -> Tensor:
    """x - zero_point in f32. x: 8-bit integers; zero_point: a scalar, or what broadcasts to x."""
    wide = x.astype(dtypes.float32)
    return wide if zero_point is None else wide - zero_point.astype(dtypes.float32)


def integer_matmul(a: Tensor, b: Tensor) -> Tensor:
    """a @ b in i32. a, b: f32 tensors of integers up to 255 in absolute value."""
    return _by_parts(om.matmul, (a, a.ndim - 1), (b, max(b.ndim - 2, 0)), TERMS)


def integer_conv(conv: Callable[[Tensor, Tensor], Tensor], x: Tensor, weight: Tensor, groups: int) -> Tensor:
    """conv(x, weight) in i32, without a bias. x (n, channels, ...), weight (features, channels / groups, ...): f32 tensors of integers up to
    255 in absolute value."""
    sizes = weight.shape[1:]
    if not all(isinstance(size, int) for size in sizes) or (groups > 1 and prod(sizes) > TERMS):
        return _wide(conv, x, weight)
    if groups > 1:
        return conv(x, weight).astype(dtypes.int32)
    return _by_parts(conv, (x, 1), (weight, 1), TERMS // max(prod(sizes[1:]), 1))


def _wide(function: Callable, a: Tensor, b: Tensor) -> Tensor:
    return function(a.astype(dtypes.int32), b.astype(dtypes.int32))


def _by_parts(function: Callable, left: tuple[Tensor, int], right: tuple[Tensor, int], width: int) -> Tensor:
    """function(left, right), which sums over one axis of each: the sum of its values on `width` places of the axes at a time."""
    (a, first), (b, second) = left, right
    count = b.shape[second]
    if not isinstance(count, int) or count > width * PARTS:
        return _wide(function, a, b)
    if count <= width:
        return function(a, b).astype(dtypes.int32)
    total = None
    for start in range(0, count, width):
        size = min(width, count - start)
        part = function(slice_along(a, first, start, size), slice_along(b, second, start, size)).astype(dtypes.int32)
        total = part if total is None else total + part
    return total
