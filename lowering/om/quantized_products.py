"""`om-multiply-quantized`: products of dequantized numbers by weights become products of integers, where the processor multiplies bytes.

    %0 = "om.dequantize_linear"(%q, %a, %z)                %0 = "om.matmul_integer"(%q, %v, %z, %u)
    %1 = "om.dequantize_linear"(%v, %b, %u)          ->    %1 = "om.cast"(%0) {dtype = f32}
    %2 = "om.matmul"(%0, %1)                               %2 = "om.multiply"(%1, %ab)

The sum is exact before it is rounded once and scaled, so results differ by the rounding of an f32 sum.
"""
from __future__ import annotations

from mlir import ir

from ...dialect import dtypes
from ...dialect.build import OpView
from ...dialect.ops.linear_algebra import Byte, Linear, Matmul
from ...dialect.ops.quantization import DequantizeLinear
from ..targets import host
from .patterns import apply_patterns, Rewriter


def multiply_quantized(module: ir.Module) -> bool:
    """Rewrite the products of all functions, for a target with products of bytes; whether any changed."""
    return host().byte_products and apply_patterns(module, {Matmul: [of_matmul], Linear: [of_linear]})


def of_matmul(op: OpView, rewriter: Rewriter):
    return _product(rewriter, op.operand("x"), op.operand("y"), 1)


def of_linear(op: OpView, rewriter: Rewriter):
    product, bias = _product(rewriter, op.operand("x"), op.operand("weight"), 0), op.operand("bias")
    return product if product is None or bias is None else product + rewriter.node(bias)


def _product(rewriter: Rewriter, x: ir.Value, weight: ir.Value, columns: int):
    """x @ weight, whose axis `columns` is that of the result; None where they are not numbers of 8 bits."""
    left, right = (rewriter.producer(value, DequantizeLinear) for value in (x, weight))
    if left is None or right is None or not _is_weight(right.operand("x")):
        return None
    ops = rewriter.ops
    x, a, x_zero = _operands(left, rewriter)
    y, b, y_zero = _operands(right, rewriter)
    steps = y.shape[1 - columns] if y.rank == 2 else None
    if steps is None or x.rank < 2 or x.shape[-1] != steps or not all(isinstance(s, int) and s > 0 for s in y.shape):
        return None
    one_scale = a.rank == 0 or a.shape == (1,)
    per_column = b.rank == 0 or b.shape == (1,) or (b.rank == 1 and right.attributes["axis"] % 2 == columns)
    if not one_scale or not per_column or any(p.attributes["block_size"] for p in (left, right)):
        return None
    if x.dtype not in Byte or y.dtype not in Byte or a.dtype != dtypes.float32 or b.dtype != dtypes.float32:
        return None
    number = lambda v: v if v is None or v.shape != (1,) else ops.reshape(v, shape=())
    y = y if columns else ops.transpose(y, axes=(1, 0))
    product = ops.matmul_integer(x, y, number(x_zero), number(y_zero))
    return ops.cast(product, dtype=dtypes.float32) * (number(a) * number(b))


def _operands(op: OpView, rewriter: Rewriter) -> list:
    return [None if op.operand(name) is None else rewriter.node(op.operand(name)) for name in ("x", "scale", "zero_point")]


def _is_weight(value: ir.Value) -> bool:
    return not isinstance(value.owner, ir.Block) and value.owner.operation.name in ("om.parameter", "om.constant")
