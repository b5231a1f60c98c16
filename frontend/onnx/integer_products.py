"""Convolutions of 8-bit integers, by the kernels for f32: a sum of products of numbers up to 255 is exact in f32 while it has 256 terms."""
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


def integer_conv(conv: Callable[[Tensor, Tensor], Tensor], x: Tensor, weight: Tensor, groups: int) -> Tensor:
    """conv(x, weight) in i32, without a bias. x (n, channels, ...), weight (features, channels / groups, ...): f32 tensors of integers up to
    255 in absolute value."""
    sizes = weight.shape[1:]
    if not all(isinstance(size, int) for size in sizes) or (groups > 1 and prod(sizes) > TERMS):
        return _wide(conv, x, weight)
    if groups > 1:
        return conv(x, weight).astype(dtypes.int32)
    return Factor(conv, weight, 1, TERMS // max(prod(sizes[1:]), 1)).times(x, 1)


def _wide(function: Callable, a: Tensor, b: Tensor) -> Tensor:
    return function(a.astype(dtypes.int32), b.astype(dtypes.int32))


class Factor:
    """The right operand of a function that sums over one axis of each operand, cut into parts of `width` places of that axis."""

    def __init__(self, function: Callable, b: Tensor, axis: int, width: int):
        self.function, self.whole, self.width, count = function, b, width, b.shape[axis]
        self.parts = None
        if isinstance(count, int) and count <= width * PARTS:
            self.parts = [b] if count <= width else [slice_along(b, axis, i, min(width, count - i)) for i in range(0, count, width)]
            self.sizes = [part.shape[axis] for part in self.parts]

    def times(self, a: Tensor, axis: int) -> Tensor:
        """function(a, b) in i32: the sum of its values on the parts."""
        if self.parts is None:
            return _wide(self.function, a, self.whole)
        if len(self.parts) == 1:
            return self.function(a, self.whole).astype(dtypes.int32)
        total = None
        for i, part in enumerate(self.parts):
            product = self.function(slice_along(a, axis, i * self.width, self.sizes[i]), part).astype(dtypes.int32)
            total = product if total is None else total + product
        return total
