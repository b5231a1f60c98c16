"""Attention as torch calls it."""
from __future__ import annotations

from ..tensor import Tensor
from .creation import full
from .declared import as_tensor, declared as om
from .random import dropout

__all__ = ["scaled_dot_product_attention"]


def scaled_dot_product_attention(query, key, value, attn_mask=None, dropout_p: float = 0.0, is_causal: bool = False,
                                 scale: float | None = None, enable_gqa: bool = False) -> Tensor:
    """softmax(query @ key^T * scale + mask) @ value.

    query: (..., L, E), key: (..., S, E), value: (..., S, V); result (..., L, V). attn_mask broadcasts to (..., L, S): bool (True takes
    part) or floating (is added). is_causal: place i sees the places up to i; together with a mask both hold. scale None: 1/sqrt(E).
    enable_gqa: query has a multiple of the heads (axis -3) of key and value. A place that sees nothing gets 0. dropout_p is for training:
    TraceError in a recording. ShapeError for sizes that do not fit. Source: torch.
    """
    if dropout_p > 0:
        return _with_dropout(query, key, value, attn_mask, dropout_p, is_causal, scale, enable_gqa)
    return om.attention(query, key, value, attn_mask, is_causal=is_causal, scale=scale, enable_gqa=enable_gqa)


def _with_dropout(query, key, value, attn_mask, dropout_p, is_causal, scale, enable_gqa) -> Tensor:
    """The weights come from attention over the rows of the identity matrix; then some of them are dropped."""
    key, value = as_tensor(key), as_tensor(value)
    length = key.shape[-2]
    place = om.iota(size=(length,))
    identity = (om.reshape(place, shape=(length, 1)) == place).astype(value.dtype)
    rows = full((*value.shape[:-2], 1, 1), 1, value.dtype) * identity
    weights = dropout(om.attention(query, key, rows, attn_mask, is_causal=is_causal, scale=scale, enable_gqa=enable_gqa), dropout_p)
    if enable_gqa:
        heads, shared = value.shape[-3], weights.shape[-3] // value.shape[-3]
        weights = om.reshape(weights, shape=(*weights.shape[:-3], heads, shared, *weights.shape[-2:]))
        y = weights @ om.reshape(value, shape=(*value.shape[:-2], 1, *value.shape[-2:]))
        return om.reshape(y, shape=(*y.shape[:-4], heads * shared, *y.shape[-2:]))
    return weights @ value
