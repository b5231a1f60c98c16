"""`om-multiply-quantized`: products of dequantized numbers by weights become products of integers, where the processor multiplies them.

    %0 = "om.dequantize_linear"(%q, %a, %z)                %0 = "om.matmul_integer"(%q, %v, %z, %u)
    %1 = "om.dequantize_linear"(%v, %b, %u)          ->    %1 = "om.cast"(%0) {dtype = f32}
    %2 = "om.matmul"(%0, %1)                               %2 = "om.multiply"(%1, %ab)

A convolution likewise becomes one of integers. The sum is exact before it is rounded once and scaled, so results differ by the rounding of
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
from ...dialect.ops.activation import Relu
from ...dialect.ops.convolution import Conv, ConvInteger
from ...dialect.ops.elementwise import Add, Cast, Divide, Multiply
from ...dialect.ops.linear_algebra import Byte, Linear, Matmul, MatmulInteger
from ...dialect.ops.quantization import DequantizeLinear, QuantizeLinear
from ...dialect.ops.shape import Reshape
from ..targets import host
from .patterns import apply_patterns, Rewriter
from .quantized_moves import is_constant, is_per_tensor, literal, positive_literal

MOST_TERMS = (2**31 - 1) // 255**2
"""Terms of a sum of products of differences of bytes that i32 holds whatever they are: an f32 sum would not wrap."""


def multiply_quantized(module: ir.Module) -> bool:
    """Rewrite the products of all functions, for a target with products of integers; whether any changed."""
    if not host().integers:
        return False
    products = apply_patterns(module, {Matmul: [of_matmul], Linear: [of_linear], Conv: [of_conv]}, apart=True)
    return apply_patterns(module, {QuantizeLinear: [of_quantize]}, apart=True) or products


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
    factors = Factors.of(rewriter, op.operand("x"), op.operand("weight"), 0)
    if factors is None:
        return None
    attributes = {name: op.attributes[name] for name in ("stride", "padding", "dilation", "groups")}
    y = rewriter.ops.conv_integer(factors.x, factors.y, _number(factors.x_zero), _number(factors.y_zero), **attributes)
    y, bias = factors.scaled(y, factors.y.rank - 2), op.operand("bias")
    return y if bias is None else y + rewriter.ops.reshape(rewriter.node(bias), shape=(factors.y.shape[0], *[1] * (factors.y.rank - 2)))


def of_quantize(op: OpView, rewriter: Rewriter):
    """A scaled product and its bias are brought to the steps of the result by their factors, which are constant: no division is left.

    (v * a + b) / s as v * (a / s) + b / s: another rounding of an f32 number.
    """
    step, ops = literal(op.operand("scale"), rewriter), rewriter.ops
    if not positive_literal(op.operand("scale"), rewriter) or not is_per_tensor(op) or step.dtype != dtypes.float32 or step.item() == 1.0:
        return None
    found = Scaled.of(op.operand("x"), rewriter)
    if found is None:
        return None
    step = ops.reshape(rewriter.node(op.operand("scale")), shape=())
    y = rewriter.node(found.product) * (rewriter.node(found.factor) / step)
    if found.bias is not None:
        y = y + rewriter.node(found.bias) / step
    y, zero = ops.relu(y) if found.relu else y, op.operand("zero_point")
    return ops.quantize_linear(y, ops.constant(value=np.ones((), np.float32)), None if zero is None else _number(rewriter.node(zero)),
                               dtype=op.attributes["dtype"])


@dataclass(frozen=True)
class Scaled:
    """f32 numbers that are an integer product times a factor, with a bias added and perhaps no negative ones left."""

    product: ir.Value
    factor: ir.Value
    bias: ir.Value | None
    relu: bool

    @staticmethod
    def of(value: ir.Value, rewriter: Rewriter) -> "Scaled | None":
        single = lambda v: rewriter.single_use(v)
        relu = rewriter.producer(value, Relu) if single(value) else None
        value = value if relu is None else relu.operand("x")
        total = rewriter.producer(value, Add) if single(value) else None
        bias = None
        if total is not None:
            value, bias = total.operands
            if not is_constant(bias, SMALL):
                return None
        scaled = rewriter.producer(value, Multiply) if single(value) else None
        if scaled is None or not is_constant(scaled.operands[1], SMALL):
            return None
        cast = rewriter.producer(scaled.operands[0], Cast)
        if cast is None or rewriter.producer(cast.operand("x"), MatmulInteger, ConvInteger) is None:
            return None
        return Scaled(scaled.operands[0], scaled.operands[1], bias, relu is not None)


SMALL = (Multiply, Divide, Reshape, DequantizeLinear, Cast)
"""What makes a scale or a bias of others."""


def _number(parameter: Node | None) -> Node | None:
    """A scale or zero point of one element as a scalar."""
    return parameter if parameter is None or parameter.shape != (1,) else parameter.builder.ops.reshape(parameter, shape=())


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
        if left is None or right is None or not is_constant(right.operand("x"), ()) or any(p.attributes["block_size"] for p in (left, right)):
            return None
        found = Factors(*_operands(left, rewriter), *_operands(right, rewriter))
        bytes_ = found.x.dtype in Byte and found.y.dtype in Byte and found.x_scale.dtype == found.y_scale.dtype == dtypes.float32
        known = found.x.rank > 1 and all(isinstance(s, int) and s > 0 for s in (*found.y.shape, found.x.shape[1 if found.y.rank > 2 else -1]))
        terms = math.prod(s for axis, s in enumerate(found.y.shape) if axis != columns) if known else 0
        per_column = _is_one(found.y_scale) or (found.y_scale.rank == 1 and right.attributes["axis"] % found.y.rank == columns)
        return found if bytes_ and known and terms <= MOST_TERMS and _is_one(found.x_scale) and per_column else None

    def product(self, rows: Node, columns: Node) -> Node:
        """rows @ columns as f32 numbers, scaled."""
        return self.scaled(rows.builder.ops.matmul_integer(rows, columns, _number(self.x_zero), _number(self.y_zero)), 0)

    def scaled(self, product: Node, behind: int) -> Node:
        """An i32 product as f32 numbers; the columns' axis has `behind` others behind it."""
        ops, scale = product.builder.ops, _number(self.y_scale)
        if behind and scale.rank:
            scale = ops.reshape(scale, shape=(scale.shape[0], *[1] * behind))
        return ops.cast(product, dtype=dtypes.float32) * (_number(self.x_scale) * scale)


def _operands(op: OpView, rewriter: Rewriter) -> list:
    return [None if op.operand(name) is None else rewriter.node(op.operand(name)) for name in ("x", "scale", "zero_point")]


def _is_one(scale: Node) -> bool:
    return scale.rank == 0 or scale.shape == (1,)
