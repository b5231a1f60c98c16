"""Gradients of normalizations."""
from __future__ import annotations

import numpy as np

from ...dialect import symbolic
from ...dialect.ops import normalization as om
from ..ops.declared import declared as ops
from ..ops.shape import sizes
from .composed import composed_gradient
from .registry import gradient_of


def _standardized(x, axes, eps: float):
    """(x - mean) / sqrt(var + eps) over axes, and 1 / sqrt(var + eps)."""
    centered = x - ops.mean(x, axis=axes, keepdims=True)
    inverse = ops.rsqrt(ops.mean(ops.square(centered), axis=axes, keepdims=True) + eps)
    return centered * inverse, inverse


def _through(gradient, standard, inverse, axes):
    """The gradient of x from that of its standardized form."""
    mean = lambda t: ops.mean(t, axis=axes, keepdims=True)
    return inverse * (gradient - mean(gradient) - standard * mean(gradient * standard))


@gradient_of(om.LayerNorm)
def layer_norm(call, gradient):
    x, rank = call.x, call.x.ndim
    axes, lead = tuple(range(rank - call.axes_count, rank)), tuple(range(rank - call.axes_count))
    standard, inverse = _standardized(x, axes, call.eps)
    scaled = gradient if call.weight is None else gradient * call.weight
    return (_through(scaled, standard, inverse, axes) if call.needs("x") else None,
            ops.sum(gradient * standard, axis=lead) if call.needs("weight") else None,
            ops.sum(gradient, axis=lead) if call.needs("bias") else None)


@gradient_of(om.GroupNorm)
def group_norm(call, gradient):
    return _by_groups(call, gradient, call.num_groups)


@gradient_of(om.InstanceNorm)
def instance_norm(call, gradient):
    return _by_groups(call, gradient, sizes(call.x)[1])


def _by_groups(call, gradient, groups):
    shape = sizes(call.x)
    grouped = (shape[0], groups, symbolic.floordiv(symbolic.product(shape[1:]), groups))
    axes = (0, *range(2, call.x.ndim))
    standard, inverse = _standardized(ops.reshape(call.x, shape=grouped), (2,), call.eps)
    scaled = gradient if call.weight is None else gradient * _per_channel(call.weight, call.x.ndim)
    by_x = ops.reshape(_through(ops.reshape(scaled, shape=grouped), standard, inverse, (2,)), shape=shape) if call.needs("x") else None
    by_weight = ops.sum(gradient * ops.reshape(standard, shape=shape), axis=axes) if call.needs("weight") else None
    return by_x, by_weight, ops.sum(gradient, axis=axes) if call.needs("bias") else None


def _per_channel(x, rank: int):
    return ops.reshape(x, shape=(1, sizes(x)[0], *(1,) * (rank - 2)))


@gradient_of(om.BatchNorm)
def batch_norm(call, gradient):
    x, rank, axes = call.x, call.x.ndim, (0, *range(2, call.x.ndim))
    inverse = ops.rsqrt(call.var + call.eps)
    factor = inverse if call.weight is None else inverse * call.weight
    total = ops.sum(gradient, axis=axes)
    by_scale = None
    if call.needs("var") or call.needs("weight"):
        by_scale = ops.sum(gradient * (x - _per_channel(call.mean, rank)), axis=axes)
    return (gradient * _per_channel(factor, rank) if call.needs("x") else None,
            -total * factor if call.needs("mean") else None,
            by_scale * factor * ops.square(inverse) * -0.5 if call.needs("var") else None,
            by_scale * inverse if call.needs("weight") else None,
            total if call.needs("bias") else None)


@composed_gradient(om.RmsNorm)
def rms_norm(call, x, weight):
    axes = tuple(range(x.ndim - call.axes_count, x.ndim))
    eps = float(np.finfo(x.dtype).eps) if call.eps is None else call.eps
    y = x * ops.rsqrt(ops.mean(ops.square(x), axis=axes, keepdims=True) + eps)
    return y if weight is None else y * weight


@composed_gradient(om.LocalResponseNorm)
def local_response_norm(call, x):
    size, shape = call.size, sizes(x)
    low, high = ((0, n, *(0,) * (x.ndim - 2)) for n in (size // 2, (size - 1) // 2))
    squares = ops.pad_constant(ops.square(x), x.dtype.type(0), low=low, high=high)
    total = 0.0
    for start in range(size):
        total = total + ops.slice(squares, starts=(0, start, *(0,) * (x.ndim - 2)), shape=shape, steps=(1,) * x.ndim)
    return x * ops.pow(total * (call.alpha / size) + call.k, -call.beta)
