"""Operators of the domain com.microsoft that exporters and onnxruntime's optimizer write."""
from __future__ import annotations

import numpy as np

from ...dialect import dtypes, symbolic
from ..ops.declared import declared as om
from ..ops.joining import split
from ..ops.shape import slice_along
from ..tensor import Tensor
from .registry import reads
from .shape import sizes_of

MICROSOFT = "com.microsoft"


def _swapped(x: Tensor) -> Tensor:
    return om.transpose(x, axes=(*range(x.ndim - 2), x.ndim - 1, x.ndim - 2))


@reads("FusedMatMul", domain=MICROSOFT)
def read_fused_matmul(node, ops):
    """alpha * op(A) @ op(B)."""
    a, b = node.tensor(0), node.tensor(1)
    if node.int("transBatchA", 0) or node.int("transBatchB", 0):
        node.refuse("transposed batch axes cannot be read")
    product = ops.matmul(_swapped(a) if node.int("transA", 0) else a, _swapped(b) if node.int("transB", 0) else b)
    alpha = node.float("alpha", 1.0)
    return product if alpha == 1 else product * alpha


@reads("Gelu", domain=MICROSOFT)
def read_gelu(node, ops):
    return ops.gelu(node.tensor(0))


def _with_bias(node, number: int) -> Tensor:
    x = node.tensor(0)
    return x + node.tensor(number) if node.has(number) else x


@reads("FastGelu", domain=MICROSOFT)
def read_fast_gelu(node, ops):
    return ops.gelu(_with_bias(node, 1), approximate="tanh")


@reads("BiasGelu", domain=MICROSOFT)
def read_bias_gelu(node, ops):
    return ops.gelu(_with_bias(node, 1))


@reads("QuickGelu", domain=MICROSOFT)
def read_quick_gelu(node, ops):
    x = node.tensor(0)
    return x * ops.sigmoid(x * node.float("alpha", 1.702))


@reads("SkipLayerNormalization", domain=MICROSOFT)
def read_skip_layer_norm(node, ops):
    """layer_norm(x + skip + bias); output 3 is the sum."""
    total = node.tensor(0) + node.tensor(1)
    total = total + node.tensor(4) if node.has(4) else total
    y = ops.layer_norm(total, node.tensor(2), node.optional(3), eps=node.float("epsilon", 1e-12))
    return _skip_results(node, y, total)


@reads("SkipSimplifiedLayerNormalization", domain=MICROSOFT)
def read_skip_rms_norm(node, ops):
    """rms_norm(x + skip + bias); output 3 is the sum."""
    total = node.tensor(0) + node.tensor(1)
    total = total + node.tensor(3) if node.has(3) else total
    return _skip_results(node, ops.rms_norm(total, node.tensor(2), eps=node.float("epsilon", 1e-5)), total)


def _skip_results(node, y, total):
    if node.wants(1) or node.wants(2):
        node.refuse("mean and inverse deviation as outputs cannot be read")
    return y, None, None, total


@reads("FusedConv", domain=MICROSOFT)
def read_fused_conv(node, ops):
    """Conv, then an addend, then an activation."""
    from .convolution import convolved

    y = convolved(node, node.tensor(0), node.tensor(1), node.optional(2))
    y = y + node.tensor(3) if node.has(3) else y
    kind, parameters = node.text("activation", ""), node.floats("activation_params", ())
    known = {"": lambda t: t, "Relu": ops.relu, "Sigmoid": ops.sigmoid, "Tanh": ops.tanh}
    if kind in known:
        return known[kind](y)
    if kind == "LeakyRelu":
        return ops.leaky_relu(y, negative_slope=parameters[0])
    if kind == "Clip":
        return ops.minimum(ops.maximum(y, parameters[0]), parameters[1])
    return node.refuse(f"the activation '{kind}' cannot be read")


@reads("FusedGemm", domain=MICROSOFT)
def read_fused_gemm(node, ops):
    from .linear_algebra import read_gemm

    y, kind = read_gemm(node, ops), node.text("activation", "")
    known = {"": lambda t: t, "Relu": ops.relu, "Sigmoid": ops.sigmoid, "Tanh": ops.tanh}
    return known[kind](y) if kind in known else node.refuse(f"the activation '{kind}' cannot be read")


@reads("QuantizeLinear", domain=MICROSOFT)
def read_quantize(node, ops):
    from .quantization import read_quantize as read

    return read(node, ops)


@reads("DequantizeLinear", domain=MICROSOFT)
def read_dequantize(node, ops):
    from .quantization import read_dequantize as read

    return read(node, ops)


def _dequantized(node, first: int) -> Tensor:
    return om.dequantize_linear(node.tensor(first), node.tensor(first + 1), node.optional(first + 2))


@reads("QLinearAdd", "QLinearMul", domain=MICROSOFT)
def read_qlinear_binary(node, ops):
    a, b = _dequantized(node, 0), _dequantized(node, 3)
    y = a + b if node.op_type == "QLinearAdd" else a * b
    return ops.quantize_linear(y, node.tensor(6), node.optional(7))


@reads("QLinearSigmoid", "QLinearLeakyRelu", domain=MICROSOFT)
def read_qlinear_unary(node, ops):
    x = _dequantized(node, 0)
    y = ops.sigmoid(x) if node.op_type == "QLinearSigmoid" else ops.leaky_relu(x, negative_slope=node.float("alpha", 0.01))
    return ops.quantize_linear(y, node.tensor(3), node.optional(4))


@reads("QLinearGlobalAveragePool", domain=MICROSOFT)
def read_qlinear_global_average_pool(node, ops):
    if node.int("channels_last", 0):
        node.refuse("channels_last cannot be read")
    x = _dequantized(node, 0)
    return ops.quantize_linear(ops.mean(x, axis=tuple(range(2, x.ndim)), keepdims=True), node.tensor(3), node.optional(4))


@reads("QLinearConcat", domain=MICROSOFT)
def read_qlinear_concat(node, ops):
    parts = [_dequantized(node, i) for i in range(2, len(node.inputs), 3)]
    return ops.quantize_linear(ops.concat(parts, axis=node.int("axis")), node.tensor(0), node.tensor(1))


def _split_heads(x: Tensor, heads: int) -> Tensor:
    """(batch, length, heads * width) as (batch, heads, length, width)."""
    batch, length, width = sizes_of(x)
    return om.transpose(om.reshape(x, shape=(batch, length, heads, symbolic.floordiv(width, heads))), axes=(0, 2, 1, 3))


def _attended(node, q: Tensor, k: Tensor, v: Tensor, mask, causal: bool) -> Tensor:
    heads, scale = node.int("num_heads"), node.float("scale", 0.0)
    q, k, v = (_split_heads(t, heads) for t in (q, k, v))
    y = om.attention(q, k, v, mask, is_causal=causal, scale=scale or None)
    batch, _, length, width = sizes_of(y)
    return om.reshape(om.transpose(y, axes=(0, 2, 1, 3)), shape=(batch, length, symbolic.mul(width, heads)))


def _padding_mask(node, number: int):
    """A mask (batch, length) of places that count, as one that broadcasts over heads and queries; others are refused."""
    if not node.has(number):
        return None
    if node.rank(number) != 2:
        node.refuse(f"masks of shape (batch, length) can be read, found rank {node.rank(number)}")
    batch, length = node.shape(number)
    mask = om.reshape(node.tensor(number).astype(bool), shape=(batch, 1, 1, length))
    return om.where(mask, 0.0, Tensor(node.float("mask_filter_value", -10000.0))).astype(node.value(0).dtype)


@reads("Attention", domain=MICROSOFT)
def read_attention(node, ops):
    """Self-attention with the weights of query, key and value side by side. Caches, biases on the scores and unequal sizes are refused."""
    if any(node.has(i) for i in (4, 5)) or node.wants(1) or node.ints_attribute("qkv_hidden_sizes") or node.int("do_rotary", 0):
        node.refuse("attention with a cache, a bias on the scores, rotation or unequal sizes cannot be read")
    x = ops.matmul(node.tensor(0), node.tensor(1))
    x = x + node.tensor(2) if node.has(2) else x
    q, k, v = split(x, 3, axis=2)
    return _attended(node, q, k, v, _padding_mask(node, 3), bool(node.int("unidirectional", 0)))


@reads("MultiHeadAttention", domain=MICROSOFT)
def read_multi_head_attention(node, ops):
    if any(node.has(i) for i in range(5, len(node.inputs))) or node.wants(1) or not node.has(1) or not node.has(2) or node.rank(1) != 3:
        node.refuse("attention with a cache, packed operands or a bias on the scores cannot be read")
    tensors = [node.tensor(i) for i in range(3)]
    if node.has(3):
        widths = [sizes_of(t)[-1] for t in tensors]
        starts = [0, widths[0], widths[0] + widths[1]]
        tensors = [t + slice_along(node.tensor(3), 0, start, width) for t, start, width in zip(tensors, starts, widths)]
    return _attended(node, *tensors, _padding_mask(node, 4), bool(node.int("unidirectional", 0)))


@reads("EmbedLayerNormalization", domain=MICROSOFT)
def read_embed_layer_norm(node, ops):
    """layer_norm of the sum of word, position and segment embeddings; output 1 counts the mask."""
    if node.has(8):
        node.refuse("position ids as an input cannot be read")
    ids = node.tensor(0)
    batch, length = sizes_of(ids)
    places = slice_along(node.tensor(3), 0, 0, length)
    total = ops.gather(node.tensor(2), ids, axis=0) + places
    total = total + ops.gather(node.tensor(4), node.tensor(1), axis=0) if node.has(1) and node.has(4) else total
    y = ops.layer_norm(total, node.tensor(5), node.tensor(6), eps=node.float("epsilon", 1e-12))
    counts = ops.sum(node.tensor(7), axis=1).astype(dtypes.int32) if node.has(7) else ops.full(Tensor._wrap(np.zeros((), np.int32)), shape=(batch,))
    return y, counts, total
