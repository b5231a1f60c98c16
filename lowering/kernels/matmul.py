"""Matrix product: C = A B with an epilogue, B packed or not, any sizes.

Chunks are a grid (batch, block of rows, group of panels). Within a chunk the blocks of k come first, then the tiles of rows, then
the panels: a tile of A stays in L1, the panels of the group stream from L2. A is read where it lies: broadcasting scalars out of
rows was as fast as out of packed A, but where the rows of a tile fall on the same sets of L1 (see docs/design/kernels.md).
"""

from dataclasses import dataclass, replace

from mlir import ir

from ..targets import Target, host
from . import build as b
from . import tile
from .dots import emit_dots, ROWS, takes_dots
from .pack import accumulator_type, pack_panel, panel_width
from .place import Place, finish
from .shapes import MatmulShape

ROW_TILES, FEWEST_ROW_TILES = 40, 8
"""Tiles of rows in a chunk: at most, and at least where that gives more chunks."""
CHUNKS = 16
"""Chunks that a product of known size is cut into, if it is large enough."""
STACK = 64 << 10
"""Bytes of scratch that a chunk may take from the stack."""
WAY, WAYS = 4096, 8
"""Bytes of a way of L1, and the ways: as many lines that lie a multiple of the first apart can be in L1 at once."""


@dataclass(frozen=True)
class Plan:
    """How one product is cut."""

    lanes: int
    width: int
    height: int
    rows: int
    """Rows of a chunk."""
    panels: int
    """Panels of a chunk."""
    depth: int
    """Steps of a block along k."""
    pack: bool
    """Copy each panel of B to the stack first."""
    partial: bool
    """Keep partial sums on the stack, because C has a narrower type."""
    copy: bool
    """Copy each tile of A to the stack first, because its rows would push each other out of L1."""

    @property
    def vectors(self) -> int:
        return self.width // self.lanes


def plan(shape: MatmulShape, left, element, accumulator, out, target: Target) -> Plan:
    """`left` and `element` are the types of A and B."""
    lanes = target.lanes(b.bits(accumulator))
    width = panel_width(shape.n, accumulator, target)
    height = target.rows if width > lanes else target.rows * 2 - 2
    if shape.m is not None:
        height = min(height, max(shape.m, 1))
    rows = _rows_of_chunk(shape, height, width)
    pack = _packs(shape, width)
    depth = _depth(shape, width * b.bits(element) // 8, pack)
    partial = out != accumulator and (shape.k is None or shape.k > depth)
    bytes_of_left = b.bits(left) // 8
    copy = _collides(shape, height, bytes_of_left) and not pack and depth % lanes == 0 and height * depth * bytes_of_left < STACK
    panels = 1 if pack or partial else _panels_of_chunk(shape, rows, width, CHUNKS // 2 if copy else CHUNKS)
    return Plan(lanes, width, height, rows, panels, depth, pack, partial, copy)


def _collides(shape, height, bytes_of_element):
    """Whether the lines in which a step of k reads a tile of A fall on one set of L1 that cannot hold them."""
    return shape.k is not None and not shape.a_transposed and height > WAYS and shape.k * bytes_of_element % WAY == 0


def _rows_of_chunk(shape, height, width):
    """Many rows, so that B is read seldom; fewer where the panels alone give too few chunks. A known m is cut evenly if it can be."""
    panels = 4 if shape.n is None else max(1, -(-shape.n // width))
    if shape.batch and not shape.a_shared:
        panels = CHUNKS
    if shape.m is None:
        return height * max(FEWEST_ROW_TILES, min(ROW_TILES, ROW_TILES * panels // CHUNKS))
    wanted = -(-shape.m * panels // CHUNKS)
    most = max(FEWEST_ROW_TILES * height, min(ROW_TILES * height, wanted))
    blocks = max(1, -(-shape.m // most))
    for count in range(blocks, 2 * blocks):
        if shape.m and shape.m % count == 0:
            return shape.m // count
    return most if blocks > 1 else max(shape.m, 1)


def _packs(shape, width):
    """B as columns must be packed; rows of B are read where they lie if few tiles use them or they are short."""
    if shape.b == "packed":
        return False
    if shape.b == "columns":
        return True
    short = shape.n is not None and shape.n <= 4 * width
    return not short and (shape.m is None or shape.m > 4)


def _panels_of_chunk(shape, rows, width, chunks):
    if shape.n is None:
        return 1
    panels = max(1, -(-shape.n // width))
    blocks = 1 if shape.m is None else max(1, -(-shape.m // rows))
    return max(1, min(16, panels * blocks // chunks, panels))


def _depth(shape, bytes_of_step, pack):
    """Steps of a block of k: 512, fewer where a panel must fit the stack; the blocks of a known k are about equal."""
    most = min(512, STACK // 2 // bytes_of_step) if pack else 512
    if shape.k is None:
        return most
    if shape.k <= (most if pack else most + most // 2):
        return max(shape.k, 1)
    blocks = -(-shape.k // most)
    return min(most, -(-shape.k // (blocks * 8)) * 8)


def emit_matmul(a, bm, c, shape: MatmulShape, epilogue=None, target: Target | None = None, rolled: bool = False):
    """Emit C = epilogue(A B) at the insertion point.

    `epilogue(vector, place)` returns the vector to store; `place.operand(buffer, axes)` reads a bias or a residual there. A `rolled` one is
    long: it is emitted once, in a loop over the rows of a tile.
    C must not overlap any other operand: it holds partial sums when k is large.
    """
    target = target or host()
    whole = lambda: Product(a, bm, c, shape, epilogue, target, rolled).emit()
    if takes_dots(shape, b.element_type(a), b.element_type(bm)):
        b.when(b.less(b.dim(c, shape.batch), ROWS + 1), lambda: emit_dots(a, bm, c, shape, epilogue, target), whole)
    else:
        whole()


class Product:
    """One product; a kernel of other steps along k derives from it."""

    arithmetic = b

    def __init__(self, a, bm, c, shape, epilogue, target, rolled):
        self.a, self.b, self.c, self.shape, self.epilogue = a, bm, c, shape, epilogue
        self.out = b.element_type(c)
        self.accumulator = self._accumulator()
        self.rolled = rolled and epilogue is not None
        self.plan = plan(shape, b.element_type(a), b.element_type(bm), self.accumulator, self.out, target)
        self.m = b.dim(c, shape.batch)
        self.n = b.dim(c, shape.batch + 1)
        self.k = b.dim(a, (0 if shape.a_shared else shape.batch) + (0 if shape.a_transposed else 1))
        self.kind = b.vector_type(self.plan.lanes, self.accumulator)

    def _accumulator(self):
        return accumulator_type(b.element_type(self.b))

    def emit(self):
        plan = self.plan
        sizes = [b.dim(self.c, axis) for axis in range(self.shape.batch)]
        grid = [*sizes, b.ceil_div(self.m, plan.rows), b.ceil_div(b.ceil_div(self.n, plan.width), plan.panels)]
        count = 1
        for size in grid:
            count = b.mul(count, size)
        b.parallel(count, lambda chunk: self._chunk(*self._coordinates(chunk, grid)))

    def _coordinates(self, chunk, grid):
        *batch, block, group = b.split(chunk, *grid)
        return batch, block, group

    def _chunk(self, batch, block, group):
        plan = self.plan
        self.batch = batch
        self.packed = b.stack((plan.depth, plan.width), b.element_type(self.b)) if plan.pack else None
        self.partial = b.stack((plan.rows, plan.width), self.accumulator) if plan.partial else None
        self.lines = b.stack((plan.height, plan.depth + plan.lanes), b.element_type(self.a)) if plan.copy else None
        self.tile = b.stack((plan.height, plan.width), self.accumulator) if self.rolled else None
        self.first_row = first_row = b.mul(block, plan.rows)
        exact = b.known(self.m) and self.m % plan.rows == 0
        rows = plan.rows if exact else b.minimum(plan.rows, b.sub(self.m, first_row))
        first = b.mul(group, plan.panels)
        whole = b.div(self.n, plan.width)
        end = b.minimum(b.add(first, plan.panels), whole)
        if plan.panels == 1 and b.known(self.n) and self.n % plan.width == 0:
            end = None
        if b.known(self.k) and self.k <= plan.depth:
            self._block(0, self.k, first_row, rows, first, end)
            return
        # One body for all blocks of k: the first one starts from zero, the last one ends with the epilogue.
        b.loop(0, b.maximum(self.k, 1), plan.depth, lambda k: self._block(k, self._steps(k), first_row, rows, first, end))

    def _steps(self, k):
        depth = self.plan.depth
        return depth if b.known(self.k) and self.k % depth == 0 else b.minimum(depth, b.sub(self.k, k))

    def _block(self, k, depth, first_row, rows, first, end):
        """All tiles of a chunk over the steps k … k + depth."""

        def panel(index, columns):
            source = self._panel_source(index, k, depth, columns)

            def one(row, height):
                self._copy(b.add(first_row, row), height, k, depth)
                self._tile(b.add(first_row, row), height, index, k, depth, columns, source)

            tile.for_each_tile(rows, self.plan.height, one)

        if end is None:
            panel(first, None)
            return
        if self.plan.panels == 1 or self.plan.pack:
            self._panels(first, end, panel)
            return

        def group(row, height):
            line = b.add(first_row, row)
            self._copy(line, height, k, depth)
            self._panels(
                first, end, lambda index, columns: self._tile(line, height, index, k, depth, columns, self._panel_source(index, k, depth, columns))
            )

        tile.for_each_tile(rows, self.plan.height, group)

    def _copy(self, row, height, k, depth):
        """The tile's lines of A one after the other on the stack, where the plan says so."""
        if self.lines is None:
            return
        lanes, batch = self.plan.lanes, [] if self.shape.a_shared else self.batch

        def columns(step):
            for r in range(height):
                b.store_vector(b.load_vector(self.a, [*batch, b.add(row, r), b.add(k, step)], lanes), self.lines, [r, step])

        b.loop(0, depth, lanes, columns, rolled=True)

    def _panels(self, first, end, body):
        """Whole panels, then the last one if it is not whole and belongs to this group."""
        plan = self.plan
        if not (b.known(self.n) and self.n < plan.width):
            b.loop(first, end, 1, lambda index: body(index, None))
        columns = b.rem(self.n, plan.width)
        if b.known(columns) and columns == 0:
            return
        whole = b.div(self.n, plan.width)
        mine = b.less(whole, b.add(first, plan.panels))
        if b.known(self.n) and self.n <= plan.width * plan.panels:
            mine = True
        if not b.known(columns):
            mine = b.both(mine, b.less(0, columns))
        b.when(mine, lambda: body(whole, columns))

    def _panel_source(self, index, k, depth, columns):
        """How a tile reads vector `v` of the panel at step `step` of the block."""
        plan, column = self.plan, b.mul(index, self.plan.width)
        vectors, masks = self._vectors(columns)
        if plan.pack:
            self._pack(k, depth, column, columns)
            return lambda step: [self._widened(b.load_vector(self.packed, [step, v * plan.lanes], plan.lanes)) for v in range(vectors)]
        if self.shape.b == "packed":
            lead = self.batch if ir.MemRefType(self.b.type).rank > 3 else []
            return lambda step: [
                self._widened(vec) for vec in b.load_streamed(self.b, [*lead, index, b.add(k, step), 0], plan.lanes, vectors)
            ]
        right = self.shape.batch_of_right(self.batch)
        return lambda step: [
            self._widened(b.load_vector(self.b, [*right, b.add(k, step), b.add(column, v * plan.lanes)], plan.lanes, masks[v]))
            for v in range(vectors)
        ]

    def _pack(self, k, depth, column, columns):
        source = b.Rows(self.b, self.shape.batch_of_right(self.batch), self.shape.b == "columns")
        pack_panel(source, self.packed, [], k, depth, column, self.plan.width if columns is None else columns, self.plan.width)

    def _vectors(self, columns):
        """The vectors of a panel that hold results, and their masks."""
        plan = self.plan
        if columns is None:
            return plan.vectors, [None] * plan.vectors
        vectors = -(-columns // plan.lanes) if b.known(columns) else plan.vectors
        return vectors, [b.mask_first(b.maximum(b.sub(columns, v * plan.lanes), 0), plan.lanes) for v in range(vectors)]

    def _widened(self, vec):
        return b.widen(vec, self.accumulator, self.shape.b_unsigned)

    def _tile(self, row, height, index, k, depth, columns, source):
        plan = self.plan
        vectors, masks = self._vectors(columns)
        at = [[*self.batch, b.add(row, r), b.add(b.mul(index, plan.width), v * plan.lanes)] for r in range(height) for v in range(vectors)]
        places = [Place(tuple(place), len(place) - 1, plan.lanes, mask) for place, mask in zip(at, masks * height)]
        widest = plan.vectors if b.known(self.n) and self.n > plan.width else vectors  # columns of a narrow last panel sum in the order of the others
        sums = self._sums(self._start(places, index, k), row, height, index, k, depth, source, widest)

        def end():
            if self.rolled:
                self._roll(sums, row, height, places[:vectors])
                return
            for vec, place in zip(sums, places):
                finish(vec, place, self.c, place.indices, self.epilogue)

        def go_on():
            for vec, place in zip(sums, places):
                b.store_vector(vec, *self._partial(place, index), place.mask)

        b.when(True if b.known(k) else b.less(self.k, b.add(b.add(k, depth), 1)), end, go_on)

    def _sums(self, start, row, height, index, k, depth, source, widest):
        """The tile's accumulators after a block of steps."""
        return tile.accumulate(start, height, depth, self._scalars(row, k), source, widest, self.arithmetic)

    def _roll(self, sums, row, height, places):
        """Sums to the stack, from there row by row through the epilogue to C: stored twice, rows of C would push each other out of L1."""
        for i, vec in enumerate(sums):
            r, v = divmod(i, len(places))
            b.store_vector(vec, self.tile, [r, v * self.plan.lanes])

        def one(r):
            for v, place in enumerate(places):
                place = replace(place, indices=(*place.indices[:-2], b.add(row, r), place.indices[-1]))
                finish(b.load_vector(self.tile, [r, v * place.lanes], place.lanes), place, self.c, place.indices, self.epilogue)

        b.loop(0, height, 1, one, rolled=True)

    def _start(self, places, index, k):
        """Zeros in the first block of k, the partial sums of C in a later one."""
        if b.known(k):
            return [b.zero(self.kind)] * len(places)
        later = b.mask_first(b.mul(k, self.plan.lanes), self.plan.lanes)
        masks = [later if place.mask is None else b.both(place.mask, later) for place in places]
        return [b.load_vector(*self._partial(place, index), place.lanes, mask) for place, mask in zip(places, masks)]

    def _partial(self, place, index):
        """The buffer and the indices of the partial sums: C's own, unless its type is narrower."""
        if self.partial is None:
            return self.c, place.indices
        row, column = place.indices[-2:]
        return self.partial, [b.sub(row, self.first_row), b.sub(column, b.mul(index, self.plan.width))]

    def _scalars(self, row, k):
        def scalar(step, r):
            if self.lines is not None:
                return b.widen(b.load(self.lines, [r, step]), self.accumulator, self.shape.a_unsigned)
            at_step, line = b.add(k, step), b.add(row, r)
            where = [at_step, line] if self.shape.a_transposed else [line, at_step]
            return b.widen(b.load(self.a, where if self.shape.a_shared else [*self.batch, *where]), self.accumulator, self.shape.a_unsigned)

        return scalar
