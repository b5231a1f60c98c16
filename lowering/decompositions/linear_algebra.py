"""Decompositions of matrix products with extras."""
from __future__ import annotations

from ...dialect.ops.linear_algebra import Linear
from .precision import rounded_once
from .registry import decomposes


@decomposes(Linear)
@rounded_once
def linear(ops, x, weight, bias):
    product = ops.matmul(x, ops.transpose(weight))
    return product if bias is None else product + bias
