"""Dtypes in which decompositions compute."""
from __future__ import annotations

import functools
from typing import Callable

from ...dialect import dtypes
from ...dialect.graph import Node
from ...dialect.symbolic import product, Size


def wide_dtype(dtype):
    """f32 for f16 and bf16, else the dtype itself."""
    return dtypes.float32 if dtypes.is_floating(dtype) and dtype.itemsize == 2 else dtype


def widened(x):
    """A f16 or bf16 node as f32; anything else as it is."""
    return x.builder.cast(x, wide_dtype(x.dtype)) if isinstance(x, Node) else x


def rounded_once(function: Callable) -> Callable:
    """Give a decomposition its f16 and bf16 operands as f32, and convert its result to the dtype of the first operand."""
    @functools.wraps(function)
    def decomposition(ops, **fields):
        first = next(v for v in fields.values() if isinstance(v, Node))
        result = function(ops, **{name: widened(v) for name, v in fields.items()})
        return first.builder.cast(result, first.dtype)
    return decomposition


def count_of(x: Node, axes) -> Size:
    """Number of elements that a reduction over axes makes one of."""
    return product(x.shape[a] for a in axes)


def number(x: Node, size: Size):
    """A size as an operand of arithmetic with x: a Python float, or a tensor of x's dtype when it is symbolic."""
    return float(size) if isinstance(size, int) else x.builder.cast(x.builder.from_size(size), x.dtype)
