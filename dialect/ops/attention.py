"""Attention."""
from __future__ import annotations

import math

import numpy as np

from ...errors import ShapeError
from .. import dtypes, symbolic
from ..declare import Attr, Composite, DTypes, Floating, Op, Operand, OptionalOperand, Pure, Result
from ..shapes import broadcast_shapes, require_equal, show, TensorType
from .elementwise import rounded_once

Mask = DTypes("bool or a floating dtype", (dtypes.bool_,) + dtypes.FLOATING)


class Attention(Op, public=False):
    """softmax(query @ key^T * scale + mask) @ value: scaled dot-product attention.

    query: (..., L, E), key: (..., S, E), value: (..., S, V), whose leading axes broadcast; result (..., L, V).
    mask: broadcasts to (..., L, S); bool (True takes part) or floating (is added). is_causal: place i sees the places up to i.
    scale None: 1/sqrt(E). enable_gqa: query has a multiple of the heads (axis -3) of key and value, and heads in a row share one of them.
    A place that sees nothing gets 0. Computed in f32 for f16 and bf16. Source: Vaswani et al. 2017; torch's scaled_dot_product_attention.
    """

    query: Operand[Floating, "T"]
    key: Operand[Floating, "T"]
    value: Operand[Floating, "T"]
    mask: OptionalOperand[Mask]
    is_causal: Attr[bool] = False
    scale: Attr[float | None] = None
    enable_gqa: Attr[bool] = False
    result: Result
    traits = (Pure, Composite)

    def infer(query, key, value, mask, is_causal, scale, enable_gqa):
        batch = _batch(query, key, value, enable_gqa)
        _check_sizes(query, key, value)
        if mask is not None:
            _check_mask(mask, (*batch, query.shape[-2], key.shape[-2]))
        return TensorType((*batch, query.shape[-2], value.shape[-1]), query.dtype)

    @rounded_once
    def reference(query, key, value, mask, is_causal, scale, enable_gqa):
        if enable_gqa:
            key, value = (np.repeat(a, query.shape[-3] // max(a.shape[-3], 1), axis=-3) for a in (key, value))
        scale = default_scale(query.shape[-1]) if scale is None else scale
        scores = query @ np.swapaxes(key, -1, -2) * query.dtype.type(scale)
        if is_causal:
            scores = np.where(np.tri(*scores.shape[-2:], dtype=bool), scores, query.dtype.type(-np.inf))
        if mask is not None:
            scores = np.where(mask, scores, query.dtype.type(-np.inf)) if mask.dtype == bool else scores + mask.astype(query.dtype)
        return _safe_softmax(scores) @ value


def default_scale(width: int) -> float:
    """1/sqrt(width); 1 where there is nothing to scale."""
    return 1 / math.sqrt(width) if width else 1.0


def _safe_softmax(scores):
    """Softmax over the last axis; 0 in rows that hold nothing but -inf."""
    top = np.max(scores, axis=-1, keepdims=True, initial=-np.inf)
    weights = np.exp(scores - np.where(np.isneginf(top), scores.dtype.type(0), top))
    total = weights.sum(-1, keepdims=True)
    return weights / np.where(total == 0, scores.dtype.type(1), total)


def _batch(query, key, value, enable_gqa):
    for name, x in (("query", query), ("key", key), ("value", value)):
        least = 3 if enable_gqa else 2
        if x.rank < least:
            axes = "(..., heads, length, width)" if enable_gqa else "(..., length, width)"
            raise ShapeError(f"attention: {name} must be {axes}, found {show(x.shape)}")
    if not enable_gqa:
        return broadcast_shapes(query.shape[:-2], key.shape[:-2], value.shape[:-2], what="attention: leading axes of query, key and value")
    require_equal(key.shape[-3], value.shape[-3], f"attention: key {show(key.shape)} and value {show(value.shape)} differ in heads")
    rest = symbolic.mod(query.shape[-3], key.shape[-3]) if key.shape[-3] != 0 else query.shape[-3]
    require_equal(rest, 0, f"attention: the {query.shape[-3]} heads of query are no multiple of the {key.shape[-3]} of key")
    batch = broadcast_shapes(query.shape[:-3], key.shape[:-3], value.shape[:-3], what="attention: leading axes of query, key and value")
    return (*batch, query.shape[-3])


def _check_sizes(query, key, value):
    require_equal(query.shape[-1], key.shape[-1], f"attention: query {show(query.shape)} and key {show(key.shape)} differ in width")
    require_equal(key.shape[-2], value.shape[-2], f"attention: key {show(key.shape)} and value {show(value.shape)} differ in length")


def _check_mask(mask, scores):
    why = f"attention: mask {show(mask.shape)} does not broadcast to {show(scores)}"
    if mask.rank > len(scores):
        raise ShapeError(why)
    for a, b in zip(mask.shape[::-1], scores[::-1]):
        if a != 1:
            require_equal(a, b, why)


OPS = (Attention,)
