"""f32 matrices as sums of three bf16 matrices, in the tiles that the matrix unit multiplies.

x = x1 + x2 + x3 exactly: x1 is x cut to 8 bits of fraction, x2 what is left cut to 8 bits, x3 the rest. Where x is infinite or NaN, or the
parts would be subnormal, the sum of products is not what f32 arithmetic gives; see split_matmul.py.

* left operand: [tiles of 16 rows][blocks of 32 steps][part][16 rows x 32 steps]
* right operand: [panels of 32 columns][blocks of 32 steps][part, half of the panel][16 pairs of steps x 16 columns x 2]

Both as i16, padded with zeros.
"""

from math import inf as INFINITY

from mlir import ir
from mlir.dialects import arith, vector

from . import build as b
from .matrix_unit import COLUMNS, ROWS, STEPS, TILE

PARTS = 3
PANEL = 2 * COLUMNS
LANES = 16


def left_shape(rows, steps) -> tuple:
    """The sizes of a left operand in parts; a size that is not known is given back as None."""
    return None if rows is None else -(-rows // ROWS), None if steps is None else -(-steps // STEPS), PARTS, TILE


def right_shape(steps, columns) -> tuple:
    return None if columns is None else -(-columns // PANEL), None if steps is None else -(-steps // STEPS), PARTS * 2, TILE


def emit_split_left(source, parts):
    """Emit parts = split(source) for source [rows, steps]."""
    rows, steps, tiles, blocks = b.dim(source, 0), b.dim(source, 1), b.dim(parts, 0), b.dim(parts, 1)

    def tile(number):
        first = b.mul(number, ROWS)
        b.loop(0, blocks, 1, lambda block: b.loop(0, ROWS, 1, lambda row: line(number, block, row, b.add(first, row))))

    def line(number, block, row, where):
        step = b.mul(block, STEPS)
        left = b.minimum(b.maximum(b.sub(steps, step), 0), STEPS)
        left = b.select(b.less(where, rows), left, 0)
        halves = [b.load_vector(source, [b.minimum(where, b.sub(rows, 1)), b.add(step, half)], LANES, _mask(left, half)) for half in (0, LANES)]
        for part, vec in enumerate(split(*halves)):
            b.store_vector(vec, parts, [number, block, part, b.mul(row, STEPS)])

    b.parallel(tiles, tile)


def emit_split_right(source, parts, transposed: bool = False):
    """Emit parts = split(source) for source [steps, columns], or [columns, steps] if `transposed`."""
    steps, columns = (b.dim(source, axis) for axis in ((1, 0) if transposed else (0, 1)))
    panels, blocks = b.dim(parts, 0), b.dim(parts, 1)
    kind = b.vector_type(LANES, b.element_type(source))

    def panel(number):
        def block(index):
            for half in range(2):
                b.loop(0, ROWS, 1, lambda pair, half=half: line(number, index, half, pair))

        b.loop(0, blocks, 1, block)

    def line(number, index, half, pair):
        column = b.add(b.mul(number, PANEL), half * COLUMNS)
        step = b.add(b.mul(index, STEPS), b.mul(pair, 2))
        even, odd = (values(column, b.add(step, i)) for i in range(2))
        for part, vec in enumerate(split_pairs(even, odd)):
            b.store_vector(vec, parts, [number, index, 2 * part + half, b.mul(pair, STEPS)])

    def values(column, step):
        """16 columns at a step, zeros beyond the matrix."""
        count = b.select(b.less(step, steps), b.minimum(b.maximum(b.sub(columns, column), 0), LANES), 0)
        if not transposed:
            return b.load_vector(source, [b.minimum(step, b.sub(steps, 1)), b.minimum(column, b.sub(columns, 1))], LANES, _mask(count, 0))
        vec = b.zero(kind)
        for lane in range(LANES):
            at = [b.minimum(b.add(column, lane), b.sub(columns, 1)), b.minimum(step, b.sub(steps, 1))]
            vec = vector.insert(b.load(source, at), vec, dynamic_position=[], static_position=[lane])
        return arith.select(_mask(count, 0), vec, b.zero(kind)) if _mask(count, 0) is not None else vec

    b.parallel(panels, panel)


def split(low, high) -> list:
    """The three parts of 32 f32 (16 and 16), each as 32 elements of 16 bits in the same order."""
    return [_upper_halves(x, y, list(range(1, 64, 2))) for x, y in zip(_parts(low), _parts(high))]


def split_pairs(even, odd) -> list:
    """The same with the elements of both in turns; infinities stay what they are."""
    order = [index for lane in range(LANES) for index in (2 * lane + 1, 2 * LANES + 2 * lane + 1)]
    return [_upper_halves(x, y, order) for x, y in zip(_parts(even, True), _parts(odd, True))]


def _parts(vec, infinities: bool = False) -> list:
    """f32 vectors whose lower 16 bits are zero and whose sum is `vec`; of an infinity only where `infinities` are asked for."""
    first = _cut(vec)
    rest = arith.subf(vec, first)
    if infinities:
        infinite = arith.ori(*(arith.cmpf(arith.CmpFPredicate.OEQ, vec, b.splat(vec.type, end)) for end in (INFINITY, -INFINITY)))
        rest = arith.select(infinite, b.zero(vec.type), rest)
    second = _cut(rest)
    return [first, second, arith.subf(rest, second)]


def _cut(vec):
    """The number with the lower half of its bits cleared."""
    kind = b.vector_type(LANES, ir.IntegerType.get_signless(32))
    upper = arith.constant(kind, ir.DenseElementsAttr.get_splat(kind, ir.IntegerAttr.get(kind.element_type, -65536)))
    return vector.bitcast(vec.type, arith.andi(vector.bitcast(kind, vec), upper))


def _upper_halves(low, high, order):
    kind = b.vector_type(2 * LANES, ir.IntegerType.get_signless(16))
    return vector.shuffle(vector.bitcast(kind, low), vector.bitcast(kind, high), order)


def _mask(count, first: int):
    """The lanes first … first + 16 of which the first `count` exist."""
    return b.mask_first(b.maximum(b.sub(count, first), 0), LANES)
