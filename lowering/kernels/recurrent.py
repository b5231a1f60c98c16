"""Recurrent layers: a loop over time in which each step is a product of the state with a packed weight and, on its result, the cell.

The weight is packed by units of the state: a panel holds all gates of as many units as a vector has lanes, so that the cell of these units
is computed while their sums are in L1, and the next panel streams in from L2 meanwhile. Where a step is worth it, its panels and blocks of
samples run in parallel; else blocks of samples do, each through all steps.
"""

from dataclasses import dataclass
from typing import Callable

from mlir import ir
from mlir.dialects import arith

from ..targets import Target, host
from . import build as b
from . import tile

WORTH = 1 << 17
"""Multiply-adds of whole layers that are worth handing to a thread."""
WORTH_STEP = 1 << 15
"""Those of one step: the threads are awake from the step before."""
UNKNOWN_STEPS = 16


@dataclass(frozen=True)
class RecurrentLayer:
    """`cell(inputs, products, states, read)` gives the new states as vectors, h first, from one vector a gate of the inputs' and the
    state's products, and the old states. `read(buffer, number)` is part `number` of a buffer that holds one value a unit and part.
    """

    gates: int
    cell: Callable
    reverse: bool = False


def units_of_panel(element, target: Target | None = None) -> int:
    return (target or host()).lanes(element.width)


def packed_weight_shape(hidden, gates: int, element, target: Target | None = None) -> tuple:
    """[panels of units][steps][gate, unit], for a weight [gates * hidden, hidden]."""
    lanes = units_of_panel(element, target)
    return (hidden + (lanes - 1)) // lanes, hidden, gates * lanes


def emit_recurrent(layer: RecurrentLayer, inputs, weight, starts, lengths, h, y, lasts, target: Target | None = None):
    """Emit all steps.

    inputs [time, batch, gates * hidden]: products of the inputs, biases included. weight: packed. starts: [batch, hidden] of each state.
    lengths [batch] of integers, or None: steps of each sample. h [2, batch, hidden]: scratch. Results: y [time, batch, hidden], zero where
    a sample has ended, and the last states.
    """
    _Recurrent(layer, inputs, weight, starts, lengths, h, y, lasts, target or host()).emit()


class _Recurrent:
    def __init__(self, layer, inputs, weight, starts, lengths, h, y, lasts, target):
        self.layer, self.inputs, self.weight, self.starts, self.lengths = layer, inputs, weight, starts, lengths
        self.h, self.y, self.lasts = h, y, lasts
        self.time, self.batch, self.hidden = (b.dim(y, axis) for axis in range(3))
        self.panels, self.element = b.dim(weight, 0), b.element_type(y)
        self.lanes = units_of_panel(self.element, target)
        self.kind = b.vector_type(self.lanes, self.element)
        self.tallest = max(1, (target.registers - layer.gates - 2) // layer.gates)

    def emit(self):
        samples = self.batch if b.known(self.batch) else self.tallest
        self._together() if self._size() * samples >= 2 * WORTH_STEP else self._apart()

    def _size(self) -> int:
        """Multiply-adds of a sample's step."""
        return self._known(self.hidden, 64) ** 2 * self.layer.gates

    @staticmethod
    def _known(size, otherwise: int) -> int:
        return size if b.known(size) else otherwise

    def _blocks(self):
        """The number of blocks, samples of one, and a function that gives the first sample of a block and how many it has."""
        rows = self.tallest
        if b.known(self.batch):
            rows = max(1, -(-self.batch // max(1, -(-self.batch // self.tallest))))
        exact = b.known(self.batch) and self.batch % rows == 0

        def place(number):
            first = b.mul(number, rows)
            return first, rows if exact else b.minimum(rows, b.sub(self.batch, first))

        return b.ceil_div(self.batch, rows), rows, place

    def _apart(self):
        """Blocks of samples in parallel, each through all steps."""
        count, rows, place = self._blocks()

        def block(number):
            first, samples = place(number)
            self._copy_rows(first, samples, self._starts())
            self._each_step(lambda t, parity: b.loop(0, self.panels, 1, lambda panel: self._panel(t, parity, panel, first, samples)))
            self._copy_rows(first, samples, self._end())

        _set_grain(b.parallel(count, block), self._size() * rows * self._known(self.time, UNKNOWN_STEPS), WORTH)

    def _together(self):
        """Step by step, each one in parallel for the panels and blocks of samples; the blocks of a panel follow one another."""
        count, rows, place = self._blocks()
        work = self._known(self.hidden, 64) * self.lanes * self.layer.gates * (rows if b.known(self.batch) else 1)

        def step(t, parity):
            def part(index):
                panel, number = b.split(index, self.panels, count)
                self._panel(t, parity, panel, *place(number))
            _set_grain(b.parallel(b.mul(self.panels, count), part), work, WORTH_STEP)

        self._copy_rows(0, self.batch, self._starts())
        self._each_step(step)
        self._copy_rows(0, self.batch, self._end())

    def _each_step(self, body):
        def step(number):
            t = b.sub(b.sub(self.time, 1), number) if self.layer.reverse else number
            body(t, b.rem(number, 2))
        b.loop(0, self.time, 1, step)

    def _panel(self, t, parity, panel, first, count):
        """A step of some samples for the units of a panel."""
        tile.for_each_tile(count, self.tallest, lambda row, height: self._tile(t, parity, panel, b.add(first, row), height))

    def _starts(self) -> list:
        return [(self.starts[0], self.h, [0]), *((start, last, []) for start, last in zip(self.starts[1:], self.lasts[1:]))]

    def _end(self) -> list:
        return [(self.h, self.lasts[0], None)]

    def _copy_rows(self, first, count, copies):
        """Rows of (source, target, the target's leading indices); None stands for the half of the source that holds the last state."""
        def vectors(row, panel):
            column, mask = self._columns(panel)
            for source, target, lead in copies:
                at = [b.rem(self.time, 2)] if lead is None else []
                vec = b.load_vector(source, [*at, row, column], self.lanes, mask)
                b.store_vector(vec, target, [*(lead or []), row, column], mask)

        b.loop(0, count, 1, lambda r: b.loop(0, self.panels, 1, lambda panel: vectors(b.add(first, r), panel)))

    def _columns(self, panel):
        """The first unit of a panel, and the mask of those that exist."""
        column = b.mul(panel, self.lanes)
        whole = b.known(self.hidden) and self.hidden % self.lanes == 0
        return column, None if whole else b.mask_first(b.minimum(self.lanes, b.sub(self.hidden, column)), self.lanes)

    def _tile(self, t, parity, panel, row, height):
        """A step of so many samples as fit the registers."""
        gates, lanes = range(self.layer.gates), self.lanes
        stash = b.stack((height * len(gates), lanes), self.element)
        sums = tile.accumulate(
            [b.zero(self.kind)] * (height * len(gates)), height, self.hidden,
            lambda k, r: b.load(self.h, [parity, b.add(row, r), k]),
            lambda k: [b.widen(b.load_vector(self.weight, [panel, k, gate * lanes], lanes), self.element) for gate in gates],
        )  # fmt: skip
        for number, vec in enumerate(sums):
            b.store_vector(vec, stash, [number, 0])

        def cell(r):
            products = [b.load_vector(stash, [b.add(b.mul(r, len(gates)), gate), 0], lanes) for gate in gates]
            self._cell(t, parity, panel, b.add(row, r), products)

        b.loop(0, height, 1, cell)

    def _cell(self, t, parity, panel, row, products):
        column, mask = self._columns(panel)
        vector_at = lambda buffer, *indices: b.load_vector(buffer, indices, self.lanes, mask)
        part = lambda number: b.add(b.mul(self.hidden, number), column)
        inputs = [vector_at(self.inputs, t, row, part(gate)) for gate in range(self.layer.gates)]
        old = [vector_at(self.h, parity, row, column), *(vector_at(last, row, column) for last in self.lasts[1:])]
        new = self.layer.cell(inputs, products, old, lambda buffer, number: vector_at(buffer, part(number)))
        visible = new[0]
        if self.lengths is not None:
            alive = self._alive(t, row)
            visible = arith.select(alive, visible, b.zero(self.kind))
            new = [arith.select(alive, n, o) for n, o in zip(new, old)]
        b.store_vector(visible, self.y, [t, row, column], mask)
        b.store_vector(new[0], self.h, [b.sub(1, parity), row, column], mask)
        for last, vec in zip(self.lasts[1:], new[1:]):
            b.store_vector(vec, last, [row, column], mask)

    def _alive(self, t, row):
        """Whether a sample has not ended at step t."""
        length = b.load(self.lengths, [row])
        return arith.cmpi(arith.CmpIPredicate.slt, arith.index_cast(length.type, b.value(t)), length)


def _set_grain(loop, work: int, worth: int):
    """Steps of a parallel loop that are worth a thread, `work` multiply-adds each."""
    loop.attributes["om.grain"] = ir.IntegerAttr.get(ir.IntegerType.get_signless(64), max(1, worth // max(work, 1)))
