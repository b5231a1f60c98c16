"""Attention and rotary embeddings, as the dialect has them whole; what goes beyond is read by the operators' function bodies."""
from __future__ import annotations

import numpy as np

from ...dialect import dtypes, symbolic
from ..ops.declared import declared as om
from ..ops.shape import slice_along
from ..tensor import Tensor
from .registry import reads
from .shape import sizes_of
from .values import _scalar



def split_heads(x: Tensor, heads: int) -> Tensor:
    """(batch, length, heads * width) as (batch, heads, length, width)."""
    batch, length, width = sizes_of(x)
    return om.transpose(om.reshape(x, shape=(batch, length, heads, symbolic.floordiv(width, heads))), axes=(0, 2, 1, 3))


def merge_heads(x: Tensor) -> Tensor:
    """The inverse of `split_heads`."""
    batch, heads, length, width = sizes_of(x)
    return om.reshape(om.transpose(x, axes=(0, 2, 1, 3)), shape=(batch, length, symbolic.mul(width, heads)))


def places(count) -> Tensor:
    """0, 1, … of i64."""
    return om.iota(size=(count,))


def causal(rows, columns, offset) -> Tensor:
    """Whether row i sees column j: j <= i + offset, as (rows, columns), or (batch, 1, rows, columns) for one offset a sample."""
    return distance(rows, columns, offset) >= 0


def distance(rows, columns, offset) -> Tensor:
    """i + offset - j; offset: a size, or a tensor (batch,)."""
    row = om.reshape(places(rows), shape=(rows, 1))
    if isinstance(offset, Tensor):
        row = row + om.reshape(offset.astype(dtypes.int64), shape=(sizes_of(offset)[0], 1, 1, 1))
    else:
        row = row + _scalar(offset)
    return row - places(columns)


def both(a: Tensor | None, b: Tensor | None) -> Tensor | None:
    """Where two conditions hold, of which either may be missing."""
    return b if a is None else a if b is None else om.logical_and(a, b)


def biased(allowed: Tensor | None, bias: Tensor | None) -> Tensor | None:
    """One mask of what is allowed and what is added to the scores."""
    if allowed is None or bias is None:
        return bias if allowed is None else allowed
    return om.where(allowed, bias, Tensor._wrap(np.asarray(-np.inf, bias.dtype)))


def attended(q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None, scale: float | None, softcap: float = 0.0, is_causal: bool = False) -> Tensor:
    """Attention of (batch, heads, length, width), where heads of q in a row may share one of k and v.

    softcap: scores become softcap * tanh(scores / softcap) before the mask."""
    grouped = symbolic.equal(sizes_of(q)[1], sizes_of(k)[1]) is not True
    if not softcap:
        return om.attention(q, k, v, mask, is_causal=is_causal, scale=scale, enable_gqa=grouped)
    return _soft_capped(q, k, v, mask, scale, softcap, is_causal)


def _inverse_root(width, x: Tensor):
    """width ** -0.5, of a symbolic width as a tensor."""
    return width**-0.5 if isinstance(width, int) else om.rsqrt(_scalar(width).astype(x.dtype))


def _soft_capped(q, k, v, mask, scale, softcap, is_causal):
    (batch, heads, rows, width), (_, shared, columns, _) = sizes_of(q), sizes_of(k)
    q = om.reshape(q, shape=(batch, shared, symbolic.floordiv(heads, shared), rows, width))
    k, v = (om.reshape(t, shape=(batch, shared, 1, columns, sizes_of(t)[3])) for t in (k, v))
    scores = om.matmul(q, om.transpose(k, axes=(0, 1, 2, 4, 3))) * (_inverse_root(width, q) if scale is None else scale)
    scores = om.reshape(om.tanh(scores / softcap) * softcap, shape=(batch, heads, rows, columns))
    allowed = causal(rows, columns, 0) if is_causal else None
    if mask is not None and mask.dtype == dtypes.bool_:
        allowed, mask = both(allowed, mask), None
    scores = scores if mask is None else scores + mask
    scores = scores if allowed is None else om.where(allowed, scores, Tensor._wrap(np.asarray(-np.inf, scores.dtype)))
    weights = om.softmax(scores, axis=-1)
    weights = om.where(om.isnan(weights), Tensor._wrap(np.zeros((), scores.dtype)), weights)  # rows that see nothing
    weights = om.reshape(weights, shape=(batch, shared, symbolic.floordiv(heads, shared), rows, columns))
    return om.reshape(om.matmul(weights, v), shape=(batch, heads, rows, sizes_of(v)[4]))


@reads("Attention")
def read_attention(node, ops):
    """softmax(scale * q @ k^T + mask) @ v; outputs 1 and 2 are the keys and values with those of the past in front."""
    if node.wants(3) or node.int("softmax_precision") is not None or not _fits(node):
        return tuple(node.graph.expand(node.proto, node.version, node.inputs))
    q, k, v = (node.tensor(i) for i in range(3))
    flat = q.ndim == 3
    if flat:
        heads = node.int("q_num_heads"), node.int("kv_num_heads"), node.int("kv_num_heads")
        q, k, v = (split_heads(t, h) for t, h in zip((q, k, v), heads))
    past = 0
    if node.has(4):
        past = node.shape(4)[2]
        k, v = (ops.concat([node.tensor(i), t], axis=2) for i, t in ((4, k), (5, v)))
    mask, is_causal = _mask(node, sizes_of(q)[2], sizes_of(k)[2], past)
    y = attended(q, k, v, mask, node.float("scale"), node.float("softcap", 0.0), is_causal)
    return (merge_heads(y) if flat else y), k, v


def _fits(node) -> bool:
    """Whether the mask has a column for each key, and what belongs together is there."""
    if node.rank(0) == 3 and (node.int("q_num_heads") is None or node.int("kv_num_heads") is None) or node.rank(0) not in (3, 4):
        return False
    if any(node.rank(i) != node.rank(0) for i in (1, 2)) or node.has(4) != node.has(5) or (node.has(4) and (node.rank(4) != 4 or node.has(6))):
        return False
    columns = node.shape(1)[-2] + (node.shape(4)[2] if node.has(4) else 0)
    return not node.has(3) or (node.rank(3) > 0 and symbolic.equal(node.shape(3)[-1], columns) is True)


def _mask(node, rows, columns, past) -> tuple[Tensor | None, bool]:
    """The mask, and whether the attention is causal besides: where no key lies before the first query, the dialect's op does that itself."""
    mask, counts = node.optional(3), node.optional(6)
    offset = past if counts is None else counts.astype(dtypes.int64) - _scalar(rows)
    plain = counts is None and symbolic.equal(past, 0) is True
    allowed = None if counts is None else om.reshape(counts.astype(dtypes.int64), shape=(sizes_of(counts)[0], 1, 1, 1)) > places(columns)
    is_causal, left, right = bool(node.int("is_causal", 0)), node.int("left_window_size", -1), node.int("right_window_size", -1)
    if is_causal and not plain:
        allowed = both(allowed, causal(rows, columns, offset))
    if left >= 0:
        allowed = both(allowed, distance(rows, columns, offset) <= left)
    if right >= 0:
        allowed = both(allowed, distance(rows, columns, offset) >= -right)
    if mask is not None and mask.dtype == dtypes.bool_:
        return both(allowed, mask), is_causal and plain
    return biased(allowed, mask), is_causal and plain


# Rotary embeddings.
def rotated(x: Tensor, cosine: Tensor, sine: Tensor, interleaved: bool) -> Tensor:
    """Pairs of elements turned by angles: x (batch, heads, length, width), cosine and sine (batch or 1, length, rotated / 2).

    The pairs are neighbours (interleaved) or lie half of what is rotated apart; elements beyond stay as they are."""
    batch, heads, length, width = sizes_of(x)
    half = sizes_of(cosine)[-1]
    cosine, sine = (om.reshape(t, shape=(sizes_of(t)[0], 1, *sizes_of(t)[1:])) for t in (cosine, sine))
    turned = slice_along(x, 3, 0, half * 2)
    pairs = om.reshape(turned, shape=(batch, heads, length, half, 2) if interleaved else (batch, heads, length, 2, half))
    axis = 4 if interleaved else 3
    a, b = (om.reshape(slice_along(pairs, axis, i, 1), shape=(batch, heads, length, half)) for i in range(2))
    real, imaginary = a * cosine - b * sine, a * sine + b * cosine
    if interleaved:
        parts = [om.reshape(t, shape=(batch, heads, length, half, 1)) for t in (real, imaginary)]
        y = om.reshape(om.concat(parts, axis=4), shape=(batch, heads, length, half * 2))
    else:
        y = om.concat([real, imaginary], axis=3)
    if symbolic.equal(half * 2, width) is True:
        return y
    return om.concat([y, slice_along(x, 3, half * 2, width - half * 2)], axis=3)


@reads("RotaryEmbedding")
def read_rotary_embedding(node, ops):
    x, cosine, sine = (node.tensor(i) for i in range(3))
    if node.has(3):
        cosine, sine = (ops.gather(t, node.tensor(3), axis=0) for t in (cosine, sine))
    y = rotated(split_heads(x, node.int("num_heads")) if x.ndim == 3 else x, cosine, sine, bool(node.int("interleaved", 0)))
    return merge_heads(y) if x.ndim == 3 else y
