"""Linear quantization."""
from __future__ import annotations

import numpy as np

from ...dialect import dtypes
from ...dialect.shapes import normalize_axis
from ..ops.declared import declared as om
from ..tensor import Tensor
from .narrow import dequantized, NARROW, quantized
from .registry import reads


def one(parameter: Tensor | None) -> Tensor | None:
    """A scale or zero point of one element as a scalar."""
    return om.reshape(parameter, shape=()) if parameter is not None and parameter.shape == (1,) else parameter


def zero_point(node, number: int) -> Tensor | None:
    """Input `number`, a zero point: a scalar where it has one element, None where it is left out or known to be 0 throughout."""
    known = node.has(number) and node.value(number).array is not None
    return None if known and not node.array(number).any() else one(node.optional(number))


def of_words(words: Tensor, factor: Tensor, zero: Tensor) -> Tensor:
    """i32 numbers times `factor`, rounded to integers of y's zero point: round(words * factor) + zero, saturated."""
    return om.quantize_linear(words.astype(dtypes.float32) * factor, np.float32(1.0), zero)


def _parameters(node) -> dict:
    """Scale and zero point, and the axis and the size of blocks, which count for parameters of several elements alone."""
    block, scale, zero = node.int("block_size", 0), node.tensor(1), node.optional(2) if node.has(2) and node.value(2).narrow is None else None
    if not block:
        scale, zero = one(scale), one(zero)
    axis = node.int("axis", 1)
    return {"scale": scale, "zero_point": zero, "axis": normalize_axis(axis, node.rank(0)) if scale.ndim else axis, "block_size": block}


@reads("QuantizeLinear")
def read_quantize(node, ops):
    parameters = _parameters(node)
    number = node.value(2).narrow if node.has(2) else node.int("output_dtype", 0)
    if number in NARROW:
        zero = node.inputs[2] if node.has(2) else None
        return quantized(node.tensor(0), parameters["scale"], zero, number, parameters["axis"], parameters["block_size"], bool(node.int("saturate", 1)))
    dtype = node.dtype_attribute("output_dtype") if node.int("output_dtype", 0) else None
    options = {} if dtype is None or node.has(2) else {"dtype": dtype}
    return ops.quantize_linear(node.tensor(0), **parameters, **options)


@reads("DequantizeLinear")
def read_dequantize(node, ops):
    parameters = _parameters(node)
    if node.value(0).narrow is not None:
        zero = node.inputs[2] if node.has(2) else None
        return dequantized(node.value(0), parameters["scale"], zero, parameters["axis"], parameters["block_size"])
    if node.has(2) and node.value(2).array is not None and not node.array(2).any():
        parameters["zero_point"] = None
    y = ops.dequantize_linear(node.tensor(0), **parameters)
    return y.astype(node.dtype_attribute("output_dtype")) if node.int("output_dtype", 0) else y


@reads("DynamicQuantizeLinear")
def read_dynamic_quantize(node, ops):
    return dynamically_quantized(node.tensor(0))


def dynamically_quantized(x: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """u8 of x with the scale (max(x, 0) - min(x, 0)) / 255, 1 where x is 0 throughout as in onnxruntime, and the zero point round(-min / scale)."""
    zero = Tensor._wrap(np.zeros((), np.float32))
    high, low = om.maximum(om.max(x), zero), om.minimum(om.min(x), zero)
    scale = om.where(om.equal(high, low), np.float32(1.0), (high - low) / 255.0)
    point = om.minimum(om.maximum(om.round(0.0 - low / scale), 0.0), 255.0).astype(dtypes.uint8)
    return om.quantize_linear(x, scale, point), scale, point
