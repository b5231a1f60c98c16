"""Decomposition of attention."""
from __future__ import annotations

from ...dialect import dtypes, symbolic
from ...dialect.ops.attention import Attention, default_scale
from .precision import number, rounded_once
from .reduction import largest
from .registry import decomposes

INFINITY = float("inf")


@decomposes(Attention)
@rounded_once
def attention(ops, query, key, value, mask, is_causal, scale, enable_gqa):
    heads = query.shape
    if enable_gqa:
        query, key, value, mask = share_heads(ops, query, key, value, mask)
    scores = ops.matmul(query * scale_of(ops, query, scale), swap_last(ops, key))
    if is_causal:
        scores = ops.where(causal_mask(ops, *scores.shape[-2:]), scores, -INFINITY)
    if mask is not None:
        scores = ops.where(mask, scores, -INFINITY) if mask.dtype == dtypes.bool_ else scores + ops.cast(mask, dtype=scores.dtype)
    y = ops.matmul(safe_softmax(ops, scores), value)
    return ops.reshape(y, shape=(*y.shape[:-4], heads[-3], *y.shape[-2:])) if enable_gqa else y


def scale_of(ops, query, scale):
    width = query.shape[-1]
    if scale is not None:
        return scale
    return default_scale(width) if isinstance(width, int) else ops.rsqrt(number(query, width))


def swap_last(ops, x):
    return ops.transpose(x, axes=(*range(x.rank - 2), x.rank - 1, x.rank - 2))


def share_heads(ops, query, key, value, mask):
    """Query heads in groups (..., heads of key, heads that share one, L, E); a further axis of 1 in the others."""
    count = key.shape[-3]
    shared = symbolic.floordiv(query.shape[-3], count)
    query = ops.reshape(query, shape=(*query.shape[:-3], count, shared, *query.shape[-2:]))
    key, value = (ops.reshape(x, shape=(*x.shape[:-2], 1, *x.shape[-2:])) for x in (key, value))
    if mask is None or mask.rank < 3:
        return query, key, value, mask
    groups = (1, 1) if mask.shape[-3] == 1 else (count, shared)
    return query, key, value, ops.reshape(mask, shape=(*mask.shape[:-3], *groups, *mask.shape[-2:]))


def causal_mask(ops, rows, columns):
    """True where the column is not behind the row: (rows, columns)."""
    row = ops.reshape(ops.iota(size=(rows,)), shape=(rows, 1))
    return row >= ops.iota(size=(columns,))


def safe_softmax(ops, scores):
    """Softmax over the last axis; 0 in rows that hold nothing but -inf."""
    top = largest(ops, scores, (scores.rank - 1,))
    weights = ops.exp(scores - ops.where(top == -INFINITY, 0.0, top))
    total = ops.sum(weights, axis=-1, keepdims=True)
    return weights * ops.reciprocal(ops.where(total == 0, 1.0, total))
