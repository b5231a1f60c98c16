"""Right operands that several products share (keys and values of grouped heads): the rows of those products become rows of one."""
from __future__ import annotations

from ...dialect.symbolic import product
from .registry import TensorValue


def rows_together(build, x: TensorValue, y: TensorValue) -> tuple[TensorValue, int]:
    """x for the same product where y has axes of size 1 before its matrix and x has other ones, and how many axes those are: x (..., g, m, k)
    becomes (..., g * m, k), so that y (..., 1, k, n) is read once for all of them."""
    shared = 0
    while x.rank > 2 and y.rank - shared > 2 and y.shape[-3 - shared] == 1 and x.shape[-3] != 1:
        type = x.type.with_shape((*x.shape[:-3], product(x.shape[-3:-1]), x.shape[-1]))
        x, shared = TensorValue(build.reshape(x.value, x.type, type), type, x.constant), shared + 1
    return x, shared
