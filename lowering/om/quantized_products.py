"""`om-multiply-quantized`: products of dequantized numbers by weights become products of integers, where the processor multiplies bytes.

    %0 = "om.dequantize_linear"(%q, %a, %z)                %0 = "om.matmul_integer"(%q, %v, %z, %u)
    %1 = "om.dequantize_linear"(%v, %b, %u)          ->    %1 = "om.cast"(%0) {dtype = f32}
    %2 = "om.matmul"(%0, %1)                               %2 = "om.multiply"(%1, %ab)

A convolution is such a product of its windows. The sum is exact before it is rounded once and scaled, so results differ by the rounding of
an f32 sum.
"""
from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from mlir import ir

from ...dialect import dtypes
from ...dialect.build import OpView
from ...dialect.graph import Node
from ...dialect.ops.convolution import Conv
from ...dialect.ops.linear_algebra import Byte, Linear, Matmul
from ...dialect.ops.quantization import DequantizeLinear
from ..targets import host
from .patterns import apply_patterns, Rewriter

FEWEST_CHANNELS = 16
"""Channels of a convolution whose windows are copied together: fewer are pieces too short to copy."""
MOST_TERMS = (2**31 - 1) // 255**2
"""Terms of a sum of products of differences of bytes that i32 holds whatever they are: an f32 sum would not wrap."""


def multiply_quantized(module: ir.Module) -> bool:
    """Rewrite the products of all functions, for a target with products of bytes; whether any changed."""
    return host().byte_products and apply_patterns(module, {Matmul: [of_matmul], Linear: [of_linear], Conv: [of_conv]})


def of_matmul(op: OpView, rewriter: Rewriter):
    factors = Factors.of(rewriter, op.operand("x"), op.operand("y"), 1)
    return None if factors is None or factors.y.rank != 2 else factors.product(factors.x, factors.y)


def of_linear(op: OpView, rewriter: Rewriter):
    factors = Factors.of(rewriter, op.operand("x"), op.operand("weight"), 0)
    if factors is None:
        return None
    product, bias = factors.product(factors.x, rewriter.ops.transpose(factors.y, axes=(1, 0))), op.operand("bias")
    return product if bias is None else product + rewriter.node(bias)


def of_conv(op: OpView, rewriter: Rewriter):
    """A convolution of one group: rows of what each place of the window sees, channel by channel, times the filters as columns."""
    factors = Factors.of(rewriter, op.operand("x"), op.operand("weight"), 0)
    if factors is None or op.attributes["groups"] != 1 or factors.y.shape[1] < FEWEST_CHANNELS:
        return None
    ops, (filters, channels, *kernel) = rewriter.ops, factors.y.shape
    rank = len(kernel)
    last, first = (0, *range(2, rank + 2), 1), (0, rank + 1, *range(1, rank + 1))
    rows = _windows(ops, ops.transpose(factors.x, axes=last), factors.x_zero, kernel, rewriter.node(op.results[0]).shape[2:], op.attributes)
    columns = ops.reshape(ops.transpose(factors.y, axes=(*range(2, rank + 2), 1, 0)), shape=(math.prod(kernel) * channels, filters))
    product, bias = factors.product(rows, columns), op.operand("bias")
    return ops.transpose(product if bias is None else product + rewriter.node(bias), axes=first)


def _windows(ops, x: Node, zero: Node | None, kernel, places, attributes) -> Node:
    """x (n, *spatial, channels) as (n, *places, taps * channels), the zero point beyond the sides."""
    rank, padding, channels = len(kernel), attributes["padding"], x.shape[-1]
    if any(padding):
        zero = ops.constant(value=np.zeros((), x.dtype)) if zero is None else ops.reshape(zero, shape=())
        x = ops.pad_constant(x, zero, low=(0, *padding[:rank], 0), high=(0, *padding[rank:], 0))
    taps = [ops.slice(x, starts=(0, *(t * d for t, d in zip(tap, attributes["dilation"])), 0), shape=(x.shape[0], *places, channels),
                      steps=(1, *attributes["stride"], 1)) for tap in np.ndindex(*kernel)]
    return taps[0] if len(taps) == 1 else ops.concat(taps, axis=rank + 1)


@dataclass(frozen=True)
class Factors:
    """Integers, scales and zero points of a quantized tensor x and a quantized weight y."""

    x: Node
    x_scale: Node
    x_zero: Node | None
    y: Node
    y_scale: Node
    y_zero: Node | None

    @staticmethod
    def of(rewriter: Rewriter, x: ir.Value, weight: ir.Value, columns: int) -> "Factors | None":
        """x and weight dequantized from bytes, x by one scale, the weight by one or one for each place of its axis `columns`; None where not."""
        left, right = (rewriter.producer(value, DequantizeLinear) for value in (x, weight))
        if left is None or right is None or not _is_weight(right.operand("x")) or any(p.attributes["block_size"] for p in (left, right)):
            return None
        found = Factors(*_operands(left, rewriter), *_operands(right, rewriter))
        bytes_ = found.x.dtype in Byte and found.y.dtype in Byte and found.x_scale.dtype == found.y_scale.dtype == dtypes.float32
        known = found.x.rank > 1 and all(isinstance(s, int) and s > 0 for s in (*found.y.shape, found.x.shape[1 if found.y.rank > 2 else -1]))
        terms = math.prod(s for axis, s in enumerate(found.y.shape) if axis != columns) if known else 0
        per_column = _is_one(found.y_scale) or (found.y_scale.rank == 1 and right.attributes["axis"] % found.y.rank == columns)
        return found if bytes_ and known and terms <= MOST_TERMS and _is_one(found.x_scale) and per_column else None

    def product(self, rows: Node, columns: Node) -> Node:
        """rows @ columns as f32 numbers, scaled."""
        ops = rows.builder.ops
        number = lambda v: v if v is None or v.shape != (1,) else ops.reshape(v, shape=())
        product = ops.matmul_integer(rows, columns, number(self.x_zero), number(self.y_zero))
        return ops.cast(product, dtype=dtypes.float32) * (number(self.x_scale) * number(self.y_scale))


def _operands(op: OpView, rewriter: Rewriter) -> list:
    return [None if op.operand(name) is None else rewriter.node(op.operand(name)) for name in ("x", "scale", "zero_point")]


def _is_one(scale: Node) -> bool:
    return scale.rank == 0 or scale.shape == (1,)


def _is_weight(value: ir.Value) -> bool:
    return not isinstance(value.owner, ir.Block) and value.owner.operation.name in ("om.parameter", "om.constant")
