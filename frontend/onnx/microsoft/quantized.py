"""Operators on quantized tensors: each computes in f32, or in i32 where a product is exact, and rounds once."""
from __future__ import annotations


from ....dialect import dtypes
from ...ops.declared import declared as om
from ...tensor import Tensor
from ..convolution import read_qlinear_conv
from ..linear_algebra import matmul_of_integers
from ..quantization import dynamically_quantized, one, read_dequantize, read_quantize, zero_point
from .domain import microsoft
from .fused import channels_first, channels_last, swapped


@microsoft("QuantizeLinear")
def read_quantize_linear(node, ops):
    return read_quantize(node, ops)


@microsoft("DequantizeLinear")
def read_dequantize_linear(node, ops):
    return read_dequantize(node, ops)


def dequantized(node, first: int) -> Tensor:
    """Input `first`, with scale and zero point behind it, as numbers."""
    return om.dequantize_linear(node.tensor(first), one(node.tensor(first + 1)), one(node.optional(first + 2)))


def requantized(node, y: Tensor, scale: int, dtype=dtypes.uint8) -> Tensor:
    """y as integers by the scale that input `scale` is, and the zero point behind it."""
    zero = one(node.optional(scale + 1))
    return om.quantize_linear(y, one(node.tensor(scale)), zero, **({} if zero is not None else {"dtype": dtype}))


@microsoft("QLinearAdd", "QLinearMul")
def read_qlinear_binary(node, ops):
    a, b = dequantized(node, 0), dequantized(node, 3)
    return requantized(node, a + b if node.op_type == "QLinearAdd" else a * b, 6, node.value(0).dtype)


@microsoft("QLinearSigmoid", "QLinearLeakyRelu")
def read_qlinear_unary(node, ops):
    x = dequantized(node, 0)
    y = ops.sigmoid(x) if node.op_type == "QLinearSigmoid" else ops.leaky_relu(x, negative_slope=node.float("alpha", 0.01))
    return requantized(node, y, 3, node.value(0).dtype)


@microsoft("QLinearSoftmax")
def read_qlinear_softmax(node, ops):
    version = node.int("opset", 13)
    y = node.read_as("Softmax", dequantized(node, 0), version=version, axis=node.int("axis", -1 if version >= 13 else 1))
    return requantized(node, y, 3, node.value(0).dtype)


@microsoft("QLinearWhere")
def read_qlinear_where(node, ops):
    return requantized(node, ops.where(node.tensor(0), dequantized(node, 1), dequantized(node, 4)), 7, node.value(1).dtype)


@microsoft("QLinearReduceMean")
def read_qlinear_reduce_mean(node, ops):
    x = dequantized(node, 0)
    return requantized(node, ops.mean(x, axis=node.ints_attribute("axes"), keepdims=bool(node.int("keepdims", 1))), 3, node.value(0).dtype)


@microsoft("QLinearGlobalAveragePool", "QLinearAveragePool")
def read_qlinear_average_pool(node, ops):
    x = dequantized(node, 0)
    last = bool(node.int("channels_last", 0))
    y = node.read_as(node.op_type.removeprefix("QLinear"), channels_first(x) if last else x)
    return requantized(node, channels_last(y) if last else y, 3, node.value(0).dtype)


@microsoft("QLinearConcat")
def read_qlinear_concat(node, ops):
    parts = [dequantized(node, i) for i in range(2, len(node.inputs), 3)]
    return requantized(node, ops.concat(parts, axis=node.int("axis")), 0)


@microsoft("QLinearConv")
def read_microsoft_qlinear_conv(node, ops):
    """QLinearConv, with channels_last of (n, h, w, c)."""
    if not node.int("channels_last", 0):
        return read_qlinear_conv(node, ops)
    x = channels_first(node.tensor(0))
    return channels_last(node.read_as("QLinearConv", x, *node.inputs[1:]))


@microsoft("QGemm")
def read_qgemm(node, ops):
    """alpha * op(a) @ op(b) + c in i32 with the scales of a and b; f32 where y has no scale, else integers."""
    a, b = (swapped(node.tensor(i)) if node.int(trans, 0) else node.tensor(i) for i, trans in ((0, "transA"), (3, "transB")))
    product = matmul_of_integers(a, b, zero_point(node, 2), zero_point(node, 5))
    product = product + node.tensor(6) if node.has(6) else product
    y = product.astype(dtypes.float32) * (one(node.tensor(1)) * one(node.tensor(4)) * node.float("alpha", 1.0))
    return requantized(node, y, 7, node.value(0).dtype) if node.has(7) else y


def scaled_product(product: Tensor, a_scale: Tensor, b_scale: Tensor, bias: Tensor | None) -> Tensor:
    """An i32 product as numbers."""
    y = product.astype(dtypes.float32) * (one(a_scale) * one(b_scale))
    return y if bias is None else y + bias


@microsoft("MatMulIntegerToFloat")
def read_matmul_integer_to_float(node, ops):
    a, b, a_scale, b_scale = (node.tensor(i) for i in range(4))
    product = matmul_of_integers(a, b, zero_point(node, 4), zero_point(node, 5))
    return scaled_product(product, a_scale, b_scale, node.optional(6))


@microsoft("DynamicQuantizeMatMul")
def read_dynamic_quantize_matmul(node, ops):
    """A quantized by its own range, times the integers B."""
    a, a_scale, a_zero = dynamically_quantized(node.tensor(0))
    product = matmul_of_integers(a, node.tensor(1), a_zero, zero_point(node, 3))
    return scaled_product(product, a_scale, node.tensor(2), node.optional(4))
