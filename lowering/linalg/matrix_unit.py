"""Products by a weight on processors with a matrix unit: both operands are brought into the parts and tiles that it multiplies.

The weight's parts are made once, when a session is made. Those of the left operand are an op of their own, so products of one tensor with
several weights share them.
"""
from __future__ import annotations

from mlir import ir
from mlir.dialects import arith, math

from ...dialect import dtypes
from ...dialect.shapes import TensorType
from ...dialect.symbolic import bounds, floordiv, product, Size
from ..kernels.matrix_unit import COLUMNS, ROWS, STEPS, TILE
from ..kernels.parts import PANEL, PARTS
from ..targets import host
from .registry import TensorValue

FEWEST_ROWS = 17
"""With fewer rows a product waits for its weight, whose parts take more memory than the weight itself."""


def has_parts(x: TensorValue, weight: TensorValue) -> bool:
    """Whether the matrix unit computes x @ weight: f32, a weight of known sizes, rows enough where their number is known."""
    f32 = x.dtype == weight.dtype == dtypes.float32
    known = weight.constant and weight.rank == 2 and all(isinstance(s, int) and s >= STEPS // 2 for s in weight.shape)
    return host().matrix_unit and f32 and known and x.rank >= 2 and may_have_rows(product(x.shape[:-1]))


def may_have_rows(rows: Size) -> bool:
    high = bounds(rows)[1]
    return high is None or high >= FEWEST_ROWS


def may_lack_rows(rows: Size) -> bool:
    low = bounds(rows)[0]
    return low is None or low < FEWEST_ROWS


def left_parts(build, x: TensorValue) -> ir.Value:
    """x [..., rows, steps] as tiles of parts; all leading axes count rows."""
    rows, steps = product(x.shape[:-1]), x.shape[-1]
    flat = TensorType((rows, steps), x.dtype)
    matrix = TensorValue(build.reshape(x.value, x.type, flat), flat)
    type = TensorType((_tiles(rows, ROWS), _tiles(steps, STEPS), PARTS, TILE), dtypes.int16)

    def element(tile, block, part, place):
        at = _Index(build, place)
        return _part(build, matrix, [at.plus(tile, ROWS, at.div(STEPS)), at.plus(block, STEPS, at.rem(STEPS))], part)
    return build.gather(type, element, kernel={"name": "split_left"})


def right_parts(build, weight: TensorValue, columns: bool) -> ir.Value:
    """A weight [steps, columns], or [columns, steps] with `columns`, as panels of parts."""
    steps, n = reversed(weight.shape) if columns else weight.shape
    type = TensorType((_tiles(n, PANEL), _tiles(steps, STEPS), 2 * PARTS, TILE), dtypes.int16)

    def element(panel, block, part_half, place):
        at, kind = _Index(build, place), _Index(build, part_half)
        step = at.plus(block, STEPS, arith.AddIOp(at.times(at.div(2 * COLUMNS), 2), at.rem(2)).result)
        column = at.plus(panel, PANEL, arith.AddIOp(at.times(kind.rem(2), COLUMNS), _Index(build, at.div(2)).rem(COLUMNS)).result)
        return _part(build, weight, [column, step] if columns else [step, column], kind.div(2))
    return build.gather(type, element, kernel={"name": "split_right", "transposed": columns})


def _tiles(size: Size, side: int) -> Size:
    return floordiv(size + (side - 1), side)


class _Index:
    """Arithmetic on an index that is not negative, with constants."""

    def __init__(self, build, value: ir.Value):
        self.build, self.value = build, value

    def div(self, number: int) -> ir.Value:
        return arith.DivUIOp(self.value, self.build.const_index(number)).result

    def rem(self, number: int) -> ir.Value:
        return arith.RemUIOp(self.value, self.build.const_index(number)).result

    def times(self, value: ir.Value, number: int) -> ir.Value:
        return arith.MulIOp(value, self.build.const_index(number)).result

    def plus(self, value: ir.Value, number: int, rest: ir.Value) -> ir.Value:
        """value * number + rest."""
        return arith.AddIOp(self.times(value, number), rest).result


def _part(build, matrix: TensorValue, place: list[ir.Value], part: ir.Value) -> ir.Value:
    """The upper 16 bits of one of three numbers whose sum is an element of a matrix; 0 beyond its sides."""
    inside, safe = None, []
    for index, size in zip(place, matrix.shape):
        extent = build.size(size)
        fits = arith.CmpIOp(arith.CmpIPredicate.ult, index, extent).result
        inside = fits if inside is None else arith.AndIOp(inside, fits).result
        safe.append(arith.MinUIOp(index, arith.SubIOp(extent, build.const_index(1)).result).result)
    value = arith.SelectOp(inside, build.read(matrix, safe), build.constant(0, dtypes.float32)).result
    first = _cut(build, value)
    infinite = arith.CmpFOp(arith.CmpFPredicate.OEQ, math.AbsFOp(value).result, build.constant(float("inf"), dtypes.float32)).result
    rest = arith.SelectOp(infinite, build.constant(0, dtypes.float32), arith.SubFOp(value, first).result).result
    second = _cut(build, rest)
    chosen = arith.SubFOp(rest, second).result
    for number, candidate in ((1, second), (0, first)):
        is_it = arith.CmpIOp(arith.CmpIPredicate.eq, part, build.const_index(number)).result
        chosen = arith.SelectOp(is_it, candidate, chosen).result
    bits = arith.ShRUIOp(arith.BitcastOp(ir.IntegerType.get_signless(32), chosen).result, build.constant(16, dtypes.int32)).result
    return arith.TruncIOp(ir.IntegerType.get_signless(16), bits).result


def _cut(build, value: ir.Value) -> ir.Value:
    """The number with the lower half of its bits cleared."""
    bits = arith.BitcastOp(ir.IntegerType.get_signless(32), value).result
    upper = arith.AndIOp(bits, build.constant(-65536, dtypes.int32)).result
    return arith.BitcastOp(ir.F32Type.get(), upper).result
