"""Product of f32 matrices on the matrix unit: both are given as sums of three bf16 matrices (see parts.py).

Of the nine products of parts, the six whose size is 2**-16 of the whole or more are summed, in f32: the error is that of an f32 sum (what is
left out is below 2**-22 of |a| |b|). Each chunk walks over its panels; for each, over blocks of k, whose part of B stays in L1, and tiles of
rows. Sums wait on the stack between the blocks. At the end they pass once through the epilogue, row by row.

Infinities and numbers near the largest one make NaNs out of parts (inf - inf). A row of sums with a NaN in it is computed again in f32.
"""

from mlir import ir
from mlir.dialects import arith, scf, vector

from . import build as b
from . import matrix_unit as unit
from .parts import LANES, PANEL, PARTS
from .place import finish, Place

PRODUCTS = ((0, 2), (0, 1), (0, 0), (2, 0), (1, 0), (1, 1))
"""Parts of A and B that are multiplied, in an order that keeps one of the two in its registers."""
BLOCK = 8
"""Blocks of 32 steps whose part of B (24 KiB) stays in L1."""
A_BYTES = 1 << 20
"""A's parts of a chunk, at most: they stream from L2 once per panel."""
CHUNKS = 16
MOST_TILES, FEWEST_TILES = 32, 2
"""Tiles of 16 rows in a chunk."""


def emit_split_matmul(a, a_parts, b_parts, c, epilogue=None):
    """Emit C = epilogue(A B), for C [..., n] and A [..., k] with the same leading axes, which count rows; the parts are those of A and B."""
    _SplitProduct(a, a_parts, b_parts, c, epilogue).emit()


class _SplitProduct:
    def __init__(self, a, a_parts, b_parts, c, epilogue):
        self.a, self.a_parts, self.b_parts, self.c, self.epilogue = a, a_parts, b_parts, c, epilogue
        self.lead = [b.dim(c, axis) for axis in range(ir.MemRefType(c.type).rank - 1)]
        self.rows = _product(self.lead)
        self.n, self.k = b.dim(c, len(self.lead)), b.dim(a, len(self.lead))
        self.tiles, self.blocks, self.panels = b.dim(a_parts, 0), b.dim(b_parts, 1), b.dim(b_parts, 0)
        self.chunk_tiles, self.chunk_panels = self._chunk_sizes()

    def _chunk_sizes(self) -> tuple[int, int]:
        """Tiles of rows and panels of a chunk."""
        fits = A_BYTES // ((self.blocks if b.known(self.blocks) else 16) * PARTS * unit.TILE * 2 or 1)
        tiles = max(FEWEST_TILES, min(MOST_TILES, fits // 2 * 2))
        if b.known(self.tiles):
            tiles = max(1, min(tiles, self.tiles))
        row_blocks = -(-self.tiles // tiles) if b.known(self.tiles) else 1
        panels = max(1, min(8, self.panels * row_blocks // CHUNKS)) if b.known(self.panels) else 1
        return tiles, panels

    def emit(self):
        grid = [b.ceil_div(self.tiles, self.chunk_tiles), b.ceil_div(self.panels, self.chunk_panels)]
        b.parallel(b.mul(*grid), lambda chunk: self._chunk(*b.split(chunk, *grid)))

    def _chunk(self, row_block, group):
        self.sums = b.stack((self.chunk_tiles * unit.ROWS, PANEL), ir.F32Type.get())
        first = b.mul(row_block, self.chunk_tiles)
        exact = b.known(self.tiles) and self.tiles % self.chunk_tiles == 0
        tiles = self.chunk_tiles if exact else b.minimum(self.chunk_tiles, b.sub(self.tiles, first))
        start = b.mul(group, self.chunk_panels)
        unit.configure()
        b.loop(start, b.minimum(b.add(start, self.chunk_panels), self.panels), 1, lambda panel: self._panel(panel, first, tiles))
        unit.release()

    def _panel(self, panel, first, tiles):
        def block(start):
            steps = b.minimum(BLOCK, b.sub(self.blocks, start))
            pairs = b.mul(b.div(tiles, 2), 2)
            b.loop(0, pairs, 2, lambda tile: self._tile(panel, first, tile, 2, start, steps))
            b.when(b.less(pairs, tiles), lambda: self._tile(panel, first, pairs, 1, start, steps))

        if b.known(self.blocks) and self.blocks <= BLOCK:
            block(0)
        else:
            b.loop(0, b.maximum(self.blocks, 1), BLOCK, block)

    def _tile(self, panel, first, tile, height, start, steps):
        """Sums of `height` tiles of rows by two of columns over `steps` blocks, and the epilogue after the last one."""
        self._begin(tile, height, start)
        b.loop(start, b.add(start, steps), 1, lambda block: self._step(panel, b.add(first, tile), height, block))
        for number, place in self._sums(tile, height):
            unit.store(number, place, PANEL * 4)
        last = True if b.known(self.blocks) and self.blocks <= BLOCK else b.less(self.blocks, b.add(b.add(start, steps), 1))
        b.when(last, lambda: self._finish(panel, b.add(first, tile), tile, height))

    def _begin(self, tile, height, start):
        def zero():
            for number, _ in self._sums(tile, height, places=False):
                unit.clear(number)

        def go_on():
            for number, place in self._sums(tile, height):
                unit.load(number, place, PANEL * 4)

        b.when(True if b.known(start) else b.less(start, 1), zero, go_on)

    def _sums(self, tile, height, places: bool = True):
        """Numbers of the accumulating tiles, with where they wait."""
        for row in range(height):
            for half in range(2):
                at = b.add(b.mul(b.add(tile, row), unit.ROWS * PANEL), half * unit.COLUMNS)
                yield 2 * row + half, unit.pointer(self.sums, at) if places else None

    def _step(self, panel, tile, height, block):
        """All products of parts at 32 steps."""
        right = b.mul(b.add(b.mul(panel, self.blocks), block), PARTS * 2 * unit.TILE)
        rows = [b.mul(b.add(b.mul(b.add(tile, row), self.blocks), block), PARTS * unit.TILE) for row in range(height)]
        loaded = None
        for left_part, right_part in PRODUCTS:
            if loaded is None or loaded[0] != left_part:
                for row in range(height):
                    unit.load(4 + row, unit.pointer(self.a_parts, b.add(rows[row], left_part * unit.TILE)))
            if loaded is None or loaded[1] != right_part:
                for half in range(2):
                    unit.load(6 + half, unit.pointer(self.b_parts, b.add(right, (2 * right_part + half) * unit.TILE)))
            loaded = left_part, right_part
            for row in range(height):
                for half in range(2):
                    unit.multiply_add(2 * row + half, 4 + row, 6 + half)

    def _finish(self, panel, tile, local, height):
        """The rows of some tiles through the epilogue into C."""
        column = b.mul(panel, PANEL)
        first = b.mul(tile, unit.ROWS)
        count = b.minimum(height * unit.ROWS, b.sub(self.rows, first))
        whole = b.known(self.n) and self.n % PANEL == 0
        masks = [None if whole else b.mask_first(b.maximum(b.sub(self.n, b.add(column, half)), 0), LANES) for half in (0, LANES)]

        def row(index):
            where = b.split(b.add(first, index), *self.lead)
            line = b.add(b.mul(local, unit.ROWS), index)
            sums = self._checked([b.load_vector(self.sums, [line, half], LANES) for half in (0, LANES)], where, panel)
            for vec, half, mask in zip(sums, (0, LANES), masks):
                at = (*where, b.add(column, half))
                finish(vec, Place(at, len(at) - 1, LANES, mask), self.c, at, self.epilogue)

        b.loop(0, count, 1, row)

    def _checked(self, sums, where, panel):
        """The sums of a row; computed again where one is NaN."""
        unordered = arith.cmpf(arith.CmpFPredicate.UNO, *sums)
        word = ir.IntegerType.get_signless(LANES)
        lanes = vector.extract(vector.bitcast(ir.VectorType.get([1], word), unordered), [], [0])
        wrong = arith.cmpi(arith.CmpIPredicate.ne, lanes, arith.constant(word, 0))
        choice = scf.IfOp(wrong, [v.type for v in sums], has_else=True)
        with ir.InsertionPoint(choice.then_block):
            scf.YieldOp(self._plain(where, panel, sums[0].type))
        with ir.InsertionPoint(choice.else_block):
            scf.YieldOp(sums)
        return list(choice.results)

    def _plain(self, where, panel, kind):
        """A row of the panel by f32 multiply-adds, B put together from its parts."""
        def step(k, *sums):
            scalar = b.broadcast(b.load(self.a, [*where, k]), LANES)
            block, inside = b.div(k, unit.STEPS), b.rem(k, unit.STEPS)
            line = [panel, block, b.mul(b.div(inside, 2), 2 * LANES)]
            return [b.multiply_add(scalar, self._right(line, half, b.rem(inside, 2)), total) for half, total in enumerate(sums)]

        return b.loop(0, self.k, 1, step, [b.zero(kind)] * 2)

    def _right(self, line, half, odd):
        """16 columns of B at one step."""
        panel, block, offset = line
        i32 = b.vector_type(LANES, ir.IntegerType.get_signless(32))
        shift = b.broadcast(arith.index_cast(i32.element_type, b.value(b.mul(b.sub(1, odd), 16))), LANES)
        upper = arith.constant(i32, ir.DenseElementsAttr.get_splat(i32, ir.IntegerAttr.get(i32.element_type, -65536)))
        total = None
        for part in range(PARTS):
            pairs = vector.bitcast(i32, b.load_vector(self.b_parts, [panel, block, 2 * part + half, offset], 2 * LANES))
            number = vector.bitcast(b.vector_type(LANES, ir.F32Type.get()), arith.andi(arith.shli(pairs, shift), upper))
            total = number if total is None else arith.addf(total, number)
        return total


def _product(sizes):
    total = 1
    for size in sizes:
        total = b.mul(total, size)
    return total
