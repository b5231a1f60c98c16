"""Tensors from shapes and values."""
from __future__ import annotations

import math

import numpy as np

from ...dialect import dtypes, symbolic
from ...dialect.attributes import Int
from ...dialect.declare import REGISTRY
from ...errors import OnemlirError, ShapeError
from ..dispatch import apply
from ..symbolic_int import size_of, SymbolicInt
from ..tensor import Tensor, tensor
from .declared import as_tensor

__all__ = ["full", "zeros", "ones", "empty", "full_like", "zeros_like", "ones_like", "empty_like", "arange", "linspace", "eye"]


def number(function: str, name: str, value):
    """The value as it is when it is a real number, or a tensor or size that stands for one; else OnemlirError."""
    is_number = isinstance(value, (int, float, np.integer, np.floating, SymbolicInt)) or getattr(value, "ndim", None) == 0
    if isinstance(value, bool) or not is_number:
        raise OnemlirError(f"{function}: '{name}' must be a number, found {value!r:.60}")
    if isinstance(value, (float, np.floating)) and not math.isfinite(value):
        raise OnemlirError(f"{function}: '{name}' must be finite, found {value}")
    return value


def _count(name: str, value):
    """A size as it is, symbolic or an int that is not negative."""
    if isinstance(value, SymbolicInt):
        return value
    count = Int().check(value, name, ())
    if count < 0:
        raise ShapeError(f"'{name}' must not be negative, found {count}")
    return count


def full(shape, value, dtype=None) -> Tensor:
    """A tensor of `shape` filled with `value` (a scalar, size or rank-0 tensor); dtype from the value when not given."""
    value = value if isinstance(value, Tensor) else as_tensor(value) if isinstance(value, SymbolicInt) else tensor(value, dtype)
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
    x = x if isinstance(x, Tensor) else tensor(x)
    return full(x.shape, value, x.dtype if dtype is None else dtype)


def zeros_like(x: Tensor, dtype=None) -> Tensor:
    """Zeros of x's shape, and dtype unless given."""
    return full_like(x, 0, dtype)


def ones_like(x: Tensor, dtype=None) -> Tensor:
    """Ones of x's shape, and dtype unless given."""
    return full_like(x, 1, dtype)


def empty_like(x: Tensor, dtype=None) -> Tensor:
    """A tensor of x's shape whose elements are unspecified; they are zero here."""
    return zeros_like(x, dtype)


def arange(start, stop=None, step=1, dtype=None) -> Tensor:
    """start, start + step, ... up to but without stop; ``arange(stop)`` starts at 0.

    i64 for ints, f32 when a bound is a float, unless dtype says otherwise. Bounds may be symbolic sizes. Raises OnemlirError for step 0.
    """
    start, stop = (0, start) if stop is None else (start, stop)
    for name, value in (("start", start), ("stop", stop), ("step", step)):
        number("arange", name, value)
    if step == 0:
        raise OnemlirError("arange: 'step' must not be 0")
    if any(isinstance(v, SymbolicInt) for v in (start, stop, step)):
        return _symbolic_arange(start, stop, step, dtype)
    wanted = dtype if dtype is not None else dtypes.float32 if any(isinstance(v, float) for v in (start, stop, step)) else dtypes.int64
    return Tensor._wrap(np.arange(start, stop, step).astype(dtypes.dtype_of(wanted)))


def _symbolic_arange(start, stop, step, dtype) -> Tensor:
    """The recorded form: as many elements as fit, none when stop is not beyond start."""
    if not isinstance(step, int):
        raise OnemlirError(f"arange: 'step' must be an int where a bound is a symbolic size, found {step!r}")
    first, last = size_of(start), size_of(stop)
    span = last - first if step > 0 else first - last
    count = symbolic.maximum(symbolic.floordiv(span + (abs(step) - 1), abs(step)), 0)
    numbers = apply(REGISTRY["om.iota"], [], {"size": (count,), "dtype": dtypes.int64})
    numbers = numbers if step == 1 else numbers * step
    numbers = numbers if isinstance(first, int) and first == 0 else numbers + start
    return numbers if dtype is None else numbers.astype(dtype)


def linspace(start: float, stop: float, num: int, dtype=dtypes.float32, endpoint: bool = True) -> Tensor:
    """`num` numbers from start to stop at equal distances; without endpoint, stop is left out."""
    number("linspace", "start", start), number("linspace", "stop", stop)
    num = _count("num", num)
    return Tensor._wrap(np.linspace(start, stop, num, endpoint=endpoint).astype(dtypes.dtype_of(dtype)))


def eye(rows, columns=None, k: int = 0, dtype=dtypes.float32) -> Tensor:
    """Ones on the k-th diagonal, zeros elsewhere: (rows, columns). Sizes may be symbolic."""
    rows = _count("rows", rows)
    columns = rows if columns is None else _count("columns", columns)
    i, j = arange(rows).reshape((-1, 1)), arange(columns)
    return (i + k == j).astype(dtype)
