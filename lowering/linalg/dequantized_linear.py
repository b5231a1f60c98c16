"""Products by weights of few bits, which stay integers when the model runs. Their panels are made once, when a session is made."""
from __future__ import annotations

from typing import Callable

import numpy as np
from mlir import ir
from mlir.dialects import arith

from ...dialect import dtypes
from ...dialect.ops.quantization import DequantizedLinear
from ...dialect.shapes import TensorType
from ..kernels.dequantized_matmul import depth_of
from ..kernels.pack import panel_width
from ..kernels.rounded_matmul import is_in_words
from ..targets import host
from .builder import PARALLEL, REDUCTION
from .linear_algebra import as_matrix, multiply, of_column, Place
from .registry import lowers, TensorValue
from .rounded_rows import dequantized_rows, rounded_product
from .scalar import cast, Scalar


@lowers(DequantizedLinear)
def dequantized_linear(build, op):
    weight = Weight(build, op)
    if op.x_scale is not None and weight.has_kernel() and weight.has_words():
        return rounded_product(build, weight, op.x, op.x_scale, op.result)
    x = as_matrix(build, op.x if op.x_scale is None else dequantized_rows(build, op.x, op.x_scale, op.block_size), left=True)
    type = TensorType(x.shape[:-1] + op.weight.shape[:1], op.result.dtype)
    product = weight.product(x, type) if weight.has_kernel() else multiply(build, x, weight.dequantized(), type, columns=True)
    return build.reshape(product, type, op.result)


class Weight:
    """A quantized weight (out, in)."""

    def __init__(self, build, op):
        self.build, self.weight, self.scale, self.zero, self.block, self.bits = build, op.weight, op.scale, op.zero_point, op.block_size, op.bits
        self.width = panel_width(op.weight.shape[0] if isinstance(op.weight.shape[0], int) else None, ir.F32Type.get())
        self.constant = all(v is None or v.constant for v in (op.weight, op.scale, op.zero_point))

    def has_kernel(self) -> bool:
        known = all(isinstance(s, int) and s > 0 for s in self.weight.shape)
        if not self.constant or not known or self.scale.dtype != dtypes.float32 or host().vectors % 2:
            return False
        n, k = self.weight.shape
        return n > host().lanes(32) and depth_of(k, self.block) is not None

    def has_words(self) -> bool:
        """Whether the numbers can be multiplied by bytes."""
        return host().byte_products and self.weight.dtype == dtypes.uint8 and is_in_words(self.block, self.weight.shape[1])

    def product(self, x: TensorValue, result: TensorType) -> ir.Value:
        """x @ w.T from the panels."""
        build, rank, width = self.build, result.rank, self.width
        *rows, n, k = [ir.AffineExpr.get_dim(i) for i in range(rank + 1)]
        panel, column = ir.AffineExpr.get_floor_div(n, width), ir.AffineExpr.get_mod(n, width)
        parameter = [panel, ir.AffineExpr.get_floor_div(k, self.block), column]
        shifts = np.repeat(np.arange(0, 8, self.bits, dtype=np.uint8), width * self.bits // 8)
        operands = [x.value, self.numbers(), build.literal(shifts), *self.parameters()]
        maps = [[*rows, k], [panel, k, ir.AffineExpr.get_mod(n, width * self.bits // 8)], [column], parameter, parameter][:len(operands)]
        kernel = {"name": "dequantized_matmul", "block": self.block, "bits": self.bits, "unsigned": self.weight.dtype == dtypes.uint8}
        return build.generic(
            operands, [ir.AffineMap.get(rank + 1, 0, m) for m in maps], result, self.term,
            init=build.filled(result, build.constant(0, dtypes.float32)), output_map=ir.AffineMap.get(rank + 1, 0, [*rows, n]),
            iterators=[PARALLEL] * rank + [REDUCTION], kernel=kernel)

    def term(self, x: ir.Value, byte: ir.Value, shift: ir.Value, scale: ir.Value, *rest: ir.Value) -> ir.Value:
        """A sum with one product more; the byte may hold the numbers of two columns, the second of them behind a shift."""
        build, scalar = self.build, Scalar(self.build, dtypes.float32)
        if self.bits == 4:
            byte = arith.AndIOp(arith.ShRUIOp(byte, shift).result, build.constant(15, self.weight.dtype)).result
        number = cast(build, byte, self.weight.dtype, dtypes.float32)
        *zero, total = rest
        number = scalar.subtract(number, zero[0]) if zero else number
        return scalar.sum(total, scalar.product(x, scalar.multiply(number, scale)))

    def parameters(self) -> list[ir.Value]:
        """Scales, and zero points where there are any."""
        return [self.in_panels(v) for v in (self.scale, self.zero) if v is not None]

    def dequantized(self) -> TensorValue:
        """w in the dtype of its scales."""
        scalar = Scalar(self.build, dtypes.int32)

        def element(row, column):
            block = arith.DivUIOp(column, self.build.const_index(self.block)).result
            number = cast(self.build, self.number(row, column), self.weight.dtype, dtypes.int32)
            if self.zero is not None:
                number = scalar.subtract(number, cast(self.build, self.build.read(self.zero, [row, block]), self.zero.dtype, dtypes.int32))
            return arith.MulFOp(cast(self.build, number, dtypes.int32, self.scale.dtype), self.build.read(self.scale, [row, block])).result

        type = self.weight.type.with_dtype(self.scale.dtype)
        return TensorValue(self.build.gather(type, element), type, self.constant)

    def number(self, row: ir.Value, column: ir.Value) -> ir.Value:
        byte = self.build.read(self.weight, [row, column])
        return byte if self.bits == 8 else arith.AndIOp(byte, self.build.constant(15, self.weight.dtype)).result

    def numbers(self) -> ir.Value:
        """[panel][step][column] in bytes, or two columns a byte."""
        (n, k), width = self.weight.shape, self.width
        step_bytes = width * self.bits // 8

        def element(panel, step, lane):
            first = self.of_column(panel, lane, lambda row: self.number(row, step), self.weight.dtype)
            if self.bits == 8:
                return first
            lane = arith.AddIOp(lane, self.build.const_index(step_bytes)).result
            second = self.of_column(panel, lane, lambda row: self.number(row, step), self.weight.dtype)
            return arith.OrIOp(first, arith.ShLIOp(second, self.build.constant(4, self.weight.dtype)).result).result

        return self.build.gather(TensorType((-(-n // width), k, step_bytes), self.weight.dtype), element)

    def in_panels(self, parameter: TensorValue) -> ir.Value:
        """Scales or zero points as [panel][block][column] in f32."""
        (n, blocks), width = parameter.shape, self.width

        def element(panel, block, lane):
            read = lambda row: cast(self.build, self.build.read(parameter, [row, block]), parameter.dtype, dtypes.float32)
            return self.of_column(panel, lane, read, dtypes.float32)

        return self.build.gather(TensorType((-(-n // width), blocks, width), dtypes.float32), element)

    def of_column(self, panel: ir.Value, lane: ir.Value, read: Callable[[ir.Value], ir.Value], dtype) -> ir.Value:
        """What is read of a column of a panel, a row of the weight; 0 beyond the last one."""
        return of_column(self.build, Place(panel, self.width, lane), self.weight.shape[0], read, dtype)
