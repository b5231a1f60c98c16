"""Multi-head attention. Source: Vaswani et al. 2017, section 3.2."""
from __future__ import annotations

import math

import numpy as np

from .. import ops
from ...dialect import dtypes
from ...errors import OnemlirError, ShapeError
from . import init
from .linear import Linear
from .module import Module
from .parameter import in_graph, new_parameter


class MultiheadAttention(Module):
    """Attention of `num_heads` heads with projections of query, key, value and result.

    query: (L, N, embed_dim), key: (S, N, kdim), value: (S, N, vdim); with `batch_first` N comes first; without N for one sequence.
    Parameters: in_proj_weight (3 embed_dim, embed_dim), or q_proj_weight, k_proj_weight, v_proj_weight where kdim or vdim differ,
    all Xavier-uniform; in_proj_bias and out_proj.bias, zero; with add_bias_kv bias_k and bias_v, a further key and value.
    """

    def __init__(self, embed_dim: int, num_heads: int, dropout: float = 0.0, bias: bool = True, add_bias_kv: bool = False,
                 add_zero_attn: bool = False, kdim: int | None = None, vdim: int | None = None, batch_first: bool = False, dtype=None):
        super().__init__()
        if embed_dim <= 0 or num_heads <= 0 or embed_dim % num_heads:
            raise OnemlirError(f"embed_dim must be a multiple of num_heads and both positive, found {embed_dim} and {num_heads}")
        self.embed_dim, self.num_heads, self.head_dim = embed_dim, num_heads, embed_dim // num_heads
        self.kdim, self.vdim = embed_dim if kdim is None else kdim, embed_dim if vdim is None else vdim
        self.dropout, self.add_zero_attn, self.batch_first = dropout, add_zero_attn, batch_first
        self._add_input_projections(dtype)
        self.register_parameter("in_proj_bias", new_parameter(3 * embed_dim, dtype) if bias else None)
        self.out_proj = Linear(embed_dim, embed_dim, bias, dtype)
        for name in ("bias_k", "bias_v"):
            self.register_parameter(name, new_parameter((1, 1, embed_dim), dtype) if add_bias_kv else None)
        self.reset_parameters()

    def _add_input_projections(self, dtype) -> None:
        size = self.embed_dim
        together = self.kdim == self.vdim == size
        self.register_parameter("in_proj_weight", new_parameter((3 * size, size), dtype) if together else None)
        for name, inputs in (("q_proj_weight", size), ("k_proj_weight", self.kdim), ("v_proj_weight", self.vdim)):
            self.register_parameter(name, None if together else new_parameter((size, inputs), dtype))

    def reset_parameters(self) -> None:
        for weight in (self.in_proj_weight, self.q_proj_weight, self.k_proj_weight, self.v_proj_weight):
            if weight is not None:
                init.xavier_uniform_(weight)
        for bias in (self.in_proj_bias, self.out_proj.bias):
            if bias is not None:
                init.zeros_(bias)
        for bias in (self.bias_k, self.bias_v):
            if bias is not None:
                init.xavier_normal_(bias)

    def forward(self, query, key, value, key_padding_mask=None, need_weights: bool = True, attn_mask=None,
                average_attn_weights: bool = True, is_causal: bool = False):
        """The result in query's layout, and the weights (N, L, S), per head (N, H, L, S) unless averaged, or None.

        Masks say with True where attention is *not* allowed, or are added to the scores when floating. key_padding_mask: (N, S);
        attn_mask: (L, S) or (N * H, L, S). `is_causal` masks what comes after each position when attn_mask is None.
        """
        single = query.ndim == 2
        if query.ndim not in (2, 3) or not query.ndim == key.ndim == value.ndim:
            raise ShapeError(f"query, key and value must all have 2 or 3 axes, found {query.ndim}, {key.ndim} and {value.ndim}")
        arrange = (lambda x: ops.expand_dims(x, 0)) if single else (lambda x: x) if self.batch_first else _swap_batch
        same = query is key and key is value
        query = arrange(query)
        key, value = (query, query) if same else (arrange(key), arrange(value))
        if single and key_padding_mask is not None:
            key_padding_mask = ops.expand_dims(key_padding_mask, 0)
        result, weights = self._attend(query, key, value, key_padding_mask, attn_mask, need_weights, is_causal)
        result = self.out_proj(self._merge_heads(result))
        if weights is not None and average_attn_weights:
            weights = ops.mean(weights, axis=1)
        if single:
            return _first(result), None if weights is None else _first(weights)
        return (result if self.batch_first else _swap_batch(result)), weights

    def _attend(self, query, key, value, key_padding_mask, attn_mask, need_weights: bool, is_causal: bool):
        q, k, v = (self._split_heads(x) for x in self._extend(*self._project(query, key, value)))
        if self.add_zero_attn:
            k, v = (ops.concat([x, ops.zeros((x.shape[0], self.num_heads, 1, self.head_dim), x.dtype)], axis=2) for x in (k, v))
        drops = self.training and self.dropout > 0
        whole = not need_weights and not drops  # one op computes it, as long as the mask is given in one way
        causal = is_causal and attn_mask is None
        causal_op = whole and causal and key_padding_mask is None and not self._extra_keys()
        mask = self._mask(q, key, attn_mask, key_padding_mask, causal and not causal_op)
        if whole:
            return ops.scaled_dot_product_attention(q, k, v, mask, is_causal=causal_op), None
        scores = ops.matmul(q * (1 / math.sqrt(self.head_dim)), ops.transpose(k, (0, 1, 3, 2)))
        weights = ops.softmax(scores if mask is None else scores + mask, axis=-1)
        weights = ops.dropout(weights, self.dropout, True) if drops else weights
        return ops.matmul(weights, v), weights if need_weights else None

    def _project(self, query, key, value):
        if self.in_proj_weight is not None and query is key and key is value:
            return ops.split(ops.linear(query, self.in_proj_weight, self.in_proj_bias), 3, axis=-1)
        if self.in_proj_weight is None:
            weights = (self.q_proj_weight, self.k_proj_weight, self.v_proj_weight)
        else:
            weights = ops.split(in_graph(self.in_proj_weight), 3, axis=0)
        biases = (None,) * 3 if self.in_proj_bias is None else ops.split(in_graph(self.in_proj_bias), 3, axis=0)
        return tuple(ops.linear(x, w, b) for x, w, b in zip((query, key, value), weights, biases))

    def _extend(self, q, k, v):
        """Keys and values with the learned further ones."""
        if self.bias_k is None:
            return q, k, v
        repeat = lambda bias: ops.broadcast_to(in_graph(bias), (k.shape[0], 1, self.embed_dim))
        return q, ops.concat([k, repeat(self.bias_k)], axis=1), ops.concat([v, repeat(self.bias_v)], axis=1)

    def _extra_keys(self) -> int:
        return (self.bias_k is not None) + self.add_zero_attn

    def _split_heads(self, x):
        return ops.transpose(ops.reshape(x, (*x.shape[:2], self.num_heads, self.head_dim)), (0, 2, 1, 3))

    def _merge_heads(self, x):
        x = ops.transpose(x, (0, 2, 1, 3))
        return ops.reshape(x, (*x.shape[:2], self.embed_dim))

    def _mask(self, q, key, attn_mask, key_padding_mask, is_causal: bool):
        """What is added to the scores: broadcasts against (N, H, L, S + further keys); None for nothing."""
        if attn_mask is None and is_causal:
            attn_mask = causal_mask(q.shape[2], key.shape[1], q.dtype)
        mask = None if attn_mask is None else additive(attn_mask, q.dtype)
        if mask is not None and mask.ndim == 3:
            mask = ops.reshape(mask, (q.shape[0], self.num_heads, *mask.shape[1:]))
        if key_padding_mask is not None:
            mask = _add(mask, ops.expand_dims(ops.expand_dims(additive(key_padding_mask, q.dtype), 1), 1))
        if mask is None or not self._extra_keys():
            return mask
        return ops.concat([mask, ops.zeros((*mask.shape[:-1], self._extra_keys()), mask.dtype)], axis=-1)

    def extra_repr(self) -> str:
        return f"embed_dim={self.embed_dim}, num_heads={self.num_heads}, dropout={self.dropout}, batch_first={self.batch_first}"


def additive(mask, dtype):
    """A mask in the form that is added to scores: -inf where a bool mask is True, else 0."""
    if mask.dtype != dtypes.bool_:
        return mask.astype(dtype)
    return ops.where(mask, np.full((), -np.inf, dtype), np.zeros((), dtype))


def causal_mask(length, keys=None, dtype=dtypes.float32):
    """-inf where the key comes after the query, else 0: (length, keys). Sizes may be symbolic."""
    rows = ops.expand_dims(ops.arange(length), 1)
    columns = ops.expand_dims(ops.arange(length if keys is None else keys), 0)
    return additive(columns > rows, dtype)


def _add(first, second):
    return second if first is None else first + second


def _swap_batch(x):
    return ops.transpose(x, (1, 0, 2))


def _first(x):
    return ops.reshape(x, x.shape[1:])
