"""Rows rounded to bytes in blocks, times a weight of few bits: the weight's numbers are multiplied by the bytes."""
from __future__ import annotations

from mlir import ir
from mlir.dialects import arith, linalg

from ...dialect import dtypes
from ...dialect.shapes import TensorType
from ...dialect.symbolic import product
from ..kernels.byte_matmul import WORD
from .builder import PARALLEL, REDUCTION
from .integer_products import sums_along
from .registry import TensorValue
from .scalar import cast, Scalar


def dequantized_rows(build, x: TensorValue, x_scale: TensorValue, block: int) -> TensorValue:
    """x [..., k] of bytes times x_scale [..., blocks]."""
    type = x.type.with_dtype(x_scale.dtype)

    def element(*place):
        at = [*place[:-1], arith.DivUIOp(place[-1], build.const_index(block)).result]
        return arith.MulFOp(cast(build, build.read(x, list(place)), x.dtype, x_scale.dtype), build.read(x_scale, at)).result

    return TensorValue(build.gather(type, element), type, x.constant and x_scale.constant)


def rounded_product(build, weight, x: TensorValue, x_scale: TensorValue, result: TensorType) -> ir.Value:
    """(x times its scales) @ w.T for a `Weight` that has words."""
    rows, n = product(x.shape[:-1]), weight.weight.shape[0]
    flat = lambda v: TensorValue(build.reshape(v.value, v.type, v.type.with_shape((rows, v.shape[-1]))), v.type.with_shape((rows, v.shape[-1])))
    x, x_scale, type = flat(x), flat(x_scale), TensorType((rows, n), dtypes.float32)
    m, column, step = (ir.AffineExpr.get_dim(i) for i in range(3))
    panel, block, word = (ir.AffineExpr.get_floor_div(a, c) for a, c in ((column, weight.width), (step, weight.block), (step, WORD * 8 // weight.bits)))
    lane = ir.AffineExpr.get_mod(column, weight.width)
    parameters = weight.parameters()
    operands = [x.value, x_scale.value, _block_sums(build, x, x_scale, weight.block), _words(weight), *parameters]
    maps = [[m, step], [m, block], [m, block], [panel, word, lane], *[[panel, block, lane]] * len(parameters)]

    def body(byte, row_scale, _, numbers, scale, *rest):
        *zero, total = rest
        scalar = Scalar(build, dtypes.float32)
        number = cast(build, _number(weight, numbers), dtypes.int32, dtypes.float32)
        number = scalar.subtract(number, zero[0]) if zero else number
        left = scalar.multiply(cast(build, byte, dtypes.int8, dtypes.float32), row_scale)
        return scalar.sum(total, scalar.product(left, scalar.multiply(number, scale)))

    kernel = {"name": "rounded_matmul", "block": weight.block, "bits": weight.bits}
    value = build.generic(operands, [ir.AffineMap.get(3, 0, e) for e in maps], type, body, init=build.filled(type, build.constant(0, dtypes.float32)),
                          output_map=ir.AffineMap.get(3, 0, [m, column]), iterators=[PARALLEL, PARALLEL, REDUCTION], kernel=kernel)
    return build.reshape(value, type, result)


def _block_sums(build, x: TensorValue, x_scale: TensorValue, block: int) -> ir.Value:
    """The sums of a block's bytes, times its scale."""
    parts = x.type.with_shape((*x_scale.shape, block))
    sums = sums_along(build, TensorValue(build.reshape(x.value, x.type, parts), parts), (2,))
    scaled = lambda total, scale: arith.MulFOp(cast(build, total, dtypes.int32, dtypes.float32), scale).result
    return build.elementwise([sums, x_scale], x_scale.type, scaled)


def _words(weight) -> ir.Value:
    """[panel][word][column] of 32 bits: four bytes, or twice four numbers of 4 bits, those of the first four steps in the lower halves."""
    build, (n, k) = weight.build, weight.weight.shape
    numbers = WORD * 8 // weight.bits

    def element(panel, word, lane):
        total = None
        for place in range(numbers):
            step = arith.AddIOp(arith.MulIOp(word, build.const_index(numbers)).result, build.const_index(place)).result
            number = weight.of_column(panel, lane, lambda row: weight.number(row, step), dtypes.uint8)
            shift = 8 * (place % WORD) + 4 * (place // WORD)
            part = arith.ShLIOp(arith.ExtUIOp(ir.IntegerType.get_signless(32), number).result, build.constant(shift, dtypes.int32)).result
            total = part if total is None else arith.OrIOp(total, part).result
        return total

    return build.gather(TensorType((-(-n // weight.width), k // numbers, weight.width), dtypes.int32), element)


def _number(weight, word: ir.Value) -> ir.Value:
    """The number of this step in its word, in i32."""
    build, i32 = weight.build, ir.IntegerType.get_signless(32)
    place = arith.RemUIOp(linalg.IndexOp(2).result, build.const_index(WORD * 8 // weight.bits)).result
    byte = arith.MulIOp(arith.RemUIOp(place, build.const_index(WORD)).result, build.const_index(8)).result
    half = arith.MulIOp(arith.DivUIOp(place, build.const_index(WORD)).result, build.const_index(4)).result
    shift = arith.IndexCastOp(i32, arith.AddIOp(byte, half).result).result
    return arith.AndIOp(arith.ShRUIOp(word, shift).result, build.constant((1 << weight.bits) - 1, dtypes.int32)).result
