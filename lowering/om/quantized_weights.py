"""`om-keep-quantized-weights`: products by large dequantized weights, and rows of large dequantized tables, read the integers, a quarter or
an eighth of the memory.

    %0 = "om.dequantize_linear"(%v, %s, %z) {axis = 0}
    %1 = "om.linear"(%x, %0)                              ->    %0 = "om.dequantized_linear"(%x, %v, %s, %z)

    %0 = "om.dequantize_linear"(%v, %s)                         %0 = "om.gather"(%v, %i)
    %1 = "om.gather"(%0, %i)                              ->    %1 = "om.dequantize_linear"(%0, %s)
"""
from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from mlir import ir

from ...dialect import dtypes
from ...dialect.build import OpView
from ...dialect.graph import Node
from ...dialect.ops.elementwise import BitwiseAnd, Cast, Subtract
from ...dialect.ops.indexing import Gather
from ...dialect.ops.linear_algebra import Linear, Matmul
from ...dialect.ops.quantization import Byte, DequantizedLinear, DequantizeLinear
from ...dialect.ops.shape import Reshape, Slice, Transpose
from ..kernels.rounded_matmul import is_in_words
from ..targets import host
from .patterns import apply_patterns, Rewriter
from .quantized_moves import is_constant, literal

SMALLEST = 1 << 18
"""Numbers of a weight or table that is worth it: in f32 it would not stay in L2."""
LARGEST = 127.0  # of the integers of a block of x
OF_WEIGHTS = (Reshape, Slice, Transpose, Cast, BitwiseAnd, Subtract)
"""What moves the numbers of a weight, or masks their bits."""


def keep_quantized_weights(module: ir.Module) -> bool:
    """Rewrite the products of all functions; whether any changed."""
    patterns = {Matmul: [of_matmul], Linear: [of_linear], Gather: [of_gather], DequantizedLinear: [of_rounded]}
    return apply_patterns(module, patterns, apart=True)


def of_matmul(op: OpView, rewriter: Rewriter):
    found = Weight.of(rewriter, op.operand("x"), op.operand("y"), 1)
    return None if found is None else found.product(rewriter.node(op.operand("x")))


def of_linear(op: OpView, rewriter: Rewriter):
    found, bias = Weight.of(rewriter, op.operand("x"), op.operand("weight"), 0), op.operand("bias")
    if found is None:
        return None
    product = found.product(rewriter.node(op.operand("x")))
    return product if bias is None else product + rewriter.node(bias)


def of_gather(op: OpView, rewriter: Rewriter):
    """Along another axis than that of the scales, which are one, or one for each place or block of their axis; or rows that have one each."""
    table = rewriter.producer(op.operand("x"), DequantizeLinear)
    if table is None or not is_constant(table.operand("x"), OF_WEIGHTS):
        return None
    operands = table.operand("x"), table.operand("scale"), table.operand("zero_point"), op.operand("indices")
    numbers, scale, zero, indices = (v if v is None else rewriter.node(v) for v in operands)
    along, axis, block = op.attributes["axis"] % max(numbers.rank, 1), table.attributes["axis"] % max(numbers.rank, 1), table.attributes["block_size"]
    if not _is_large(numbers) or (block and axis == along):
        return None
    ops = rewriter.ops
    rows = lambda x: None if x is None else ops.gather(x, indices, axis=along)
    moved = axis + (indices.rank - 1 if along < axis else 0)
    if scale.rank == 1 and scale.shape != (1,) and axis == along:
        if along:
            return None
        each = lambda x: None if x is None else ops.reshape(rows(x), shape=(*indices.shape, 1))
        return ops.dequantize_linear(rows(numbers), each(scale), each(zero), axis=indices.rank, block_size=numbers.shape[1])
    parameters = (rows(scale), rows(zero)) if block else (scale, zero)
    return ops.dequantize_linear(rows(numbers), *parameters, axis=moved, block_size=block)


def of_rounded(op: OpView, rewriter: Rewriter):
    """x as i8, a scale for each block, where the processor multiplies bytes and x may be rounded so."""
    block, k = op.attributes["block_size"], rewriter.node(op.operand("weight")).shape[1]
    unsigned = rewriter.node(op.operand("weight")).dtype == dtypes.uint8 and rewriter.node(op.operand("scale")).dtype == dtypes.float32
    if not op.attributes["rounds_x"] or op.operand("x_scale") is not None or not host().byte_products or not unsigned or not is_in_words(block, k):
        return None
    ops, x = rewriter.ops, rewriter.node(op.operand("x"))
    blocks = ops.reshape(x, shape=(*x.shape[:-1], k // block, block))
    top = ops.max(ops.abs(blocks), axis=(blocks.rank - 1,), keepdims=True)
    factor = ops.where(ops.greater(top, ops.constant(value=np.zeros((), np.float32))), LARGEST / top, ops.constant(value=np.zeros((), np.float32)))
    rounded = ops.reshape(ops.cast(ops.round(blocks * factor), dtype=dtypes.int8), shape=x.shape)
    x_scale = ops.reshape(top * (1 / LARGEST), shape=(*x.shape[:-1], k // block))
    weight, scale, zero = (v if v is None else rewriter.node(v) for v in (op.operand(name) for name in ("weight", "scale", "zero_point")))
    return ops.dequantized_linear(rounded, weight, scale, zero, x_scale, block_size=block, bits=op.attributes["bits"])


@dataclass(frozen=True)
class Weight:
    """A dequantized weight, as it is stored: its axis of columns of the product, and what its numbers and scales are along the other one."""

    numbers: Node
    scale: Node
    zero: Node | None
    columns: int
    block: int
    bits: int

    @staticmethod
    def of(rewriter: Rewriter, x: ir.Value, value: ir.Value, columns: int) -> "Weight | None":
        """None where the value is not a weight of this kind: of bytes, with one scale a column or a block of a column, in f32."""
        turned = rewriter.producer(value, Transpose)
        if turned is not None and tuple(turned.attributes["axes"]) == (1, 0):
            value, columns = turned.operand("x"), 1 - columns
        op = rewriter.producer(value, DequantizeLinear)
        if op is None or not is_constant(op.operand("x"), OF_WEIGHTS):
            return None
        numbers, scale = (rewriter.node(op.operand(name)) for name in ("x", "scale"))
        zero = None if op.operand("zero_point") is None else rewriter.node(op.operand("zero_point"))
        left = rewriter.node(x)
        if left.rank < 1 or left.dtype != dtypes.float32 or scale.dtype != dtypes.float32 or numbers.dtype not in Byte or not _is_large(numbers):
            return None
        axis, block = op.attributes["axis"] % 2, op.attributes["block_size"]
        if (axis == columns) if block else (scale.rank == 1 and scale.shape != (1,) and axis != columns):
            return None
        bits = 4 if numbers.dtype == dtypes.uint8 and _is_masked(rewriter, op.operand("x")) else 8
        return Weight(numbers, scale, zero, columns, block, bits)

    def product(self, x: Node) -> Node:
        ops = x.builder.ops
        rows = lambda parameter: parameter if parameter is None or self.columns == 0 else ops.transpose(parameter, axes=(1, 0))
        if self.block:
            return ops.dequantized_linear(x, rows(self.numbers), rows(self.scale), rows(self.zero), block_size=self.block, bits=self.bits)
        n, k = self.numbers.shape[self.columns], self.numbers.shape[1 - self.columns]
        each = lambda parameter: parameter if parameter is None else ops.broadcast_to(
            ops.reshape(parameter, shape=(n if parameter.rank == 1 and parameter.shape != (1,) else 1, 1)), shape=(n, 1))
        return ops.dequantized_linear(x, rows(self.numbers), each(self.scale), each(self.zero), block_size=k, bits=self.bits)


def _is_large(numbers: Node) -> bool:
    return numbers.rank == 2 and all(isinstance(s, int) for s in numbers.shape) and numbers.shape[0] * numbers.shape[1] >= SMALLEST


def _is_masked(rewriter: Rewriter, value: ir.Value) -> bool:
    """Whether only the lower four bits of all numbers can be set."""
    op = rewriter.producer(value, *OF_WEIGHTS)
    if op is None:
        return False
    if op.declaration is BitwiseAnd:
        masks = [literal(v, rewriter) for v in op.operands]
        return any(mask is not None and mask.size == 1 and 0 <= mask.item() <= 15 for mask in masks)
    return op.declaration in (Reshape, Slice, Transpose) and _is_masked(rewriter, op.operands[0])
