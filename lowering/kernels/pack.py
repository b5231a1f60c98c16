"""Packing B of a product into panels [n / width][k][width], the last one padded with zeros.

For weights this runs once, when a session is made; for activations a panel at a time, in the chunk that uses it.
"""

from mlir import ir

from ..targets import Target, host
from . import build as b
from .transpose import transpose_square


def accumulator_type(element):
    """f16 and bf16 sum in f32, integers in i32."""
    if isinstance(element, ir.IntegerType):
        return ir.IntegerType.get_signless(max(32, element.width))
    return element if isinstance(element, ir.F64Type) else ir.F32Type.get()


def panel_width(n: int | None, accumulator, target: Target | None = None) -> int:
    """Columns of a panel: the register tile's, or one vector where B has no more columns than that."""
    target = target or host()
    lanes = target.lanes(b.bits(accumulator))
    if n is not None and n <= lanes:
        return lanes
    return lanes * target.vectors


def packed_shape(k, n, element, target: Target | None = None) -> tuple:
    """The sizes of packed B; None where `k` or `n` is None."""
    width = panel_width(n, accumulator_type(element), target)
    return (None if n is None else -(-n // width), k, width)


def emit_pack_b(source, packed, transposed: bool = False):
    """Emit packed = pack(source) for source [k, n], or [n, k] if `transposed`, with any leading batch axes that both have."""
    kind = ir.MemRefType(packed.type)
    lead = kind.rank - 3
    width = kind.shape[-1]
    panels, depth = b.dim(packed, lead), b.dim(packed, lead + 1)
    n = b.dim(source, lead + (0 if transposed else 1))
    sizes = [*(b.dim(packed, axis) for axis in range(lead)), panels]
    count = 1
    for size in sizes:
        count = b.mul(count, size)

    def chunk(index):
        *batch, panel = b.split(index, *sizes)
        column = b.mul(panel, width)
        columns = width if b.known(n) and n % width == 0 else b.minimum(width, b.sub(n, column))
        pack_panel(b.Rows(source, batch, transposed), packed, [*batch, panel], 0, depth, column, columns, width)

    b.parallel(count, chunk)


def pack_panel(source: "b.Rows", packed, lead, k, depth, column, columns, width: int):
    """packed[*lead, 0 … depth, 0 … width] = columns `column` … of B, steps `k` …, zeros after the first `columns`."""
    if source.transposed:
        _pack_transposed(source, packed, lead, k, depth, column, columns, width)
    else:
        _pack_rows(source, packed, lead, k, depth, column, columns, width)


def _pack_rows(source, packed, lead, k, depth, column, columns, width):
    mask = b.mask_first(columns, width)

    def row(step):
        at = [*source.batch, b.add(k, step), column]
        b.store_vector(b.load_vector(source.buffer, at, width, mask), packed, [*lead, step, 0])

    b.loop(0, depth, 1, row)


def _pack_transposed(source, packed, lead, k, depth, column, columns, width):
    """Squares of 8 columns x 8 steps through registers; elements that are not 32 or 64 bits wide one by one."""
    if b.bits(b.element_type(packed)) < 32:
        _pack_scalars(source, packed, lead, k, depth, column, columns, width)
        return
    side = min(8, width)
    whole = b.sub(depth, b.rem(depth, side))

    def strip(j):
        left = b.sub(columns, j)
        b.loop(0, whole, side, lambda step: _pack_square(source, packed, lead, k, step, side, column, j, left, side))
        rest = b.sub(depth, whole)
        if not b.known(rest) or rest:
            b.when(b.less(0, rest), lambda: _pack_square(source, packed, lead, k, whole, rest, column, j, left, side))

    b.loop(0, width, side, strip)


def _pack_square(source, packed, lead, k, step, steps, column, j, left, side):
    """Columns j … of the panel, of which `left` (or fewer, or none) exist, and `steps` steps."""
    rows = []
    for i in range(side):
        mask = b.mask_first(steps, side)
        if not (b.known(left) and left >= side):
            mask = b.mask_first(b.select(b.less(i, left), steps, 0), side)
        rows.append(b.load_vector(source.buffer, [*source.batch, b.add(b.add(column, j), i), b.add(k, step)], side, mask))
    for t, vec in enumerate(transpose_square(rows)):
        b.when(b.less(t, steps), lambda t=t, vec=vec: b.store_vector(vec, packed, [*lead, b.add(step, t), j]))


def _pack_scalars(source, packed, lead, k, depth, column, columns, width):
    zero = b.zero(b.element_type(packed))

    def copy(j):
        at = [*source.batch, b.add(column, j)]
        b.loop(0, depth, 1, lambda step: b.store(b.load(source.buffer, [*at, b.add(k, step)]), packed, [*lead, step, j]))

    b.loop(0, columns, 1, copy)
    b.loop(columns, width, 1, lambda j: b.loop(0, depth, 1, lambda step: b.store(zero, packed, [*lead, step, j])))
