"""Tensors from shapes and values."""
from __future__ import annotations

import numpy as np

from ...dialect import dtypes
from ...dialect.declare import REGISTRY
from ..dispatch import apply
from ..tensor import Tensor

__all__ = ["full", "zeros", "ones", "empty", "full_like", "zeros_like", "ones_like"]


def full(shape, value, dtype=None) -> Tensor:
    """A tensor of `shape` filled with `value` (a scalar or rank-0 tensor); dtype from the value when not given."""
    if not isinstance(value, Tensor):
        value = Tensor(value, dtype)
    return apply(REGISTRY["om.full"], [value if dtype is None else value.astype(dtype)], {"shape": shape})


def zeros(shape, dtype=dtypes.float32) -> Tensor:
    """A tensor of zeros."""
    return full(shape, Tensor._wrap(np.zeros((), dtypes.dtype_of(dtype))))


def ones(shape, dtype=dtypes.float32) -> Tensor:
    """A tensor of ones."""
    return full(shape, Tensor._wrap(np.ones((), dtypes.dtype_of(dtype))))


def empty(shape, dtype=dtypes.float32) -> Tensor:
    """A tensor whose elements are unspecified; they are zero here."""
    return zeros(shape, dtype)


def full_like(x: Tensor, value, dtype=None) -> Tensor:
    """A tensor of x's shape, and dtype unless given, filled with `value`."""
    return full(x.shape, value, x.dtype if dtype is None else dtype)


def zeros_like(x: Tensor, dtype=None) -> Tensor:
    """Zeros of x's shape, and dtype unless given."""
    return full_like(x, 0, dtype)


def ones_like(x: Tensor, dtype=None) -> Tensor:
    """Ones of x's shape, and dtype unless given."""
    return full_like(x, 1, dtype)
