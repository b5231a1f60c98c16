"""Attention of com.microsoft: of packed weights, of heads that share keys, with caches and rotary embeddings."""
from __future__ import annotations

import numpy as np

from ....dialect import dtypes, symbolic
from ...ops.declared import declared as om
from ...ops.joining import split
from ...ops.shape import slice_along
from ...tensor import Tensor
from ..attention import attended, biased, both, causal, distance, merge_heads, places, rotated, split_heads
from ..shape import sizes_of
from ..values import _scalar
from .domain import microsoft


def _mask(node, number: int, rows, columns, past):
    """The mask of an input by its shape: lengths (batch,), ends and starts (2 * batch,), or marks of places (batch, columns),
    (batch, rows, columns), (batch, 1, longest, longest); as what is added to the scores."""
    if not node.has(number):
        return None
    mask, low = node.tensor(number), node.float("mask_filter_value", -10000.0)
    if mask.ndim == 1:
        allowed = _within(node, mask, columns)
    elif mask.ndim == 2:
        allowed = om.reshape(mask.astype(bool), shape=(sizes_of(mask)[0], 1, 1, sizes_of(mask)[1]))
    elif mask.ndim == 3:
        allowed = om.reshape(mask.astype(bool), shape=(sizes_of(mask)[0], 1, *sizes_of(mask)[1:]))
    else:
        allowed = slice_along(slice_along(mask.astype(bool), 2, past, rows), 3, 0, columns)
    return om.where(allowed, 0.0, Tensor(low)).astype(node.value(0).dtype if dtypes.is_floating(node.value(0).dtype) else dtypes.float32)


def _within(node, mask: Tensor, columns) -> Tensor:
    """Places before the end of each sample, and from its start on where there are starts."""
    batch, count = node.shape(0)[0], sizes_of(mask)[0]
    column = lambda start: om.reshape(slice_along(mask, 0, start, batch), shape=(batch, 1, 1, 1)).astype(dtypes.int64)
    allowed = places(columns) < column(0)
    if symbolic.equal(count, batch) is True:
        return allowed
    if symbolic.equal(count, batch * 2) is not True:
        node.refuse(f"masks of batch or 2 * batch lengths can be read, found {count} for a batch of {batch}")
    return both(allowed, places(columns) >= column(batch))


def _added(a: Tensor | None, b: Tensor | None) -> Tensor | None:
    return b if a is None else a if b is None else a + b


def _self_attention(node, packed: Tensor, widths, mask_at: int, past_at: int, bias_at: int | None):
    """Attention of query, key and value side by side along the last axis; and keys and values with the past in front, stacked."""
    heads = node.int("num_heads")
    q, k, v = (split_heads(t, heads) for t in split(packed, widths, axis=2))
    past = 0
    if node.has(past_at):
        if node.int("past_present_share_buffer", 0):
            node.refuse("a cache that is written in place cannot be read")
        past = node.shape(past_at)[3]
        k, v = (om.concat([_part(node.tensor(past_at), i), t], axis=2) for i, t in enumerate((k, v)))
    if node.int("do_rotary", 0):
        node.refuse("rotation by angles that the operator makes itself cannot be read")
    rows, columns = sizes_of(q)[2], sizes_of(k)[2]
    mask = _mask(node, mask_at, rows, columns, past)
    if bias_at is not None and node.has(bias_at):
        mask = _added(mask, node.tensor(bias_at))
    one_way = bool(node.int("unidirectional", 0))
    plain = symbolic.equal(past, 0) is True
    if one_way and not plain:
        mask = biased(causal(rows, columns, past), mask)
    y = attended(q, k, v, mask, node.float("scale", 0.0) or None, is_causal=one_way and plain)
    present = om.concat([om.reshape(t, shape=(1, *sizes_of(t))) for t in (k, v)], axis=0) if node.wants(1) else None
    return merge_heads(y), present


def _part(x: Tensor, number: int) -> Tensor:
    return om.reshape(slice_along(x, 0, number, 1), shape=sizes_of(x)[1:])


@microsoft("Attention")
def read_attention(node, ops):
    """Self-attention of x @ weights + bias; inputs: x, weights, bias, mask, past (2, batch, heads, length, width), bias of the scores."""
    x = ops.matmul(node.tensor(0), node.tensor(1))
    x = x + node.tensor(2) if node.has(2) else x
    return _self_attention(node, x, node.ints_attribute("qkv_hidden_sizes") or 3, 3, 4, 5)


@microsoft("QAttention")
def read_quantized_attention(node, ops):
    """Attention whose product with the weights is one of integers, exact in i32."""
    from ..linear_algebra import matmul_of_integers
    from ..quantization import zero_point
    from .quantized import scaled_product

    product = matmul_of_integers(node.tensor(0), node.tensor(1), zero_point(node, 6), zero_point(node, 7))
    x = scaled_product(product, node.tensor(3), node.tensor(4), node.tensor(2))
    return _self_attention(node, x, 3, 5, 8, None)


def _operands(node):
    """Query, key and value of MultiHeadAttention as (batch, heads, length, width), with their bias."""
    heads, q = node.int("num_heads"), node.tensor(0)
    if q.ndim == 5:  # (batch, length, heads, 3, width)
        return tuple(om.transpose(_column(q, i), axes=(0, 2, 1, 3)) for i in range(3))
    if node.has(1) and node.rank(1) == 5:  # (batch, length, heads, 2, width)
        pair = node.tensor(1)
        tensors = [split_heads(_biased(node, q, 0), heads), *(om.transpose(_column(pair, i), axes=(0, 2, 1, 3)) for i in range(2))]
        return tuple(tensors)
    if not node.has(1) or not node.has(2):
        node.refuse("key and value must be given, or lie beside the query with 5 axes")
    start, result = 0, []
    for i in range(3):
        t = node.tensor(i)
        result.append(t if t.ndim == 4 else split_heads(_biased(node, t, start), heads))
        start = start + (sizes_of(t)[-1] if t.ndim == 3 else sizes_of(t)[1] * sizes_of(t)[3])
    return tuple(result)


def _column(x: Tensor, number: int) -> Tensor:
    batch, length, heads, _, width = sizes_of(x)
    return om.reshape(slice_along(x, 3, number, 1), shape=(batch, length, heads, width))


def _biased(node, x: Tensor, start) -> Tensor:
    return x + slice_along(node.tensor(3), 0, start, sizes_of(x)[-1]) if node.has(3) else x


@microsoft("MultiHeadAttention")
def read_multi_head_attention(node, ops):
    """Inputs: query, key, value, bias, padding mask, bias of the scores, past key, past value; outputs 1 and 2 are the new caches."""
    if any(node.has(i) for i in range(8, len(node.inputs))) or node.wants(3):
        node.refuse("a cache that is written in place, and the scores as an output, cannot be read")
    q, k, v = _operands(node)
    past = 0
    if node.has(6):
        past = node.shape(6)[2]
        k, v = (ops.concat([node.tensor(i), t], axis=2) for i, t in ((6, k), (7, v)))
    rows, columns = sizes_of(q)[2], sizes_of(k)[2]
    mask = _added(_mask(node, 4, rows, columns, past), node.optional(5))
    one_way, plain = bool(node.int("unidirectional", 0)), symbolic.equal(past, 0) is True
    if one_way and not plain:
        mask = biased(causal(rows, columns, past), mask)
    return merge_heads(attended(q, k, v, mask, node.float("scale", 0.0) or None, is_causal=one_way and plain)), k, v


# Grouped queries.
@microsoft("GroupQueryAttention")
def read_group_query_attention(node, ops):
    """Causal attention whose keys and values serve several heads, behind caches: inputs query, key, value, past key, past value,
    number of valid places - 1 of each sample, number of places of all, cosines, sines, places, bias of the scores.

    The new keys stand behind the valid ones of the past; the caches that are outputs have as many places as the longer of past and total."""
    if any(node.has(i) for i in range(12, len(node.inputs))):
        node.refuse("quantized caches cannot be read")
    heads, shared = node.int("num_heads"), node.int("kv_num_heads")
    q, k, v = _grouped_operands(node, heads, shared)
    rows = sizes_of(q)[2]
    total = ops.reshape(node.tensor(5), shape=(-1,)).astype(dtypes.int64) + 1
    before = ops.maximum(total - _scalar(rows), 0)
    if node.int("do_rotary", 0):
        q, k = (_turned(node, t, before, rows) for t in (q, k))
    keys, values = k, v
    if node.has(3):
        used = node.sizes(6)[0]
        size = symbolic.maximum(node.shape(3)[2], used)
        k, v = (om.append_rows(node.tensor(i), t, before, size=(size,)) for i, t in ((3, k), (4, v)))
        keys, values = (slice_along(t, 2, 0, used) for t in (k, v))
    columns = sizes_of(keys)[2]
    allowed = causal(rows, columns, before)
    window = node.int("local_window_size", -1)
    if window > 0:
        allowed = both(allowed, distance(rows, columns, before) < window)
    bias = node.optional(10)
    if bias is not None and symbolic.equal(sizes_of(bias)[-1], columns) is not True:
        bias = om.pad(bias, None, low=(0,) * 4, high=(0, 0, 0, columns - sizes_of(bias)[-1]))
    mask = biased(allowed, bias)
    if node.has(11) or node.int("smooth_softmax", 0) == 1:
        mask, keys, values = _with_sink(node.optional(11), mask, keys, values)
    y = attended(q, keys, values, mask, node.float("scale", 0.0) or None, node.float("softcap", 0.0))
    return merge_heads(y), k, v


def _with_sink(sink: Tensor | None, mask: Tensor, k: Tensor, v: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Mask, keys and values with one more place that takes a part of the weights and gives nothing: its score is that of the head in `sink`
    (heads,), 0 without."""
    zeros = lambda shape: om.full(Tensor._wrap(np.zeros((), k.dtype)), shape=shape)
    k, v = (om.concat([t, zeros((*sizes_of(t)[:2], 1, sizes_of(t)[3]))], axis=2) for t in (k, v))
    if mask.dtype == dtypes.bool_:
        mask = om.where(mask, Tensor._wrap(np.zeros((), k.dtype)), Tensor._wrap(np.asarray(-np.inf, k.dtype)))
    mask = om.reshape(mask, shape=(1,) * (4 - mask.ndim) + sizes_of(mask))
    batch, heads, rows, _ = sizes_of(mask)
    if sink is None:
        return om.concat([mask, zeros((batch, heads, rows, 1))], axis=3), k, v
    count = sizes_of(sink)[0]
    column = om.broadcast_to(om.reshape(sink.astype(k.dtype), shape=(1, count, 1, 1)), shape=(batch, count, rows, 1))
    return om.concat([om.broadcast_to(mask, shape=(batch, count, rows, sizes_of(mask)[3])), column], axis=3), k, v


def _grouped_operands(node, heads: int, shared: int):
    q = node.tensor(0)
    if node.has(1):
        return split_heads(q, heads), split_heads(node.tensor(1), shared), split_heads(node.tensor(2), shared)
    width = symbolic.floordiv(sizes_of(q)[2], heads + 2 * shared)
    parts, start = [], 0
    for count in (heads, shared, shared):
        parts.append(split_heads(slice_along(q, 2, start, width * count), count))
        start = start + width * count
    return tuple(parts)


def _turned(node, x: Tensor, before: Tensor, rows) -> Tensor:
    batch = sizes_of(before)[0]
    place = node.tensor(9).astype(dtypes.int64) if node.has(9) else om.reshape(before, shape=(batch, 1)) + places(rows)
    cosine, sine = (om.gather(node.tensor(i), place, axis=0) for i in (7, 8))
    return rotated(x, cosine, sine, bool(node.int("rotary_interleaved", 0)))


@microsoft("RotaryEmbedding")
def read_rotary_embedding(node, ops):
    """Inputs: x, places (batch, length) or one to start from, cosines, sines."""
    x, place = node.tensor(0), node.tensor(1).astype(dtypes.int64)
    if node.int("is_packed_batching", 0) or node.float("scale", 1.0) != 1:
        node.refuse("packed batches and scales cannot be read")
    flat = x.ndim == 3
    width = sizes_of(node.tensor(2))[1] * 2
    if flat:
        x = split_heads(x, node.int("num_heads", 0) or symbolic.floordiv(sizes_of(x)[2], width))
    if place.ndim == 1:
        place = om.reshape(place, shape=(1, 1)) + om.reshape(places(sizes_of(x)[2]), shape=(1, sizes_of(x)[2]))
    cosine, sine = (ops.gather(node.tensor(i), place, axis=0) for i in (2, 3))
    y = rotated(x, cosine, sine, bool(node.int("interleaved", 0)))
    return merge_heads(y) if flat else y
