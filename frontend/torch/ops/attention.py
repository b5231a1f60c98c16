"""Attention."""
from __future__ import annotations

from ... import ops
from ..registry import handles
from .values import as_dtype


@handles("F.scaled_dot_product_attention", "scaled_dot_product_attention", "aten._scaled_dot_product_attention_math")
def scaled_dot_product_attention(query, key, value, attn_mask=None, dropout_p=0.0, is_causal=False, scale=None, enable_gqa=False):
    return ops.scaled_dot_product_attention(query, key, value, attn_mask, dropout_p, is_causal, None if scale is None else float(scale), enable_gqa)


@handles("aten._scaled_dot_product_flash_attention_for_cpu")
def flash_attention(query, key, value, dropout_p=0.0, is_causal=False, attn_mask=None, scale=None):
    y = scaled_dot_product_attention(query, key, value, attn_mask, dropout_p, is_causal, scale)
    return y, ops.zeros((0,))


@handles("F.multi_head_attention_forward")
def multi_head_attention(query, key, value, embed_dim_to_check, num_heads, in_proj_weight, in_proj_bias, bias_k, bias_v, add_zero_attn, dropout_p,
                         out_proj_weight, out_proj_bias, training=True, key_padding_mask=None, need_weights=True, attn_mask=None,
                         use_separate_proj_weight=False, q_proj_weight=None, k_proj_weight=None, v_proj_weight=None, static_k=None, static_v=None,
                         average_attn_weights=True, is_causal=False):
    """As torch's, whose body decides on the batch size: (length, batch, width) or (length, width)."""
    if any(t is not None for t in (static_k, static_v)) or dropout_p > 0 and training:
        return NotImplemented
    single = query.ndim == 2
    query, key, value = (ops.expand_dims(t, 1) if single else t for t in (query, key, value))
    weights = (q_proj_weight, k_proj_weight, v_proj_weight) if use_separate_proj_weight else _thirds(in_proj_weight)
    biases = (None,) * 3 if in_proj_bias is None else _thirds(in_proj_bias)
    q, k, v = (ops.linear(t, w, b) for t, w, b in zip((query, key, value), weights, biases))
    k, v, extra = _with_extras(k, v, bias_k, bias_v, add_zero_attn)
    q, k, v = (_heads(t, num_heads) for t in (q, k, v))
    mask = _merged_mask(attn_mask, key_padding_mask, q, num_heads, single, extra)
    if attn_mask is None and is_causal and mask is None and not need_weights:
        y, scores = scaled_dot_product_attention(q, k, v, is_causal=True), None
    elif not need_weights:
        y, scores = scaled_dot_product_attention(q, k, v, mask), None
    else:
        products = ops.matmul(q * (1 / q.shape[-1] ** 0.5), ops.swapaxes(k, -1, -2))
        scores = ops.softmax(products if mask is None else products + mask, axis=-1)
        y = ops.matmul(scores, v)
    y = ops.transpose(y, axes=(2, 0, 1, 3))
    y = ops.linear(ops.reshape(y, shape=(*y.shape[:2], y.shape[2] * y.shape[3])), out_proj_weight, out_proj_bias)
    if scores is not None:
        scores = ops.mean(scores, axis=1) if average_attn_weights else scores
        scores = ops.squeeze(scores, 0) if single else scores
    return (ops.squeeze(y, 1) if single else y), scores


def _thirds(x):
    size = x.shape[0] // 3
    return tuple(x[i * size:(i + 1) * size] for i in range(3))


def _heads(x, num_heads: int):
    """(length, batch, width) as (batch, heads, length, width of a head)."""
    length, batch, width = x.shape
    return ops.transpose(ops.reshape(x, shape=(length, batch, num_heads, width // num_heads)), axes=(1, 2, 0, 3))


def _with_extras(k, v, bias_k, bias_v, add_zero_attn: bool):
    """Keys and values with a learned and a zero place at the end; how many places were added."""
    extra = 0
    if bias_k is not None:
        row = lambda bias: ops.broadcast_to(bias, shape=(1, *k.shape[1:]))
        k, v, extra = ops.concat([k, row(bias_k)], axis=0), ops.concat([v, row(bias_v)], axis=0), 1
    if add_zero_attn:
        zero = ops.zeros((1, *k.shape[1:]), k.dtype)
        k, v, extra = ops.concat([k, zero], axis=0), ops.concat([v, zero], axis=0), extra + 1
    return k, v, extra


def _merged_mask(attn_mask, padding, q, num_heads: int, single: bool, extra: int):
    """Both masks as one that is added to the scores (batch, heads, length, places)."""
    masks = []
    if attn_mask is not None:
        mask = _additive(attn_mask, q.dtype)
        masks.append(ops.reshape(mask, shape=(q.shape[0], num_heads, *mask.shape[1:])) if mask.ndim == 3 else mask)
    if padding is not None:
        masks.append(ops.expand_dims(_additive(ops.expand_dims(padding, 0) if single else padding, q.dtype), (1, 2)))
    if extra:
        masks = [ops.pad(m, [(0, 0)] * (m.ndim - 1) + [(0, extra)]) for m in masks]
    return None if not masks else masks[0] if len(masks) == 1 else masks[0] + masks[1]


def _additive(mask, dtype):
    return ops.where(mask, as_dtype(float("-inf"), dtype), as_dtype(0.0, dtype)) if mask.dtype == bool else mask.astype(dtype)


@handles("_native_multi_head_attention")
def native_attention(query, key, value, embed_dim, num_head, qkv_weight, qkv_bias, proj_weight, proj_bias, mask=None, need_weights=True,
                     average_attn_weights=True, mask_type=None):
    """The fused form that TorchScript meets: (batch, length, width). mask_type 0: attention mask, 1: key padding mask."""
    if mask is not None and mask_type not in (0, 1):
        return NotImplemented
    swap = lambda x: ops.swapaxes(x, 0, 1)
    masks = {"attn_mask": mask} if mask_type == 0 else {"key_padding_mask": mask}
    y, scores = multi_head_attention(swap(query), swap(key), swap(value), embed_dim, num_head, qkv_weight, qkv_bias, None, None, False, 0.0, proj_weight,
                                     proj_bias, training=False, need_weights=need_weights, average_attn_weights=average_attn_weights, **masks)
    return swap(y), scores if scores is not None else ops.zeros((0,))


@handles("_transformer_encoder_layer_fwd")
def encoder_layer(src, embed_dim, num_heads, qkv_weight, qkv_bias, proj_weight, proj_bias, use_gelu, norm_first, eps, norm_weight_1, norm_bias_1,
                  norm_weight_2, norm_bias_2, ffn_weight_1, ffn_bias_1, ffn_weight_2, ffn_bias_2, mask=None, mask_type=None):
    """A whole encoder layer: attention and a feed-forward network, each added to its input, with a normalization before or after."""
    def attend(x):
        return native_attention(x, x, x, embed_dim, num_heads, qkv_weight, qkv_bias, proj_weight, proj_bias, mask, False, True, mask_type)[0]

    def feed_forward(x):
        return ops.linear((ops.gelu if use_gelu else ops.relu)(ops.linear(x, ffn_weight_1, ffn_bias_1)), ffn_weight_2, ffn_bias_2)

    if mask is not None and mask_type not in (0, 1):
        return NotImplemented
    x = src
    for part, weight, bias in ((attend, norm_weight_1, norm_bias_1), (feed_forward, norm_weight_2, norm_bias_2)):
        norm = lambda t: ops.layer_norm(t, (embed_dim,), weight, bias, eps)
        x = x + part(norm(x)) if norm_first else norm(x + part(x))
    return x
