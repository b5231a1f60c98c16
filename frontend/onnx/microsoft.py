"""Operators of the domain com.microsoft that exporters and onnxruntime's optimizer write."""
from __future__ import annotations

from ...dialect import dtypes
from ..ops.declared import declared as om
from ..tensor import Tensor
from .registry import reads

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


__all__ = ["dtypes"]
