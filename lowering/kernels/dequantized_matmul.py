"""Product by a weight that stays integers of 8 or 4 bits.

Of few rows each number is used as soon as it is read, and a block's sum is scaled. For more rows a part of some panels becomes f32 numbers on
the stack, just before it is used.

B is three buffers. Numbers [n / width][k][bytes]: a byte each, or two in a byte, of which the lower one is of a column in the first half of the
panel and the upper one of the column half a panel on. Scales [n / width][blocks][width] in f32, one for `block` steps, and zero points of the same
shape, also in f32: an element is (number - zero point) * scale, rounded once.
"""

from dataclasses import dataclass, replace

from mlir import ir
from mlir.dialects import arith

from ..targets import Target, host
from . import build as b
from . import tile
from .matmul import Product
from .shapes import MatmulShape

DEPTH = 128
"""Steps of a block along k, about: with a width of 32 a panel takes 16 KiB of the stack and of L1."""

PANELS = 4
"""Panels that are unpacked together."""
FEW = 4
"""Rows up to which nothing is unpacked."""


@dataclass(frozen=True)
class Numbers:
    """The integers of a weight as the kernel reads them, and how many steps share a scale."""

    words: ir.Value
    scales: ir.Value
    zeros: ir.Value | None
    block: int
    bits: int
    unsigned: bool


def depth_of(k: int, block: int) -> int | None:
    """Steps of a block along k whose parts each have one scale; None where there is no good number."""
    if block >= k:
        return min(k, DEPTH)
    if block >= DEPTH:
        return next((d for d in range(DEPTH, 7, -1) if block % d == 0), None)
    return block * (DEPTH // block)


def emit_dequantized_matmul(a, numbers: Numbers, c, shape: MatmulShape, epilogue=None, target: Target | None = None, rolled: bool = False):
    """Emit C = epilogue(A B) for a `shape` whose n and k are known, of more columns than a vector has, and `depth_of` a number."""
    target, rows = target or host(), b.dim(c, shape.batch)
    few, many = (lambda kind=kind: kind(a, numbers, c, shape, epilogue, target, rolled).emit() for kind in (_FewRows, _Unpacked))
    b.when(b.less(rows, FEW + 1), few, many)


class Dequantized(Product):
    """Reads the numbers and what they are scaled by."""

    def __init__(self, a, numbers, c, shape, epilogue, target, rolled):
        self.numbers = numbers
        super().__init__(a, numbers.scales, c, shape, epilogue, target, rolled)

    def _parameters(self, panel, step) -> list[list[ir.Value]]:
        """Scales, and zero points where there are any, of the panel's columns at a step."""
        plan, numbers = self.plan, self.numbers
        block = b.div(step, numbers.block) if numbers.block < self.shape.k else 0
        buffers = [numbers.scales] if numbers.zeros is None else [numbers.scales, numbers.zeros]
        return [[b.load_vector(buffer, [panel, block, v * plan.lanes], plan.lanes) for v in range(plan.vectors)] for buffer in buffers]

    def _centered(self, panel, step, zeros: list[list[ir.Value]]) -> list[ir.Value]:
        """The panel's numbers of one step, less the zero points, as vectors of f32."""
        numbers = self._numbers(panel, step)
        return [arith.subf(vec, zero) for vec, zero in zip(numbers, zeros[0])] if zeros else numbers

    def _numbers(self, panel, step) -> list[ir.Value]:
        """The panel's numbers of one step, as vectors of f32."""
        plan, numbers = self.plan, self.numbers
        whole = b.vector_type(plan.lanes, ir.IntegerType.get_signless(32))
        vectors = plan.vectors * numbers.bits // 8
        loaded = [b.load_vector(numbers.words, [panel, step, v * plan.lanes], plan.lanes) for v in range(vectors)]
        wide = [(arith.extui if numbers.unsigned else arith.extsi)(whole, vec) for vec in loaded]
        if numbers.bits == 4:
            constant = lambda number: arith.constant(whole, ir.DenseElementsAttr.get_splat(whole, ir.IntegerAttr.get(whole.element_type, number)))
            wide = [arith.andi(vec, constant(15)) for vec in wide] + [arith.shrui(vec, constant(4)) for vec in wide]
        return [arith.sitofp(self.kind, vec) for vec in wide]


class _FewRows(Dequantized):
    def __init__(self, *arguments):
        super().__init__(*arguments)
        self.plan = replace(self.plan, height=min(self.plan.height, FEW), panels=1, depth=self.shape.k, copy=False)

    def _panel_source(self, index, k, depth, columns):
        return None

    def _sums(self, start, row, height, index, k, depth, source, widest):
        """A block's sums at a time: they are scaled and added up."""
        block, vectors = self.numbers.block, len(start) // height

        def part(number, *totals):
            first = b.mul(number, block)
            run = block if self.shape.k % block == 0 else b.minimum(block, b.sub(self.k, first))
            scales, *zeros = self._parameters(index, first)
            columns = lambda step: self._centered(index, b.add(first, step), zeros)[:vectors]
            sums = tile.accumulate([b.zero(self.kind)] * len(start), height, run, self._scalars(row, first), columns, widest)
            return [b.multiply_add(sums[i], scales[i % vectors], total) for i, total in enumerate(totals)]

        return b.loop(0, -(-self.shape.k // block), 1, part, start)


class _Unpacked(Dequantized):
    def __init__(self, *arguments):
        super().__init__(*arguments)
        depth = depth_of(self.shape.k, self.numbers.block)
        copy = self.plan.copy and depth % self.plan.lanes == 0
        self.plan = replace(self.plan, copy=copy, panels=min(self.plan.panels, PANELS), depth=depth)

    def _chunk(self, batch, block, group):
        self.unpacked = b.stack((self.plan.panels, self.plan.depth, self.plan.width), self.accumulator)
        super()._chunk(batch, block, group)

    def _block(self, k, depth, first_row, rows, first, end):
        self.first, plan = first, self.plan
        last = b.minimum(b.add(first, plan.panels), b.ceil_div(self.n, plan.width))
        b.loop(first, last, 1, lambda panel: self._unpack(panel, k, depth))
        super()._block(k, depth, first_row, rows, first, end)

    def _panel_source(self, index, k, depth, columns):
        plan, place = self.plan, b.sub(index, self.first)
        return lambda step: [b.load_vector(self.unpacked, [place, step, v * plan.lanes], plan.lanes) for v in range(self._vectors(columns)[0])]

    def _unpack(self, panel, k, depth):
        """Steps k … k + depth of a panel, a run with one scale at a time."""
        plan, place, run = self.plan, b.sub(panel, self.first), min(self.numbers.block, self.plan.depth)

        def some(first):
            scales, *zeros = self._parameters(panel, b.add(k, first))

            def step(offset):
                at = b.add(first, offset)
                for v, vec in enumerate(self._centered(panel, b.add(k, at), zeros)):
                    b.store_vector(arith.mulf(vec, scales[v]), self.unpacked, [place, at, v * plan.lanes])

            b.loop(0, b.minimum(run, b.sub(depth, first)), 1, step)

        b.loop(0, depth, run, some)
