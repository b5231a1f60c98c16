"""Normalizations of sums, of embeddings, and of groups with an activation."""
from __future__ import annotations

import numpy as np

from ....dialect import dtypes
from ...ops.shape import slice_along
from ...tensor import Tensor
from ..normalization import read_layer_norm, read_rms_norm
from ..shape import sizes_of
from .domain import microsoft
from .fused import channels_first, channels_last


@microsoft("LayerNormalization")
def read_layer_normalization(node, ops):
    return read_layer_norm(node, ops)


@microsoft("SimplifiedLayerNormalization")
def read_simplified_layer_norm(node, ops):
    return read_rms_norm(node, ops)


@microsoft("SkipLayerNormalization")
def read_skip_layer_norm(node, ops):
    """layer_norm(x + skip + bias); output 3 is the sum."""
    total = node.tensor(0) + node.tensor(1)
    total = total + node.tensor(4) if node.has(4) else total
    return _of_sum(node, "LayerNormalization", total, node.inputs[2], node.inputs[3] if node.has(3) else None)


@microsoft("SkipSimplifiedLayerNormalization")
def read_skip_rms_norm(node, ops):
    """rms_norm(x + skip + bias); output 3 is the sum."""
    total = node.tensor(0) + node.tensor(1)
    total = total + node.tensor(3) if node.has(3) else total
    if node.wants(1) or node.wants(2):
        node.refuse("the inverse deviation as an output cannot be read")
    return _of_sum(node, "RMSNormalization", total, node.inputs[2])


def _of_sum(node, op_type: str, total: Tensor, *parameters):
    default = 1e-12 if op_type == "LayerNormalization" else 1e-5
    results = node.read_as(op_type, total, *parameters, axis=-1, epsilon=node.float("epsilon", default))
    y, *statistics = results if isinstance(results, tuple) else (results,)
    return (y, *[*statistics, None, None][:2], total)


@microsoft("EmbedLayerNormalization")
def read_embed_layer_norm(node, ops):
    """layer_norm of the sum of word, position and segment embeddings; output 1 counts the mask, output 2 is the sum."""
    ids = node.tensor(0)
    batch, length = sizes_of(ids)
    places = ops.gather(node.tensor(3), node.tensor(8), axis=0) if node.has(8) else slice_along(node.tensor(3), 0, 0, length)
    total = ops.gather(node.tensor(2), ids, axis=0) + places
    total = total + ops.gather(node.tensor(4), node.tensor(1), axis=0) if node.has(1) and node.has(4) else total
    y = ops.layer_norm(total, node.tensor(5), node.tensor(6), eps=node.float("epsilon", 1e-12))
    counts = ops.sum(node.tensor(7), axis=1).astype(dtypes.int32) if node.has(7) else ops.full(Tensor._wrap(np.zeros((), np.int32)), shape=(batch,))
    return y, counts, total


@microsoft("GroupNorm", "SkipGroupNorm")
def read_group_norm(node, ops):
    """Group normalization in f32 of x (n, h, w, c), or with a skip of x + skip + bias, then silu where `activation` is 1."""
    x = node.tensor(0)
    if node.op_type == "SkipGroupNorm":
        x = x + node.tensor(3)
        x = x + node.tensor(4) if node.has(4) else x
    last = bool(node.int("channels_last", 1))
    wide = (channels_first(x) if last else x).astype(dtypes.float32)
    y = ops.group_norm(wide, node.tensor(1), node.tensor(2), num_groups=node.int("groups"), eps=node.float("epsilon", 1e-5))
    y = ops.silu(y) if node.int("activation", 0) else y
    return (channels_last(y) if last else y).astype(x.dtype), x
