"""Elementwise functions composed of ops, and forms of ops that take more dtypes than the op itself."""
from __future__ import annotations

import numpy as np

from ...dialect import dtypes
from ...errors import OnemlirError
from ..tensor import Tensor
from .declared import as_tensor, declared as om

__all__ = [
    "allclose", "bitwise_invert", "bitwise_left_shift", "bitwise_right_shift", "cbrt", "ceil", "clip", "floor", "hypot", "isclose", "isneginf",
    "isposinf", "lerp", "logaddexp", "logical_and", "logical_not", "logical_or", "logical_xor", "logit", "nan_to_num", "positive", "round",
    "signbit", "trunc",
]


def floor(x) -> Tensor:
    """The largest integer not above x; integers and bool stay as they are. Source: array API, ``floor``."""
    return _rounded(om.floor, x)


def ceil(x) -> Tensor:
    """The smallest integer not below x; integers and bool stay as they are. Source: array API, ``ceil``."""
    return _rounded(om.ceil, x)


def trunc(x) -> Tensor:
    """x without its fraction; integers and bool stay as they are. Source: array API, ``trunc``."""
    return _rounded(om.trunc, x)


def _rounded(function, x) -> Tensor:
    x = as_tensor(x)
    return function(x) if dtypes.is_floating(x.dtype) else x


def round(x, decimals: int = 0) -> Tensor:
    """x rounded to `decimals` places, halves to even; integers stay as they are for decimals >= 0. Source: numpy, ``round``."""
    x = as_tensor(x)
    if not dtypes.is_floating(x.dtype):
        if decimals < 0:
            raise OnemlirError(f"round: {x.dtype} cannot be rounded to {decimals} decimals; convert it to floating first")
        return x
    if decimals == 0:
        return om.round(x)
    factor = 10.0 ** abs(decimals)
    return om.round(x * factor) / factor if decimals > 0 else om.round(x / factor) * factor


def logical_and(x, y) -> Tensor:
    """x and y, elementwise; numbers count as true where they are not 0. Result: bool."""
    return om.logical_and(_truth(x), _truth(y))


def logical_or(x, y) -> Tensor:
    """x or y, elementwise; numbers count as true where they are not 0. Result: bool."""
    return om.logical_or(_truth(x), _truth(y))


def logical_xor(x, y) -> Tensor:
    """x or y but not both, elementwise; numbers count as true where they are not 0. Result: bool."""
    return om.logical_xor(_truth(x), _truth(y))


def logical_not(x) -> Tensor:
    """not x, elementwise; numbers count as true where they are not 0. Result: bool."""
    return om.logical_not(_truth(x))


def _truth(x) -> Tensor:
    return as_tensor(x).astype(bool)


def positive(x) -> Tensor:
    """x itself."""
    return as_tensor(x)


def clip(x, min=None, max=None) -> Tensor:
    """minimum(maximum(x, min), max): x limited to [min, max]; a bound that is None does not limit.

    Bounds broadcast with x and promote with it; NaN stays; where min > max the result is max. Source: numpy, ``clip``.
    """
    x = as_tensor(x)
    x = x if min is None else om.maximum(x, min)
    return x if max is None else om.minimum(x, max)


def signbit(x) -> Tensor:
    """Whether the sign bit of x is set, also of -0.0 and NaN. Result: bool. Source: array API."""
    x = as_tensor(x)
    return om.copysign(1.0, x) < 0 if dtypes.is_floating(x.dtype) else x < 0


def isposinf(x) -> Tensor:
    """Whether x is +inf. Result: bool."""
    return as_tensor(x) == np.inf


def isneginf(x) -> Tensor:
    """Whether x is -inf. Result: bool."""
    return as_tensor(x) == -np.inf


def nan_to_num(x, nan: float = 0.0, posinf: float | None = None, neginf: float | None = None) -> Tensor:
    """x with NaN and the infinities replaced, these by the dtype's largest and smallest number unless given. Source: numpy."""
    x = as_tensor(x)
    if not dtypes.is_floating(x.dtype):
        return x
    import ml_dtypes

    limits = ml_dtypes.finfo(x.dtype)
    x = om.where(om.isnan(x), nan, x)
    x = om.where(isposinf(x), float(limits.max) if posinf is None else posinf, x)
    return om.where(isneginf(x), float(limits.min) if neginf is None else neginf, x)


def isclose(x, y, rtol: float = 1e-5, atol: float = 1e-8, equal_nan: bool = False) -> Tensor:
    """|x - y| <= atol + rtol * |y|; infinities are close to themselves, NaN only with equal_nan. Result: bool. Source: numpy."""
    x, y = as_tensor(x), as_tensor(y)
    dtype = dtypes.promote(x.dtype, y.dtype)
    if not dtypes.is_floating(dtype):
        x, y = x.astype(dtypes.float64), y.astype(dtypes.float64)
    near = om.logical_and(om.abs(x - y) <= om.abs(y) * rtol + atol, om.isfinite(y))
    close = om.logical_or(near, x == y)
    return om.logical_or(close, om.logical_and(om.isnan(x), om.isnan(y))) if equal_nan else close


def allclose(x, y, rtol: float = 1e-5, atol: float = 1e-8, equal_nan: bool = False) -> Tensor:
    """Whether all elements are close as `isclose` says. Result: rank 0, bool."""
    return om.all(isclose(x, y, rtol, atol, equal_nan))


def hypot(x, y) -> Tensor:
    """sqrt(x^2 + y^2) without overflow between; inf where either is infinite. Source: array API, ``hypot``."""
    a, b = om.abs(_floating(x)), om.abs(_floating(y))
    larger, smaller = om.maximum(a, b), om.minimum(a, b)
    ratio = om.where(larger == 0, 0.0, smaller / larger)
    plain = larger * om.sqrt(ratio * ratio + 1.0)
    return om.where(om.logical_or(a == np.inf, b == np.inf), np.inf, plain)


def logaddexp(x, y) -> Tensor:
    """log(exp(x) + exp(y)) without overflow. Source: array API, ``logaddexp``."""
    x, y = _floating(x), _floating(y)
    apart = om.log1p(om.exp(-om.abs(x - y)))
    return om.where(x == y, x + float(np.log(2)), om.maximum(x, y) + apart)


def cbrt(x) -> Tensor:
    """The real cube root, also of negative x. A step of Newton's after a power. Source: numpy, ``cbrt``."""
    x = _floating(x)
    size = om.abs(x)
    root = om.pow(size, 1 / 3)
    better = root - (root - size / (root * root)) / 3.0
    usable = om.logical_and(om.isfinite(better), root > 0)
    return om.copysign(om.where(usable, better, root), x)


def logit(x, eps: float | None = None) -> Tensor:
    """log(x / (1 - x)), the inverse of sigmoid; x is first limited to [eps, 1 - eps] when eps is given. Source: torch, ``logit``."""
    x = _floating(x)
    x = x if eps is None else clip(x, eps, 1 - eps)
    return om.log(x / (1.0 - x))


def lerp(x, y, weight) -> Tensor:
    """x + weight * (y - x). Source: torch, ``lerp``."""
    x = as_tensor(x)
    return x + (as_tensor(y) - x) * weight


def _floating(x) -> Tensor:
    x = as_tensor(x)
    return x.astype(dtypes.floating_for(x.dtype))


def bitwise_invert(x) -> Tensor:
    """~x; the array API's name of `bitwise_not`."""
    return om.bitwise_not(x)


def bitwise_left_shift(x, y) -> Tensor:
    """x << y; the array API's name of `left_shift`."""
    return om.left_shift(x, y)


def bitwise_right_shift(x, y) -> Tensor:
    """x >> y; the array API's name of `right_shift`."""
    return om.right_shift(x, y)
