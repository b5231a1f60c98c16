"""Product of rows rounded to signed bytes by a weight of unsigned numbers of 8 or 4 bits: a block's sum is that of integers, then it is scaled.

A [..., m, k] are signed bytes with a scale for each block of a row, and the sum of a block's scaled bytes, which a zero point takes off:
sum a (w - z) = sum a w - z sum a. B are words [n / width][k / step][width] of 32 bits: four numbers of a column, the first of them lowest, or
eight of 4 bits, the first four of them in the lower halves of the bytes. Scales and zero points are as in `dequantized_matmul`.
"""

from dataclasses import dataclass, replace

from mlir import ir
from mlir.dialects import arith, vector

from ..targets import Target, host
from . import build as b
from .byte_matmul import multiply_bytes, WORD
from .dequantized_matmul import Dequantized, Numbers
from .shapes import MatmulShape

ROWS = 6
"""Rows of a tile: of two vectors each, sums of integers and of f32 take 24 registers."""

UNROLLED = 48
"""Products of words that one turn of the innermost loop has, about."""


def is_in_words(block: int, k: int) -> bool:
    """Whether blocks are whole words of 4 bits and end together."""
    return block % (2 * WORD) == 0 and k % block == 0


@dataclass(frozen=True)
class RowScales:
    """[m, blocks] in f32: the scale of a block, and the sum of its bytes times that."""

    scales: ir.Value
    sums: ir.Value


@dataclass(frozen=True)
class _Tile:
    """Rows `row` … of a panel, and how many vectors of it."""

    row: object
    height: int
    vectors: int
    index: object


def emit_rounded_matmul(a, rows: RowScales, numbers: Numbers, c, shape: MatmulShape, epilogue=None, target: Target | None = None, rolled=False):
    """Emit C = epilogue(A B) for a `shape` whose n and k are known, of more columns than a vector has, without batch axes."""
    _Rounded(a, rows, numbers, c, shape, epilogue, target or host(), rolled).emit()


class _Rounded(Dequantized):
    def __init__(self, a, rows, numbers, c, shape, epilogue, target, rolled):
        self.row_scales = rows
        super().__init__(a, numbers, c, shape, epilogue, target, rolled)
        self.plan = replace(self.plan, height=min(self.plan.height, ROWS), depth=shape.k, copy=False)

    def _panel_source(self, index, k, depth, columns):
        return None

    def _sums(self, start, row, height, index, k, depth, source, widest):
        """A block's sums of integers at a time, as f32 times the scales of the rows and of the columns."""
        block, vectors = self.numbers.block, len(start) // height

        def part(number, *totals):
            scales, *zeros = self._parameters(index, b.mul(number, block))
            offsets = [arith.mulf(scale, zero) for scale, zero in zip(scales, zeros[0])] if zeros else None
            sums, result = self._block_sums(row, height, vectors, index, b.mul(number, block)), []
            for i, (total, whole) in enumerate(zip(totals, sums)):
                r, v = divmod(i, vectors)
                at = [b.add(row, r), number]
                factor = arith.mulf(scales[v], b.broadcast(b.load(self.row_scales.scales, at), self.plan.lanes))
                total = vector.fma(arith.sitofp(self.kind, whole), factor, total)
                if zeros:
                    taken = b.broadcast(arith.negf(b.load(self.row_scales.sums, at)), self.plan.lanes)
                    total = vector.fma(taken, offsets[v], total)
                result.append(total)
            return result

        return b.loop(0, self.shape.k // block, 1, part, start)

    def _block_sums(self, row, height, vectors, index, first) -> list[ir.Value]:
        """Sums of the products of bytes from step `first` on; those of few rows are two chains each, so that they do not wait for each other."""
        zero = b.zero(b.vector_type(self.plan.lanes, ir.IntegerType.get_signless(32)))
        chains = 2 if height * vectors <= 4 else 1
        most = UNROLLED * WORD // (height * vectors)
        unit = next(size for size in (64, 32, 16, 8) if self.numbers.block % size == 0 and size <= max(most, 8))
        tile = _Tile(row, height, vectors, index)
        sums = b.loop(0, self.numbers.block, unit, lambda place, *sums: self._unit(tile, b.add(first, place), unit, list(sums)),
                      [zero] * (height * vectors * chains))
        return sums if chains == 1 else [arith.addi(x, y) for x, y in zip(sums[::2], sums[1::2])]

    def _unit(self, tile, first, unit, sums) -> list[ir.Value]:
        """Sums with the products of `unit` steps more; those of a place are side by side."""
        step = WORD * 8 // self.numbers.bits
        chains = len(sums) // (tile.height * tile.vectors)
        for place in range(0, unit, step):
            at = b.add(first, place)
            for half, words in enumerate(self._words(tile.index, b.div(at, step), tile.vectors)):
                chain = (place // WORD + half) % chains
                for r in range(tile.height):
                    left = self._four(b.add(tile.row, r), b.add(at, half * WORD))
                    for v in range(tile.vectors):
                        i = (r * tile.vectors + v) * chains + chain
                        sums[i] = multiply_bytes(sums[i], words[v], left)
        return sums

    def _four(self, row, step) -> ir.Value:
        """Four bytes of a row in each lane."""
        i32 = ir.IntegerType.get_signless(32)
        word = vector.extract(vector.bitcast(b.vector_type(1, i32), b.load_vector(self.a, [row, step], WORD)), [], [0])
        return b.broadcast(word, self.plan.lanes)

    def _words(self, panel, step, vectors) -> list[list[ir.Value]]:
        """The panel's words of one step, one vector of words for four steps of k."""
        lanes = self.plan.lanes
        loaded = [b.load_vector(self.numbers.words, [panel, step, v * lanes], lanes) for v in range(vectors)]
        if self.numbers.bits == 8:
            return [loaded]
        kind = loaded[0].type
        constant = lambda number: arith.constant(kind, ir.DenseElementsAttr.get_splat(kind, ir.IntegerAttr.get(kind.element_type, number)))
        lower = lambda words: arith.andi(words, constant(0x0F0F0F0F))
        return [[lower(words) for words in loaded], [lower(arith.shrui(words, constant(4))) for words in loaded]]
