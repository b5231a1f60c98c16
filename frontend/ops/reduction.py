"""Reductions as users call them: any axes, numbers as truth values, flat positions, and functions composed of them.

`axis` None means all axes; `keepdims` leaves axes of size 1.
"""
from __future__ import annotations

import math

from ...dialect import dtypes
from ..tensor import Tensor
from .declared import as_tensor, declared as om

__all__ = [
    "all", "any", "argmax", "argmin", "count_nonzero", "cumprod", "cumsum", "logsumexp", "max", "mean", "min", "norm", "normalize", "prod",
    "std", "sum", "var",
]


def sum(x, axis=None, keepdims: bool = False, *, dtype=None) -> Tensor:
    """The sum; 0 of an empty axis. x is converted to `dtype` first when given; else integers and bool give 64 bits. Source: numpy."""
    return _as_dtype(om.sum(_before(x, dtype), axis=axis, keepdims=keepdims), dtype)


def prod(x, axis=None, keepdims: bool = False, *, dtype=None) -> Tensor:
    """The product; 1 of an empty axis. x is converted to `dtype` first when given; else integers and bool give 64 bits. Source: numpy."""
    return _as_dtype(om.prod(_before(x, dtype), axis=axis, keepdims=keepdims), dtype)


def max(x, axis=None, keepdims: bool = False) -> Tensor:
    """The largest element; NaN when there is one. ShapeError for an empty axis. Source: numpy."""
    return om.max(x, axis=axis, keepdims=keepdims)


def min(x, axis=None, keepdims: bool = False) -> Tensor:
    """The smallest element; NaN when there is one. ShapeError for an empty axis. Source: numpy."""
    return om.min(x, axis=axis, keepdims=keepdims)


def mean(x, axis=None, keepdims: bool = False) -> Tensor:
    """The mean; NaN of an empty axis. Integers and bool give f64. Source: numpy."""
    return om.mean(_floating(x), axis=axis, keepdims=keepdims)


def var(x, axis=None, keepdims: bool = False, *, correction: float = 0.0) -> Tensor:
    """The variance: sum(|x - mean|^2) / max(n - correction, 0). Integers and bool give f64. Source: array API; torch has correction 1."""
    return om.var(_floating(x), axis=axis, keepdims=keepdims, correction=correction)


def std(x, axis=None, keepdims: bool = False, *, correction: float = 0.0) -> Tensor:
    """The standard deviation: sqrt(var(x, correction)). Integers and bool give f64. Source: array API; torch has correction 1."""
    return om.std(_floating(x), axis=axis, keepdims=keepdims, correction=correction)


def logsumexp(x, axis=None, keepdims: bool = False) -> Tensor:
    """log(sum(exp(x))) without overflow; -inf of an empty axis. Integers and bool give f64."""
    return om.logsumexp(_floating(x), axis=axis, keepdims=keepdims)


def norm(x, ord: float = 2, axis=None, keepdims: bool = False) -> Tensor:
    """The vector norm sum(|x|^ord)^(1/ord), over all axes as one vector for axis None.

    ord inf and -inf: the largest and smallest |x|; 0: how many elements are not 0. Integers and bool give f64. ShapeError for an empty
    axis with an infinite ord. Source: array API, ``linalg.vector_norm``.
    """
    return om.norm(_floating(x), axis=axis, keepdims=keepdims, ord=ord)


def normalize(x, p: float = 2.0, axis=1, eps: float = 1e-12) -> Tensor:
    """x / max(norm(x, p), eps) along `axis`. Source: torch, ``normalize``."""
    x = _floating(x)
    return x / om.maximum(om.norm(x, axis=axis, keepdims=True, ord=p), eps)


def any(x, axis=None, keepdims: bool = False) -> Tensor:
    """Whether any element is true (a number: not 0); False of an empty axis. Result: bool."""
    return om.any(as_tensor(x).astype(bool), axis=axis, keepdims=keepdims)


def all(x, axis=None, keepdims: bool = False) -> Tensor:
    """Whether all elements are true (a number: not 0); True of an empty axis. Result: bool."""
    return om.all(as_tensor(x).astype(bool), axis=axis, keepdims=keepdims)


def count_nonzero(x, axis=None, keepdims: bool = False) -> Tensor:
    """How many elements are not 0. Result: i64."""
    return om.sum(as_tensor(x) != 0, axis=axis, keepdims=keepdims)


def argmax(x, axis: int | None = None, keepdims: bool = False) -> Tensor:
    """Position (i64) of the largest element along an axis, the first of equals, of a NaN when there is one; axis None: in the flat tensor.

    ShapeError for an empty axis. Source: numpy.
    """
    return _position(om.argmax, x, axis, keepdims)


def argmin(x, axis: int | None = None, keepdims: bool = False) -> Tensor:
    """Position (i64) of the smallest element along an axis, the first of equals, of a NaN when there is one; axis None: in the flat tensor.

    ShapeError for an empty axis. Source: numpy.
    """
    return _position(om.argmin, x, axis, keepdims)


def cumsum(x, axis: int | None = None, *, exclusive: bool = False, reverse: bool = False, dtype=None) -> Tensor:
    """The sum of the elements up to each place along an axis; axis None: of the flat tensor.

    exclusive: without the place itself. reverse: from the end. Dtype as of `sum`. Source: numpy; ONNX, ``CumSum``.
    """
    return _running(om.cumsum, x, axis, exclusive, reverse, dtype)


def cumprod(x, axis: int | None = None, *, exclusive: bool = False, reverse: bool = False, dtype=None) -> Tensor:
    """The product of the elements up to each place along an axis; axis None: of the flat tensor.

    exclusive: without the place itself. reverse: from the end. Dtype as of `prod`. Source: numpy.
    """
    return _running(om.cumprod, x, axis, exclusive, reverse, dtype)


def _position(op, x, axis, keepdims) -> Tensor:
    x = as_tensor(x)
    if axis is not None:
        return op(x, axis=axis, keepdims=keepdims)
    found = op(_flat(x), axis=0)
    return om.reshape(found, shape=(1,) * x.ndim) if keepdims else found


def _running(op, x, axis, exclusive, reverse, dtype) -> Tensor:
    x = _before(x, dtype)
    x, axis = (_flat(x), 0) if axis is None else (x, axis)
    return _as_dtype(op(x, axis=axis, exclusive=exclusive, reverse=reverse), dtype)


def _flat(x: Tensor) -> Tensor:
    return om.reshape(x, shape=(math.prod(x.shape),))


def _before(x, dtype) -> Tensor:
    return as_tensor(x) if dtype is None else as_tensor(x).astype(dtype)


def _as_dtype(x: Tensor, dtype) -> Tensor:
    return x if dtype is None else x.astype(dtype)


def _floating(x) -> Tensor:
    """Integers and bool as f64, in which numpy takes their mean."""
    x = as_tensor(x)
    return x if dtypes.is_floating(x.dtype) else x.astype(dtypes.float64)
