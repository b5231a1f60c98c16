"""Patterns of `om-simplify` that keep quantized tensors in their integers, where f32 numbers would only be moved.

    %1 = dequantize_linear(%0, %s, %z)          %1 = reshape(%0)
    %2 = reshape(%1)                       ->   (nothing: %1 is what %3 was)
    %3 = quantize_linear(%2, %s, %z)

All are exact: dequantizing is monotone where the scale is positive, and quantizing gives back the integer that was dequantized.
"""
from __future__ import annotations

from typing import Container

import numpy as np
from mlir import ir

from ...dialect.build import create, OpView, view
from ...dialect.declare import Op
from ...dialect.ops import indexing, pooling, shape
from ...dialect.ops.constant import Constant, Parameter
from ...dialect.ops.quantization import DequantizeLinear, QuantizeLinear
from .patterns import rewrites, Rewriter


@rewrites(shape.Reshape, shape.Transpose, shape.Slice, shape.BroadcastTo, indexing.Gather, pooling.MaxPool)
def move_of_dequantized(op: OpView, rewriter: Rewriter):
    """Elements are moved, or chosen by their order, before they are dequantized by one scale."""
    inner = rewriter.producer(op.operands[0], DequantizeLinear)
    if inner is None or not is_per_tensor(inner):
        return None
    if op.declaration is pooling.MaxPool and not positive_literal(inner.operand("scale"), rewriter):
        return None
    result, integers = (ir.RankedTensorType(v.type) for v in (op.results[0], inner.operand("x")))
    type = ir.RankedTensorType.get(result.shape, integers.element_type)
    moved = create(op.declaration, [inner.operand("x"), *op.operands[1:]], op.attributes, [type], op.sizes).results[0]
    return create(DequantizeLinear, [moved, *inner.operands[1:]], inner.attributes, [op.results[0].type]).results[0]


@rewrites(QuantizeLinear)
def quantized_again(op: OpView, rewriter: Rewriter):
    """Quantizing gives back what was dequantized by the same scale and zero point."""
    inner = rewriter.producer(op.operand("x"), DequantizeLinear)
    if inner is None or not is_per_tensor(inner) or not is_per_tensor(op) or inner.operand("x").type != op.results[0].type:
        return None
    if not positive_literal(op.operand("scale"), rewriter) or not _is_equal(inner.operand("scale"), op.operand("scale"), rewriter):
        return None
    return inner.operand("x") if _is_equal(inner.operand("zero_point"), op.operand("zero_point"), rewriter) else None


def is_per_tensor(op: OpView) -> bool:
    """Whether an op has one scale for all elements."""
    return ir.RankedTensorType(op.operand("scale").type).shape in ([], [1]) and not op.attributes["block_size"]


def positive_literal(scale: ir.Value, rewriter: Rewriter) -> bool:
    """Whether a scale is written in the IR, and is positive and large enough that its multiples are told apart."""
    number = literal(scale, rewriter)
    return number is not None and number.size == 1 and np.finfo(number.dtype).tiny <= number.item() < np.inf


def literal(value: ir.Value | None, rewriter: Rewriter) -> np.ndarray | None:
    """The array that a constant holds."""
    op = rewriter.producer(value, Constant)
    return None if op is None else np.asarray(op.attributes["value"])


def is_constant(value: ir.Value, through: Container[type[Op]]) -> bool:
    """Whether a value is made of weights and literals alone, by ops of these kinds."""
    op = None if isinstance(value.owner, ir.Block) else view(value.owner.operation)
    if op is None or op.declaration in (Constant, Parameter):
        return op is not None
    return op.declaration in through and all(v is None or is_constant(v, through) for v in op.operands)


def _is_equal(a: ir.Value | None, b: ir.Value | None, rewriter: Rewriter) -> bool:
    """Whether two parameters of a quantization are the same number; none is a zero point of 0."""
    if a is not None and a == b:
        return True
    numbers = [np.zeros(1) if v is None else literal(v, rewriter) for v in (a, b)]
    return all(n is not None and n.size == 1 for n in numbers) and numbers[0].item() == numbers[1].item()
