"""Decompositions of activation functions."""
from __future__ import annotations

import math

from ...dialect.ops.activation import Gelu, Softmax
from .registry import decomposes


@decomposes(Softmax)
def softmax(ops, x, axis):
    shifted = ops.exp(x - ops.max(x, axis=axis, keepdims=True))
    return shifted / ops.sum(shifted, axis=axis, keepdims=True)


@decomposes(Gelu)
def gelu(ops, x, approximate):
    if approximate == "tanh":
        inner = ops.tanh((x + x * x * x * 0.044715) * math.sqrt(2 / math.pi))
    else:
        inner = ops.erf(x * math.sqrt(0.5))
    return x * 0.5 * (inner + 1.0)
