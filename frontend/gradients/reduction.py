"""Gradients of reductions and running sums. Equal extremes share the gradient evenly, as in torch's amax."""
from __future__ import annotations

import math

from ...dialect import symbolic
from ...dialect.ops import reduction as om
from ..ops.declared import declared as ops
from ..ops.shape import sizes
from ..tensor import Tensor
from .broadcasting import spread, with_axes
from .registry import gradient_of


def _count(x, axes):
    """How many elements are reduced into one: an int, or an i64 tensor where a size is symbolic."""
    count = symbolic.product(sizes(x)[a] for a in axes)
    if isinstance(count, int):
        return count
    total = 1
    for axis in axes:
        total = total * x.shape[axis]
    return ops.cast(total, dtype="int64")


@gradient_of(om.Sum)
def sum(call, gradient):
    return spread(gradient, call.x, call.axis, call.keepdims)


@gradient_of(om.Prod)
def prod(call, gradient):
    x, axes = call.x, call.axis
    kept = tuple(i for i in range(x.ndim) if i not in axes)
    order, shape = (*kept, *axes), sizes(x)
    flat = ops.reshape(ops.transpose(x, axes=order), shape=(*(shape[i] for i in kept), symbolic.product(shape[i] for i in axes)))
    others = ops.cumprod(flat, axis=-1, exclusive=True) * ops.cumprod(flat, axis=-1, exclusive=True, reverse=True)
    others = ops.transpose(ops.reshape(others, shape=tuple(shape[i] for i in order)), axes=tuple(order.index(i) for i in range(x.ndim)))
    return with_axes(gradient, x, axes, call.keepdims) * others


@gradient_of(om.Max, om.Min)
def max(call, gradient):
    x = call.x
    chosen = (x == with_axes(call.result, x, call.axis, call.keepdims)).astype(x.dtype)
    return with_axes(gradient, x, call.axis, call.keepdims) * chosen / ops.sum(chosen, axis=call.axis, keepdims=True)


@gradient_of(om.Mean)
def mean(call, gradient):
    return spread(gradient / _count(call.x, call.axis), call.x, call.axis, call.keepdims)


@gradient_of(om.Var)
def var(call, gradient):
    return _by_variance(call, with_axes(gradient, call.x, call.axis, call.keepdims))


@gradient_of(om.Std)
def std(call, gradient):
    y = call.result
    halved = ops.where(y == 0, 0.0, gradient * 0.5 / ops.where(y == 0, 1.0, y))
    return _by_variance(call, with_axes(halved, call.x, call.axis, call.keepdims))


def _by_variance(call, gradient):
    x, left = call.x, ops.maximum(_count(call.x, call.axis) - Tensor(call.correction, call.x.dtype), 0.0)
    return gradient * (x - ops.mean(x, axis=call.axis, keepdims=True)) * 2 / left


@gradient_of(om.Logsumexp)
def logsumexp(call, gradient):
    y = ops.where(ops.isfinite(call.result), call.result, 0.0)
    y, gradient = (with_axes(t, call.x, call.axis, call.keepdims) for t in (y, gradient))
    return gradient * ops.exp(call.x - y)


@gradient_of(om.Norm)
def norm(call, gradient):
    x, order = call.x, call.ord
    y, gradient = (with_axes(t, x, call.axis, call.keepdims) for t in (call.result, gradient))
    if order == 0:
        return None
    if order == 1:
        return gradient * ops.sign(x)
    if math.isinf(order):
        chosen = (ops.abs(x) == y).astype(x.dtype)
        return gradient * ops.sign(x) * chosen / ops.sum(chosen, axis=call.axis, keepdims=True)
    safe = ops.where(y == 0, 1.0, y)
    if order == 2:
        return ops.where(y == 0, 0.0, gradient / safe) * x
    size = ops.where(x == 0, 1.0, ops.abs(x))
    return ops.where((x == 0) | (y == 0), 0.0, gradient * ops.sign(x) * ops.pow(size / safe, order - 1))


@gradient_of(om.Cumsum)
def cumsum(call, gradient):
    return ops.cumsum(gradient, axis=call.axis, exclusive=call.exclusive, reverse=not call.reverse)


@gradient_of(om.Cumprod)
def cumprod(call, gradient):
    """By the products without each element, (.., i, k) for element i in the product at k: exact also where elements are 0."""
    from .broadcasting import move

    x, last = move(call.x, call.axis, call.x.ndim - 1), call.x.ndim - 1
    shape = sizes(x)
    places = ops.iota(size=shape[-1:])
    left, right = ops.reshape(places, shape=(shape[-1], 1)), ops.reshape(places, shape=(1, shape[-1]))
    rows = ops.reshape(x, shape=(*shape[:-1], 1, shape[-1]))
    others = ops.cumprod(ops.where(left == right, 1.0, rows), axis=-1, exclusive=call.exclusive, reverse=call.reverse)
    before, after = (right, left) if call.reverse else (left, right)
    takes_part = before < after if call.exclusive else before <= after
    gradient = ops.reshape(move(gradient, call.axis, last), shape=(*shape[:-1], 1, shape[-1]))
    return move(ops.sum(ops.where(takes_part, others * gradient, 0.0), axis=-1), last, call.axis)
