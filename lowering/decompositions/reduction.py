"""Decompositions of reductions into sums and extremes."""
from __future__ import annotations

import math

from mlir import ir

from ...dialect.ops import reduction as om
from ...dialect.symbolic import less_equal
from .precision import count_of, number, rounded_once
from .registry import decomposes

MAY_BE_EMPTY = "om.may_be_empty"


def largest(ops, x, axes):
    """The maximum over axes, which stay with size 1; -inf where they are empty: `om.may_be_empty` lifts the op's refusal."""
    if any(isinstance(x.shape[a], int) and x.shape[a] == 0 for a in axes):
        return x.builder.full(-math.inf, tuple(1 if i in axes else size for i, size in enumerate(x.shape)), x.dtype)
    result = ops.max(x, axis=axes, keepdims=True)
    if any(less_equal(1, x.shape[a]) is not True for a in axes):
        result.value.owner.operation.attributes[MAY_BE_EMPTY] = ir.UnitAttr.get()
    return result


@decomposes(om.Mean)
@rounded_once
def mean(ops, x, axis, keepdims):
    return ops.sum(x, axis=axis, keepdims=keepdims) / number(x, count_of(x, axis))


@decomposes(om.Var)
@rounded_once
def var(ops, x, axis, keepdims, correction):
    count = count_of(x, axis)
    centered = x - ops.sum(x, axis=axis, keepdims=True) / number(x, count)
    if isinstance(count, int):
        divisor = max(count - correction, 0.0)
    else:
        divisor = ops.maximum(number(x, count) - correction, 0.0)
    return ops.sum(centered * centered, axis=axis, keepdims=keepdims) / divisor


@decomposes(om.Std)
@rounded_once
def std(ops, x, axis, keepdims, correction):
    return ops.sqrt(ops.var(x, axis=axis, keepdims=keepdims, correction=correction))


@decomposes(om.Logsumexp)
@rounded_once
def logsumexp(ops, x, axis, keepdims):
    top = largest(ops, x, axis)
    top = ops.where(ops.isfinite(top), top, 0.0)
    total = ops.log(ops.sum(ops.exp(x - top), axis=axis, keepdims=True)) + top
    return total if keepdims else ops.reshape(total, shape=tuple(s for i, s in enumerate(x.shape) if i not in axis))


@decomposes(om.Norm)
@rounded_once
def norm(ops, x, axis, keepdims, ord):
    over = dict(axis=axis, keepdims=keepdims)
    if ord == 2:
        return ops.sqrt(ops.sum(x * x, **over))
    if ord == 0:
        return ops.sum(ops.cast(x != 0, dtype=x.dtype), **over)
    size = ops.abs(x)
    if math.isinf(ord):
        return ops.max(size, **over) if ord > 0 else ops.min(size, **over)
    return ops.sum(size, **over) if ord == 1 else ops.sum(size ** ord, **over) ** (1 / ord)
