"""Linear quantization."""
from __future__ import annotations

import numpy as np

from ...dialect import dtypes
from ...dialect.shapes import normalize_axis
from ..tensor import Tensor
from .narrow import dequantized, NARROW, quantized
from .registry import reads


def _axis(node) -> int:
    scale = node.rank(1)
    axis = node.int("axis", 1)
    return normalize_axis(axis, node.rank(0)) if scale else axis


@reads("QuantizeLinear")
def read_quantize(node, ops):
    scale = node.tensor(1)
    number = node.value(2).narrow if node.has(2) else node.int("output_dtype", 0)
    if number in NARROW:
        return quantized(node.tensor(0), scale, node.inputs[2] if node.has(2) else None, number, _axis(node), node.int("block_size", 0), bool(node.int("saturate", 1)))
    zero = node.optional(2)
    dtype = node.dtype_attribute("output_dtype") if node.int("output_dtype", 0) else None
    options = {} if dtype is None or zero is not None else {"dtype": dtype}
    return ops.quantize_linear(node.tensor(0), scale, zero, axis=_axis(node), block_size=node.int("block_size", 0), **options)


@reads("DequantizeLinear")
def read_dequantize(node, ops):
    scale = node.tensor(1)
    if node.value(0).narrow is not None:
        return dequantized(node.value(0), scale, node.inputs[2] if node.has(2) else None, _axis(node), node.int("block_size", 0))
    x, zero = node.tensor(0), node.optional(2)
    y = ops.dequantize_linear(x, scale, zero, axis=_axis(node), block_size=node.int("block_size", 0))
    return y.astype(node.dtype_attribute("output_dtype")) if node.int("output_dtype", 0) else y


@reads("DynamicQuantizeLinear")
def read_dynamic_quantize(node, ops):
    """u8 of x with the scale (max(x, 0) - min(x, 0)) / 255 and the zero point round(-min / scale)."""
    x = node.tensor(0)
    zero = Tensor._wrap(np.zeros((), np.float32))
    high, low = ops.maximum(ops.max(x), zero), ops.minimum(ops.min(x), zero)
    scale = (high - low) / 255.0
    point = ops.minimum(ops.maximum(ops.round(0.0 - low / scale), 0.0), 255.0).astype(dtypes.uint8)
    return ops.quantize_linear(x, scale, point), scale, point
