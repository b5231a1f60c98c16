"""Decompositions of normalizations."""
from __future__ import annotations

import numpy as np

from ...dialect import symbolic
from ...dialect.ops import normalization as om
from .precision import rounded_once
from .registry import decomposes


def standardize(ops, x, axes, eps):
    """(x - mean) / sqrt(var + eps) over axes."""
    centered = x - ops.mean(x, axis=axes, keepdims=True)
    return centered * ops.rsqrt(ops.mean(centered * centered, axis=axes, keepdims=True) + eps)


def scale_and_shift(y, weight, bias):
    y = y if weight is None else y * weight
    return y if bias is None else y + bias


def per_channel(ops, x, rank: int):
    """One value a channel, shaped to broadcast over (batch, channels, ...)."""
    return None if x is None else ops.reshape(x, shape=(x.shape[0],) + (1,) * (rank - 2))


def last_axes(x, count: int):
    return tuple(range(x.rank - count, x.rank))


@decomposes(om.LayerNorm)
@rounded_once
def layer_norm(ops, x, weight, bias, axes_count, eps):
    return scale_and_shift(standardize(ops, x, last_axes(x, axes_count), eps), weight, bias)


@decomposes(om.RmsNorm)
@rounded_once
def rms_norm(ops, x, weight, axes_count, eps):
    eps = float(np.finfo(x.dtype).eps) if eps is None else eps
    scale = ops.rsqrt(ops.mean(x * x, axis=last_axes(x, axes_count), keepdims=True) + eps)
    return scale_and_shift(x * scale, weight, None)


@decomposes(om.BatchNorm)
@rounded_once
def batch_norm(ops, x, mean, var, weight, bias, eps):
    """As x * scale + shift: scale and shift depend on weights alone, and fold into a convolution before."""
    scale = ops.rsqrt(var + eps)
    scale = scale if weight is None else scale * weight
    shift = -mean * scale if bias is None else bias - mean * scale
    return x * per_channel(ops, scale, x.rank) + per_channel(ops, shift, x.rank)


@decomposes(om.GroupNorm)
@rounded_once
def group_norm(ops, x, weight, bias, num_groups, eps):
    return grouped(ops, x, weight, bias, num_groups, eps)


@decomposes(om.InstanceNorm)
@rounded_once
def instance_norm(ops, x, weight, bias, eps):
    y = standardize(ops, x, tuple(range(2, x.rank)), eps)
    return scale_and_shift(y, per_channel(ops, weight, x.rank), per_channel(ops, bias, x.rank))


def grouped(ops, x, weight, bias, num_groups, eps):
    channels = symbolic.floordiv(x.shape[1], num_groups)
    groups = ops.reshape(x, shape=(x.shape[0], num_groups, channels, *x.shape[2:]))
    y = ops.reshape(standardize(ops, groups, tuple(range(2, groups.rank)), eps), shape=x.shape)
    return scale_and_shift(y, per_channel(ops, weight, x.rank), per_channel(ops, bias, x.rank))


@decomposes(om.LocalResponseNorm)
@rounded_once
def local_response_norm(ops, x, size, alpha, beta, k):
    """The window's sum is that of `size` shifted copies of the squares, which are padded with zeros."""
    squares = ops.concat([part for part in (_zeros(x, size // 2), x * x, _zeros(x, (size - 1) // 2)) if part is not None], axis=1)
    steps = (1,) * x.rank
    shifted = [ops.slice(squares, starts=(0, i) + (0,) * (x.rank - 2), shape=x.shape, steps=steps) for i in range(size)]
    total = sum(shifted[1:], shifted[0])
    return x / (total * (alpha / size) + k) ** beta


def _zeros(x, channels: int):
    return x.builder.full(0, (x.shape[0], channels, *x.shape[2:]), x.dtype) if channels else None
