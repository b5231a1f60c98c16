"""Caches of keys and values that grow: the rows of the past that each sample keeps, its new rows, zeros. One pass over memory.

Threads share blocks of rows; a row is copied by whole vectors, the last one masked.
"""

from mlir import ir
from mlir.dialects import arith

from ..targets import host
from . import build as b

BLOCK = 32
"""Rows of a chunk."""
WORTH = 1 << 15
"""Elements that are worth handing to a thread."""


def emit_append_rows(past, new, before, y):
    """y [batch, heads, places, width] of past [batch, heads, p, width] and new [batch, heads, rows, width].

    before [batch] of integers, which are clamped to 0 to p. New rows beyond y are left out.
    """
    batch, heads, places, width = (b.dim(y, axis) for axis in range(4))
    blocks = b.ceil_div(places, BLOCK)
    rows, lanes = b.dim(new, 2), host().lanes(b.bits(b.element_type(y)))

    def chunk(index):
        sample, head, block = b.split(index, batch, heads, blocks)
        count = arith.index_cast(ir.IndexType.get(), b.load(before, [sample]))
        kept = b.minimum(b.maximum(count, 0), b.dim(past, 2))
        first = b.mul(block, BLOCK)
        end = b.minimum(b.add(first, BLOCK), places)
        within = lambda place: b.minimum(b.maximum(place, first), end)
        middle, last = within(kept), within(b.add(kept, rows))

        def fill(low, high, vector_of):
            b.loop(low, high, 1, lambda row: b.each_vector(width, lanes, lambda at, mask: b.store_vector(
                vector_of(row, at, mask), y, [sample, head, row, at], mask)))  # fmt: skip

        zeros = b.zero(b.vector_type(lanes, b.element_type(y)))
        fill(first, middle, lambda row, at, mask: b.load_vector(past, [sample, head, row, at], lanes, mask))
        fill(middle, last, lambda row, at, mask: b.load_vector(new, [sample, head, b.sub(row, kept), at], lanes, mask))
        fill(last, end, lambda *_: zeros)

    loop = b.parallel(b.mul(b.mul(batch, heads), blocks), chunk)
    work = BLOCK * (width if b.known(width) else 64)
    loop.attributes["om.grain"] = ir.IntegerAttr.get(ir.IntegerType.get_signless(64), max(1, WORTH // max(work, 1)))
