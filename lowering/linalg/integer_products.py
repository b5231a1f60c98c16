"""Products of 8-bit integers, summed in 32 bits: by bytes, or as numbers of 16 bits, where the processor has that and the right operand is a
weight, else by f32.

f32 is exact: a sum of products of numbers up to 255 has 24 bits while it has 256 terms, so the product is cut into parts of as many steps.
"""
from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import Callable, Sequence

import numpy as np
from mlir import ir
from mlir.dialects import arith

from ...dialect import dtypes
from ...dialect.ops.linear_algebra import MatmulInteger
from ...dialect.shapes import TensorType
from ..kernels.pack import panel_width
from ..targets import host
from .builder import PARALLEL, REDUCTION
from .linear_algebra import as_matrix, multiply, of_column, Place
from .reduction import converted
from .registry import lowers, TensorValue
from .scalar import cast, Scalar

TERMS = 256  # 256 * 255 * 255 < 2**24
PARTS = 32  # f32 products of one integer product at most
HALF = 128


@lowers(MatmulInteger)
def matmul_integer(build, op):
    x, y = as_matrix(build, op.x, left=True), as_matrix(build, op.y, left=False)
    batch = op.result.shape[:op.result.rank - (op.x.rank > 1) - (op.y.rank > 1)]
    type = TensorType(batch + (x.shape[-2], y.shape[-1]), dtypes.int32)
    product = _by_bytes if _has_bytes(x, y) else _by_f32
    return build.reshape(product(build, x, y, op.x_zero_point, op.y_zero_point, type), type, op.result)


def _has_bytes(x: TensorValue, weight: TensorValue) -> bool:
    known = all(isinstance(s, int) and s > 0 for s in (*weight.shape, x.shape[-1]))
    return host().integers > 0 and weight.constant and weight.rank == 2 and known


# By f32.
def _by_f32(build, x, y, x_zero, y_zero, type: TensorType) -> ir.Value:
    steps = y.shape[-2]
    exact = isinstance(steps, int) and steps <= TERMS * PARTS
    dtype = dtypes.float32 if exact else dtypes.int32
    lengths = [min(TERMS, steps - first) for first in range(0, max(steps, 1), TERMS)] if exact else [steps]
    with _place_of(y, y_zero):
        y = centered(build, y, y_zero, dtype)
        rights = [steps_of(build, y, y.rank - 2, TERMS * i, length) for i, length in enumerate(lengths)]
    x, total = centered(build, x, x_zero, dtype), None
    for i, right in enumerate(rights):
        left, wide = steps_of(build, x, x.rank - 1, TERMS * i, lengths[i]), type.with_dtype(dtype)
        part = whole_numbers(build, TensorValue(multiply(build, left, right, wide), wide))
        total = part if total is None else TensorValue(build.elementwise([total, part], type, Scalar(build, dtypes.int32).add), type)
    return total.value


def whole_numbers(build, sums: TensorValue) -> TensorValue:
    """Exact sums in i32; of f32 they are below 2**24, so none of the cases of a cast arises."""
    if sums.dtype == dtypes.int32:
        return sums
    type = sums.type.with_dtype(dtypes.int32)
    return TensorValue(build.elementwise([sums], type, lambda v: arith.FPToSIOp(ir.IntegerType.get_signless(32), v).result), type)


def _place_of(y: TensorValue, zero: TensorValue | None) -> ir.InsertionPoint:
    """Where a right operand is made ready: that of a loop outside of it, behind the definitions."""
    values = [v.value for v in (y, zero) if v is not None]
    blocks = [v.owner if isinstance(v.owner, ir.Block) else v.owner.operation.block for v in values]
    if not all(v is None or v.constant for v in (y, zero)) or any(block != blocks[0] for block in blocks):
        return ir.InsertionPoint.current
    operations = [v.owner.operation for v in values if not isinstance(v.owner, ir.Block)]
    last = functools.reduce(lambda a, b: b if a.is_before_in_block(b) else a, operations) if operations else None
    return ir.InsertionPoint.at_block_begin(blocks[0]) if last is None else ir.InsertionPoint.after(last)


def centered(build, x: TensorValue, zero: TensorValue | None, dtype) -> TensorValue:
    """x - zero as `dtype`."""
    type, scalar = x.type.with_dtype(dtype), Scalar(build, dtype)
    constant = x.constant and (zero is None or zero.constant)
    if zero is None:
        return TensorValue(converted(build, x, dtype).value, type, constant)
    body = lambda a, z: scalar.subtract(cast(build, a, x.dtype, dtype), cast(build, z, zero.dtype, dtype))
    return TensorValue(build.elementwise([x, zero], type, body), type, constant)


def steps_of(build, x: TensorValue, axis: int, first: int, count: int) -> TensorValue:
    if count == x.shape[axis]:
        return x
    type = x.type.with_shape(count if a == axis else size for a, size in enumerate(x.shape))
    starts = [first if a == axis else 0 for a in range(x.rank)]
    return TensorValue(build.extract_slice(x, starts, type, [1] * x.rank), type, x.constant)


# By bytes: unsigned ones times signed ones. An operand of the other kind is moved by 128, as is its zero point. Where the processor
# multiplies numbers of 16 bits, the left operand becomes such numbers in a pass of its own, and the words of the right one hold two of them.
def _by_bytes(build, x, y, x_zero, y_zero, type: TensorType) -> ir.Value:
    k, n = y.shape
    x_point, y_point = moved_points(build, x, x_zero, y, y_zero)
    x = widened(build, _whole_words(build, moved(build, x, dtypes.uint8), x.rank - 1))
    y = moved(build, y, dtypes.int8)
    sums = None if x_point.number == 0 else sums_along(build, y, (0,))
    y = _whole_words(build, y, 0)
    words = words_of_matrix(build, y.shape, lambda step, column: build.read(y, [step, column]))
    bits = product_bits(build, x, y, words, type)
    rows = None if y_point.number == 0 else sums_along(build, x, (x.rank - 1,), keep=True)
    return corrected(build, bits, Corrections(x_point, y_point, sums, rows, k)).value


@dataclass(frozen=True)
class Corrections:
    """What zero points take off a product: their numbers, the sums of the right operand's columns and of the left one's rows (None where
    the other's zero point is 0), and the terms of a sum."""

    x_point: "Point"
    y_point: "Point"
    columns: TensorValue | None
    rows: TensorValue | None
    terms: int


def corrected(build, bits: TensorValue, by: Corrections) -> TensorValue:
    """The product in i32: bits, less x_point * sums of columns, less y_point * (sums of rows - terms * x_point)."""
    scalar, columns = Scalar(build, dtypes.int32), by.columns
    if columns is not None and by.x_point.number is not None:  # made ready with the sums
        scaled = lambda v: scalar.multiply(by.x_point.scalar({}), v)
        columns = TensorValue(build.elementwise([columns], columns.type, scaled), columns.type, columns.constant)
    used = [v for v in (bits, columns, by.rows, by.x_point.tensor, by.y_point.tensor) if v is not None]

    def body(*scalars):
        given = dict(zip(map(id, used), scalars))
        total = arith.BitcastOp(ir.IntegerType.get_signless(32), given[id(bits)]).result
        if columns is not None:
            column = given[id(columns)]
            total = scalar.subtract(total, column if by.x_point.number is not None else scalar.multiply(by.x_point.scalar(given), column))
        if by.rows is not None:
            row = given[id(by.rows)]
            if by.x_point.number != 0:
                row = scalar.subtract(row, scalar.multiply(by.x_point.scalar(given), scalar.const(by.terms)))
            total = scalar.subtract(total, scalar.multiply(by.y_point.scalar(given), row))
        return total

    type = bits.type.with_dtype(dtypes.int32)
    return TensorValue(build.elementwise(used, type, body), type)


class Point:
    """A zero point, moved: a number where it is written in the IR, else the tensor to read it from."""

    def __init__(self, build, zero: TensorValue | None, offset: int):
        self.build, self.offset, self.tensor, self.number = build, offset, zero, None
        values = np.zeros(1, np.int32) if zero is None else zero.literal
        if values is not None and values.size and (values == values.flat[0]).all():
            self.tensor, self.number = None, int(values.flat[0]) + offset

    def scalar(self, given: dict[int, ir.Value]) -> ir.Value:
        """In i32, in a body to which the tensor's element is given by the tensor's id."""
        constant = lambda number: self.build.constant(number, dtypes.int32)
        if self.number is not None:
            return constant(self.number)
        return arith.AddIOp(cast(self.build, given[id(self.tensor)], self.tensor.dtype, dtypes.int32), constant(self.offset)).result

    def byte(self) -> ir.Value:
        """A point of one number, as a byte."""
        if self.number is not None:
            return self.build.constant(self.number, dtypes.uint8)
        element = self.build.read(self.tensor, [self.build.const_index(0)] * self.tensor.rank)
        return arith.AddIOp(element, self.build.constant(self.offset, dtypes.uint8)).result


def moved_points(build, x: TensorValue, x_zero: TensorValue | None, y: TensorValue, y_zero: TensorValue | None) -> tuple[Point, Point]:
    """The zero points of x as u8 and of y as i8."""
    return Point(build, x_zero, HALF * (x.dtype == dtypes.int8)), Point(build, y_zero, -HALF * (y.dtype == dtypes.uint8))


def moved(build, x: TensorValue, dtype) -> TensorValue:
    """Bytes of the other kind: 128 more as u8, 128 less as i8."""
    if x.dtype == dtype:
        return x
    type = x.type.with_dtype(dtype)
    flip = lambda v: arith.XOrIOp(v, build.constant(-HALF, dtypes.int8)).result
    return TensorValue(build.elementwise([x], type, flip), type, x.constant)


def widened(build, x: TensorValue) -> TensorValue:
    """Unsigned bytes as the integers that the processor multiplies."""
    return x if host().byte_products else converted(build, x, dtypes.int16)


def _whole_words(build, x: TensorValue, axis: int) -> TensorValue:
    """x with zeros behind its steps, along `axis`, up to a whole number of words."""
    missing = -x.shape[axis] % host().integers
    if not missing:
        return x
    type = x.type.with_shape(size + missing if a == axis else size for a, size in enumerate(x.shape))
    return TensorValue(build.pad(x, [0] * x.rank, type, build.constant(0, x.dtype)), type, x.constant)


def sums_along(build, x: TensorValue, axes: Sequence[int], keep: bool = False) -> TensorValue:
    """Sums along axes in i32; `keep`: with size 1 in their places."""
    scalar = Scalar(build, dtypes.int32)
    shape = [1 if axis in axes else size for axis, size in enumerate(x.shape) if keep or axis not in axes]
    type = TensorType(tuple(shape), dtypes.int32)
    body = lambda v, total: scalar.sum(total, cast(build, v, x.dtype, dtypes.int32))
    return TensorValue(build.reduce(x, tuple(axes), keep, type, scalar.const(0), body), type, x.constant)


def words_of_matrix(build, shape: Sequence[int], byte: Callable[[ir.Value, ir.Value], ir.Value]) -> ir.Value:
    """Signed bytes [k, n] in panels [n / width][steps][width] of words, zeros beyond the last column. `byte(step, column)` reads one."""
    k, n = shape
    width = panel_width(n, ir.F32Type.get())

    def element(panel, step, lane):
        read = lambda column: word(build, step, lambda row: byte(row, column))
        return of_column(build, Place(panel, width, lane), n, read, dtypes.int32)

    return build.gather(TensorType((-(-n // width), k // host().integers, width), dtypes.int32), element)


def word(build, step: ir.Value, byte: Callable[[ir.Value], ir.Value]) -> ir.Value:
    """Signed bytes 4 * step and the three behind it in one i32, the first of them lowest; or two of them, each of 16 bits."""
    total, count = None, host().integers
    for place in range(count):
        number = arith.AddIOp(arith.MulIOp(step, build.const_index(count)).result, build.const_index(place)).result
        part = byte(number) if count == 4 else arith.ExtSIOp(ir.IntegerType.get_signless(32 // count), byte(number)).result
        part = arith.ExtUIOp(ir.IntegerType.get_signless(32), part).result
        part = arith.ShLIOp(part, build.constant(32 // count * place, dtypes.int32)).result
        total = part if total is None else arith.OrIOp(total, part).result
    return total


def product_bits(build, x: TensorValue, y: TensorValue, words: ir.Value, type: TensorType, columns_first: bool = False) -> TensorValue:
    """Bits of the i32 product of u8 x (..., m, k), which may be widened, and i8 y (k, n), or (n, k) if `columns_first`.

    What the kernel reads of y are its words.
    """
    rank, result = type.rank, type.with_dtype(dtypes.float32)
    dims = [ir.AffineExpr.get_dim(i) for i in range(rank + 1)]
    right = [dims[rank - 1], dims[rank]] if columns_first else [dims[rank], dims[rank - 1]]
    maps = [[*dims[:rank - 1], dims[rank]], right, [ir.AffineExpr.get_constant(0)] * 3]
    value = build.generic(
        [x.value, y.value, words], [ir.AffineMap.get(rank + 1, 0, m) for m in maps], result, lambda a, b, _, bits: term(a, b, bits),
        init=build.filled(result, build.constant(0, dtypes.float32)), output_map=ir.AffineMap.get(rank + 1, 0, dims[:rank]),
        iterators=[PARALLEL] * rank + [REDUCTION], kernel={"name": "byte_matmul"})
    return TensorValue(value, result)


def term(unsigned: ir.Value, signed: ir.Value, bits: ir.Value) -> ir.Value:
    """The bits of a sum with one product of bytes more."""
    i32 = ir.IntegerType.get_signless(32)
    product = arith.MulIOp(arith.ExtUIOp(i32, unsigned).result, arith.ExtSIOp(i32, signed).result).result
    return arith.BitcastOp(ir.F32Type.get(), arith.AddIOp(arith.BitcastOp(i32, bits).result, product).result).result
