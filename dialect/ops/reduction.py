"""Reductions and running sums. `axis` None means all axes; `keepdims` leaves axes of size 1.

f16 and bf16 are computed in f32 and rounded once. Source of meanings: numpy, and the array API standard for `correction`.
"""
from __future__ import annotations

import math

import numpy as np

from ...errors import ShapeError
from .. import dtypes
from ..attributes import Axes, Axis
from ..declare import AnyDType, Attr, Boolean, Composite, Floating, Numeric, Op, Operand, Pure, Result
from ..shapes import require_less_equal, show, TensorType
from .elementwise import quiet, rounded_once, wide


class Reduction(Op, abstract=True):
    """Base: one operand, axes to reduce over."""

    x: Operand[Numeric]
    axis: Attr[Axes] = None
    keepdims: Attr[bool] = False
    result: Result

    @classmethod
    def infer(cls, x, axis, keepdims, **_):
        return TensorType(reduced_shape(x.shape, axis, keepdims), cls.result_dtype(x.dtype))

    @staticmethod
    def result_dtype(dtype):
        return dtype


class FloatReduction(Reduction, abstract=True):
    """Base of reductions that are composed of simpler ones."""

    x: Operand[Floating]
    traits = (Pure, Composite)


def reduced_shape(shape, axes, keepdims: bool):
    """The shape after reducing over `axes` (non-negative)."""
    return tuple(1 if i in axes else size for i, size in enumerate(shape) if keepdims or i not in axes)


def refuse_empty(name: str, x: TensorType, axes) -> None:
    """ShapeError when one of the reduced axes is empty: the reduction has no neutral element."""
    for axis in axes:
        why = f"{name} over axis {axis}, which is empty in shape {show(x.shape)}: there is no result"
        if x.shape[axis] == 0:
            raise ShapeError(why)
        if not isinstance(x.shape[axis], int):
            require_less_equal(1, x.shape[axis], why)


def lowest(dtype: np.dtype):
    """What a maximum starts from: -inf, or the smallest integer."""
    return dtype.type(-np.inf if dtypes.is_floating(dtype) else np.iinfo(dtype).min)


def highest(dtype: np.dtype):
    """What a minimum starts from: inf, or the largest integer."""
    return dtype.type(np.inf if dtypes.is_floating(dtype) else np.iinfo(dtype).max)


def count_of(shape, axes) -> int:
    """Number of elements that are reduced into one."""
    return math.prod(shape[a] for a in axes)


class Sum(Reduction):
    """The sum; 0 of an empty axis. Integers widen to 64 bits, f16 and bf16 are summed in f32."""

    x: Operand[AnyDType]
    result_dtype = staticmethod(dtypes.sum_dtype)

    @quiet
    def reference(x, axis, keepdims):
        return np.asarray(np.sum(wide(x), axis=axis, keepdims=keepdims)).astype(dtypes.sum_dtype(x.dtype))


class Prod(Reduction):
    """The product; 1 of an empty axis. Integers widen to 64 bits, f16 and bf16 are multiplied in f32."""

    x: Operand[AnyDType]
    result_dtype = staticmethod(dtypes.sum_dtype)

    @quiet
    def reference(x, axis, keepdims):
        return np.asarray(np.prod(wide(x), axis=axis, keepdims=keepdims)).astype(dtypes.sum_dtype(x.dtype))


class Max(Reduction):
    """The largest element; NaN when there is one. ShapeError for an empty axis."""

    @quiet
    def reference(x, axis, keepdims):
        return np.asarray(np.max(x, axis=axis, keepdims=keepdims, initial=lowest(x.dtype)))

    def verify(x, axis, keepdims):
        refuse_empty("max", x, axis)


class Min(Reduction):
    """The smallest element; NaN when there is one. ShapeError for an empty axis."""

    @quiet
    def reference(x, axis, keepdims):
        return np.asarray(np.min(x, axis=axis, keepdims=keepdims, initial=highest(x.dtype)))

    def verify(x, axis, keepdims):
        refuse_empty("min", x, axis)


class Any(Reduction):
    """Whether any element is true; false of an empty axis. `ops.any` takes numbers too: those that are not 0."""

    x: Operand[Boolean]
    reference = staticmethod(lambda x, axis, keepdims: np.asarray(np.any(x, axis=axis, keepdims=keepdims)))


class All(Reduction):
    """Whether all elements are true; true of an empty axis. `ops.all` takes numbers too: those that are not 0."""

    x: Operand[Boolean]
    reference = staticmethod(lambda x, axis, keepdims: np.asarray(np.all(x, axis=axis, keepdims=keepdims)))


class ArgReduction(Op, abstract=True):
    """Base of positions of extremes along one axis; an i64 result."""

    x: Operand[Numeric]
    axis: Attr[Axis]
    keepdims: Attr[bool] = False
    result: Result

    @classmethod
    def infer(cls, x, axis, keepdims):
        return TensorType(reduced_shape(x.shape, (axis,), keepdims), dtypes.int64)

    @classmethod
    def verify(cls, x, axis, keepdims):
        refuse_empty(cls.opname, x, (axis,))


class Argmax(ArgReduction):
    """Position of the largest element along an axis, the first of equals; a NaN counts as the largest. ShapeError for an empty axis."""

    reference = staticmethod(lambda x, axis, keepdims: np.asarray(np.argmax(wide(x), axis=axis, keepdims=keepdims)))


class Argmin(ArgReduction):
    """Position of the smallest element along an axis, the first of equals; a NaN counts as the smallest. ShapeError for an empty axis."""

    reference = staticmethod(lambda x, axis, keepdims: np.asarray(np.argmin(wide(x), axis=axis, keepdims=keepdims)))


class Mean(FloatReduction):
    """The mean; NaN of an empty axis."""

    @rounded_once
    def reference(x, axis, keepdims):
        return np.sum(x, axis=axis, keepdims=keepdims) / x.dtype.type(count_of(x.shape, axis))


class Var(FloatReduction):
    """The variance: sum(|x - mean(x)|^2) / max(n - correction, 0) over n elements; correction 1 is the unbiased estimate.

    NaN where nothing is left to divide by and the sum is 0.
    """

    correction: Attr[float] = 0.0

    @rounded_once
    def reference(x, axis, keepdims, correction):
        count = count_of(x.shape, axis)
        centered = x - np.sum(x, axis=axis, keepdims=True) / x.dtype.type(count)
        return np.sum(centered * centered, axis=axis, keepdims=keepdims) / x.dtype.type(max(count - correction, 0))


class Std(FloatReduction):
    """The standard deviation: sqrt(var(x, correction))."""

    correction: Attr[float] = 0.0

    @rounded_once
    def reference(x, axis, keepdims, correction):
        return np.sqrt(Var.reference(x=x, axis=axis, keepdims=keepdims, correction=correction))


class Logsumexp(FloatReduction):
    """log(sum(exp(x))), without overflow; -inf of an empty axis."""

    @rounded_once
    def reference(x, axis, keepdims):
        top = np.max(x, axis=axis, keepdims=True, initial=-np.inf)
        top = np.where(np.isfinite(top), top, x.dtype.type(0))
        total = np.log(np.sum(np.exp(x - top), axis=axis, keepdims=True)) + top
        return total if keepdims else np.squeeze(total, axis=axis)


class Norm(FloatReduction):
    """The vector norm sum(|x|^ord)^(1/ord); ord inf and -inf are the largest and smallest |x|, ord 0 counts what is not 0.

    ShapeError for an empty axis with ord infinite. Source: array API, ``linalg.vector_norm``.
    """

    ord: Attr[float] = 2.0

    def verify(x, axis, keepdims, ord):
        if math.isinf(ord):
            refuse_empty("norm with an infinite ord", x, axis)

    @rounded_once
    def reference(x, axis, keepdims, ord):
        size = np.abs(x)
        if math.isinf(ord):
            extreme, start = (np.max, 0) if ord > 0 else (np.min, np.inf)
            return extreme(size, axis=axis, keepdims=keepdims, initial=start)
        if ord == 0:
            return np.sum(size != 0, axis=axis, keepdims=keepdims).astype(x.dtype)
        if ord == 2:
            return np.sqrt(np.sum(size * size, axis=axis, keepdims=keepdims))
        total = np.sum(size if ord == 1 else size ** x.dtype.type(ord), axis=axis, keepdims=keepdims)
        return total if ord == 1 else total ** x.dtype.type(1 / ord)


class Accumulation(Op, abstract=True):
    """Base of running reductions along one axis."""

    x: Operand[AnyDType]
    axis: Attr[Axis]
    exclusive: Attr[bool] = False
    reverse: Attr[bool] = False
    result: Result

    @classmethod
    def infer(cls, x, axis, exclusive, reverse):
        return x.with_dtype(dtypes.sum_dtype(x.dtype))


class Cumsum(Accumulation):
    """The sum of the elements up to and including each place along an axis.

    exclusive: without the place itself, from 0. reverse: from the end. Integers widen to 64 bits. Source: numpy; ONNX's CumSum.
    """

    def reference(x, axis, exclusive, reverse):
        return running(np.cumsum, 0, x, axis, exclusive, reverse)


class Cumprod(Accumulation):
    """The product of the elements up to and including each place along an axis.

    exclusive: without the place itself, from 1. reverse: from the end. Integers widen to 64 bits. Source: numpy.
    """

    def reference(x, axis, exclusive, reverse):
        return running(np.cumprod, 1, x, axis, exclusive, reverse)


@quiet
def running(function, start, x, axis, exclusive, reverse):
    """numpy's cumsum or cumprod with ONNX's options, in the accumulator's dtype."""
    dtype = dtypes.sum_dtype(x.dtype)
    y = np.flip(x, axis) if reverse else x
    if exclusive and x.shape[axis]:
        first = np.full_like(np.take(y, [0], axis), start)
        y = np.concatenate([first, np.take(y, range(x.shape[axis] - 1), axis)], axis)
    y = function(wide(y), axis=axis, dtype=wide(np.empty(0, dtype)).dtype).astype(dtype)
    return np.flip(y, axis) if reverse else y


OPS = (Sum, Prod, Max, Min, Any, All, Argmax, Argmin, Mean, Var, Std, Logsumexp, Norm, Cumsum, Cumprod)
