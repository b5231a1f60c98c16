"""The gradient of attention."""
from __future__ import annotations

import numpy as np

from ...dialect.ops import attention as om
from ..ops.declared import declared as ops
from ..ops.shape import sizes
from .composed import composed_gradient


@composed_gradient(om.Attention)
def attention(call, query, key, value, mask):
    if call.enable_gqa:
        key, value = _shared(key, query), _shared(value, query)
    scale = om.default_scale(sizes(query)[-1]) if call.scale is None else call.scale
    scores = ops.matmul(query * scale, key.mT)
    if call.is_causal:
        scores = ops.where(_triangle(scores), scores, -np.inf)
    if mask is not None:
        scores = ops.where(mask, scores, -np.inf) if mask.dtype == bool else scores + mask.astype(scores.dtype)
    return ops.matmul(_softmax(scores), value)


def _softmax(scores):
    """Softmax over the last axis; 0, with gradient 0, in rows that hold nothing but -inf."""
    blind = ops.max(scores, axis=-1, keepdims=True) == -np.inf
    weights = ops.softmax(ops.where(blind, 0.0, scores), axis=-1)
    return ops.where(blind, 0.0, weights)


def _triangle(scores):
    rows, columns = sizes(scores)[-2:]
    return ops.reshape(ops.iota(size=(rows,)), shape=(rows, 1)) >= ops.reshape(ops.iota(size=(columns,)), shape=(1, columns))


def _shared(x, query):
    """Heads of key or value repeated for the heads of the query that share them."""
    *batch, heads, length, width = sizes(x)
    times = sizes(query)[-3] // heads
    x = ops.broadcast_to(ops.reshape(x, shape=(*batch, heads, 1, length, width)), shape=(*batch, heads, times, length, width))
    return ops.reshape(x, shape=(*batch, heads * times, length, width))
