"""Attention."""
from __future__ import annotations

from ... import ops
from ..registry import handles


@handles("F.scaled_dot_product_attention", "scaled_dot_product_attention", "aten._scaled_dot_product_attention_math")
def scaled_dot_product_attention(query, key, value, attn_mask=None, dropout_p=0.0, is_causal=False, scale=None, enable_gqa=False):
    return ops.scaled_dot_product_attention(query, key, value, attn_mask, dropout_p, is_causal, None if scale is None else float(scale), enable_gqa)


@handles("aten._scaled_dot_product_flash_attention_for_cpu")
def flash_attention(query, key, value, dropout_p=0.0, is_causal=False, attn_mask=None, scale=None):
    y = scaled_dot_product_attention(query, key, value, attn_mask, dropout_p, is_causal, scale)
    return y, ops.zeros((0,))
