"""Products of few rows by columns that lie one after the other (a query by the keys of a cache): vectors run along k.

Packing the columns for vectors across them would take longer than the product. As many columns as a vector has lanes are summed at once, each in a
vector of its own; the square of sums is transposed in registers and added up, which makes one vector of results.
"""

from mlir import ir

from ..targets import Target
from . import build as b
from .place import finish, Place
from .shapes import MatmulShape
from .transpose import transpose_square

ROWS = 4
"""Rows up to which it is faster."""
COLUMNS = 64
"""Columns of a chunk."""


def takes_dots(shape: MatmulShape, left, right) -> bool:
    """Whether these are columns of floats as wide as the sums; `left` and `right` are the types of A and B."""
    floats = left == right and isinstance(right, (ir.F32Type, ir.F64Type))
    return shape.b == "columns" and not shape.a_transposed and floats and (shape.m is None or shape.m <= ROWS)


def emit_dots(a, bm, c, shape: MatmulShape, epilogue, target: Target):
    """Emit C = epilogue(A B) for B [..., n, k], a row at a time."""
    _Dots(a, bm, c, shape, epilogue, target).emit()


class _Dots:
    def __init__(self, a, bm, c, shape, epilogue, target):
        self.a, self.b, self.c, self.shape, self.epilogue = a, bm, c, shape, epilogue
        self.lanes = target.lanes(b.bits(b.element_type(bm)))
        self.kind = b.vector_type(self.lanes, b.element_type(bm))
        self.m, self.n = (b.dim(c, shape.batch + axis) for axis in range(2))
        self.k = b.dim(a, 1 if shape.a_shared else shape.batch + 1)

    def emit(self):
        sizes = [b.dim(self.c, axis) for axis in range(self.shape.batch)]
        grid = [*sizes, b.ceil_div(self.n, COLUMNS)]
        count = 1
        for size in grid:
            count = b.mul(count, size)

        def chunk(index):
            *batch, block = b.split(index, *grid)
            first = b.mul(block, COLUMNS)
            b.loop(first, b.minimum(b.add(first, COLUMNS), self.n), self.lanes, lambda column: self._columns(batch, column))

        b.parallel(count, chunk)

    def _columns(self, batch, column):
        """As many columns as lanes, the last one again in place of those that are missing."""
        missing = not (b.known(self.n) and self.n % self.lanes == 0)
        last = b.sub(self.n, 1)
        rows = [b.minimum(b.add(column, t), last) if missing else b.add(column, t) for t in range(self.lanes)]
        mask = b.mask_first(b.sub(self.n, column), self.lanes) if missing else None
        b.loop(0, self.m, 1, lambda row: self._row(batch, row, column, rows, mask))

    def _row(self, batch, row, column, columns, mask):
        left, right = [*([] if self.shape.a_shared else batch), row], self.shape.batch_of_right(batch)

        def step(k, sums, inside=None):
            vec = b.load_vector(self.a, [*left, k], self.lanes, inside)
            return [b.multiply_add(vec, b.load_vector(self.b, [*right, at, k], self.lanes, inside), total) for at, total in zip(columns, sums)]

        whole = b.sub(self.k, b.rem(self.k, self.lanes))
        sums = b.loop(0, whole, self.lanes, lambda k, *sums: step(k, sums), [b.zero(self.kind)] * self.lanes)
        rest = b.sub(self.k, whole)
        if not b.known(rest) or rest:
            sums = step(whole, sums, b.mask_first(rest, self.lanes))
        place = Place((*batch, row, column), self.shape.batch + 1, self.lanes, mask)
        finish(_total(transpose_square(sums)), place, self.c, place.indices, self.epilogue)


def _total(vectors: list) -> ir.Value:
    """Their sum, pair by pair."""
    while len(vectors) > 1:
        half = (len(vectors) + 1) // 2
        vectors = [b.plus(x, y) for x, y in zip(vectors, vectors[half:])] + vectors[len(vectors) // 2:half]
    return vectors[0]
