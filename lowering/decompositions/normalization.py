"""Decompositions of normalizations."""
from __future__ import annotations

from ...dialect import dtypes
from ...dialect.ops.normalization import LayerNorm
from .registry import decomposes


@decomposes(LayerNorm)
def layer_norm(ops, x, weight, bias, axes_count, eps):
    wide = dtypes.float64 if x.dtype == dtypes.float64 else dtypes.float32
    axes = tuple(range(x.rank - axes_count, x.rank))
    y = ops.cast(x, dtype=wide)
    centered = y - ops.mean(y, axis=axes, keepdims=True)
    y = centered * ops.rsqrt(ops.mean(centered * centered, axis=axes, keepdims=True) + eps)
    if weight is not None:
        y = y * ops.cast(weight, dtype=wide)
    if bias is not None:
        y = y + ops.cast(bias, dtype=wide)
    return ops.cast(y, dtype=x.dtype)
