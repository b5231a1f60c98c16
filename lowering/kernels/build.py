"""Small builders that the kernels are written with.

An index is a Python int where it is known and an `index` Value where it is not; `add`, `mul`, … fold the known part, so one emitter
serves static and dynamic shapes. Everything is built at the current insertion point and location.
"""

from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass

from mlir import ir
from mlir.dialects import arith, llvm, memref, scf, vector

from ..targets import host

DYNAMIC = ir.ShapedType.get_dynamic_size()


# --- indices ----------------------------------------------------------------------------------------------------------------------


def known(x) -> bool:
    return isinstance(x, int)


_shared: ContextVar["tuple[ir.Block, dict[int, ir.Value]] | None"] = ContextVar("constants of a kernel", default=None)


@contextmanager
def shared_constants(block: ir.Block):
    """Inside, each known index that is needed as a value is one constant at the start of the block, which encloses all that is emitted."""
    token = _shared.set((block, {}))
    try:
        yield
    finally:
        _shared.reset(token)


def value(x):
    """The `index` Value of an index."""
    if not known(x):
        return x
    shared = _shared.get()
    if shared is None:
        return arith.constant(ir.IndexType.get(), x)
    block, constants = shared
    if x not in constants:
        with ir.InsertionPoint.at_block_begin(block):
            constants[x] = arith.constant(ir.IndexType.get(), x)
    return constants[x]


def add(a, b):
    if known(a) and known(b):
        return a + b
    if known(a) and a == 0:
        return b
    if known(b) and b == 0:
        return a
    return arith.addi(value(a), value(b))


def sub(a, b):
    if known(a) and known(b):
        return a - b
    if known(b) and b == 0:
        return a
    return arith.subi(value(a), value(b))


def mul(a, b):
    if known(a) and known(b):
        return a * b
    if (known(a) and a == 0) or (known(b) and b == 0):
        return 0
    if known(a) and a == 1:
        return b
    if known(b) and b == 1:
        return a
    return arith.muli(value(a), value(b))


def div(a, b):
    """Floor division of indices that are not negative."""
    if known(a) and known(b):
        return a // b
    if known(b) and b == 1:
        return a
    return arith.divui(value(a), value(b))


def rem(a, b):
    if known(a) and known(b):
        return a % b
    if known(b) and b == 1:
        return 0
    return arith.remui(value(a), value(b))


def ceil_div(a, b):
    if known(a) and known(b):
        return -(-a // b)
    return div(add(a, sub(b, 1)), b)


def minimum(a, b):
    if known(a) and known(b):
        return min(a, b)
    return arith.minsi(value(a), value(b))


def maximum(a, b):
    if known(a) and known(b):
        return max(a, b)
    return arith.maxsi(value(a), value(b))


def split(index, *sizes):
    """The coordinates of a flat index in a grid of these sizes (the first size is not needed and may be anything)."""
    coordinates = []
    for size in reversed(sizes[1:]):
        if known(size) and size == 1:
            coordinates.append(0)
            continue
        coordinates.append(rem(index, size))
        index = div(index, size)
    return [index if not (known(sizes[0]) and sizes[0] == 1) else 0, *reversed(coordinates)]


def dim(buffer, axis: int):
    """The size of one axis of a memref, as an index."""
    size = ir.MemRefType(buffer.type).shape[axis]
    return memref.dim(buffer, value(axis)) if size == DYNAMIC else size


def rank(buffer) -> int:
    """The number of axes of a memref."""
    return ir.MemRefType(buffer.type).rank


# --- loops ------------------------------------------------------------------------------------------------------------------------


EXPLICIT = "om.explicit"
"""Marks a kernel's loop. Its pointers must not be `noalias` in LLVM, which would move loads over `load_barrier`."""
ROLL = True
ROLLED = "#llvm.loop_annotation<unroll = <disable = true>>"
ROLLED_TRIPS = "#llvm.loop_annotation<unroll = <disable = true, count = {} : i32>>"
"""With the number of trips, which `standalone.carry_loop_annotations` makes weights of the loop's branch of."""


def loop(lower, upper, step, body, carried=(), rolled: bool = False, most: int | None = None):
    """`scf.for`: `body(index, *carried)` returns the next carried values. A loop known to run once or never is not emitted.

    LLVM does not unroll a `rolled` loop: its body is a register tile that is long enough. It takes a rolled loop of a known number of trips, or of
    `most` of them, for what it is, and any other for one of 32: what is deepest in loops gets the registers.
    """
    carried, trips = list(carried), most
    if known(lower) and known(upper):
        trips = max(0, -(-(upper - lower) // step)) if known(step) else None
        if trips == 0:
            return carried
        if trips == 1:
            return _values(body(lower, *carried))
    op = scf.ForOp(value(lower), value(upper), value(step), carried)
    if rolled and ROLL:
        op.attributes["llvm.loop_annotation"] = ir.Attribute.parse(ROLLED if trips is None else ROLLED_TRIPS.format(trips))
    with ir.InsertionPoint(op.body):
        scf.YieldOp(_values(body(op.induction_variable, *op.inner_iter_args)))
    return list(op.results)


def _values(result):
    if result is None:
        return []
    return list(result) if isinstance(result, (list, tuple)) else [result]


def parallel(count, body):
    """One-dimensional `scf.parallel` over independent chunks; also for one chunk, so that a kernel always is one such loop."""
    op = scf.ParallelOp([], [value(0)], [value(count)], [value(1)], [])
    op.attributes[EXPLICIT] = ir.UnitAttr.get()
    block = op.regions[0].blocks.append(ir.IndexType.get())
    with ir.InsertionPoint(block):
        body(block.arguments[0])
        scf.ReduceOp([], 0)
    return op


def when(condition, then, otherwise=None):
    """`scf.if` without results; a condition known in Python emits one branch only."""
    if isinstance(condition, bool):
        branch = then if condition else otherwise
        return branch() if branch else None
    op = scf.IfOp(condition, has_else=otherwise is not None)
    with ir.InsertionPoint(op.then_block):
        then()
        scf.YieldOp([])
    if otherwise is not None:
        with ir.InsertionPoint(op.else_block):
            otherwise()
            scf.YieldOp([])


def less(a, b):
    if known(a) and known(b):
        return a < b
    return arith.cmpi(arith.CmpIPredicate.slt, value(a), value(b))


def select(condition, a, b):
    """One of two indices."""
    if isinstance(condition, bool):
        return a if condition else b
    return arith.select(condition, value(a), value(b))


# --- memory and vectors -----------------------------------------------------------------------------------------------------------


def stack(shape, element) -> ir.Value:
    """A static scratch buffer of the chunk. The outliner hoists it to the entry of the outlined function."""
    kind = ir.MemRefType.get(list(shape), element)
    return memref.AllocaOp(kind, [], [], alignment=64).result


def vector_type(lanes: int, element) -> ir.VectorType:
    return ir.VectorType.get([lanes], element)


def element_type(buffer):
    return ir.MemRefType(buffer.type).element_type


def load(buffer, indices):
    return memref.load(buffer, [value(i) for i in indices])


def store(scalar, buffer, indices):
    memref.store(scalar, buffer, [value(i) for i in indices])


def window(buffer, start, sizes):
    """The view of `sizes` elements from `start` on.

    Places in it are constants beside one base, which is one register: LLVM does not always find that out from the indices of the whole.
    """
    kind = ir.MemRefType(buffer.type)
    strides, _ = kind.get_strides_and_offset()
    layout = ir.StridedLayoutAttr.get(ir.ShapedType.get_dynamic_stride_or_offset(), strides)
    view = ir.MemRefType.get(list(sizes), kind.element_type, layout)
    return memref.SubViewOp(view, buffer, [value(i) for i in start], [], [], [DYNAMIC] * kind.rank, list(sizes), [1] * kind.rank).result


def load_vector(buffer, indices, lanes: int, mask=None):
    """`lanes` elements along the last axis; lanes that are masked off are not read and are zero."""
    kind = vector_type(lanes, element_type(buffer))
    indices = [value(i) for i in indices]
    if mask is None:
        return vector.load(kind, buffer, indices)
    return vector.maskedload(kind, buffer, indices, mask, zero(kind))


AHEAD = 4096
"""Bytes that a stream is prefetched ahead: a page, since the processor's own prefetching stops at its end."""
LINE = 64
"""Bytes of a cache line."""


def load_streamed(buffer, indices, lanes: int, count: int):
    """`count` vectors side by side of a buffer that is read from its start to its end, once: what comes a page later is brought into L2."""
    step = lanes * bits(element_type(buffer)) // 8
    *lead, last = indices
    for offset in range(0, count * step, max(LINE, step)):
        memref.prefetch(buffer, [value(i) for i in [*lead, add(last, (offset + AHEAD) * lanes // step)]], False, 2, True)
    return [load_vector(buffer, [*lead, add(last, v * lanes)], lanes) for v in range(count)]


def store_vector(vec, buffer, indices, mask=None):
    from .partial import store_partial

    if mask is not None and not host().masks:
        store_partial(vec, buffer, indices, mask)
        return
    indices = [value(i) for i in indices]
    if mask is None:
        vector.store(vec, buffer, indices)
    else:
        vector.maskedstore(buffer, indices, mask, vec)


def mask_first(count, lanes: int):
    """The mask of the first `count` lanes, or None where that is all of them."""
    if known(count) and count >= lanes:
        return None
    return vector.create_mask(vector_type(lanes, ir.IntegerType.get_signless(1)), [value(count)])


def zero(kind):
    """The zero of a scalar or vector type."""
    element = ir.VectorType(kind).element_type if isinstance(kind, ir.VectorType) else kind
    attribute = ir.IntegerAttr.get(element, 0) if isinstance(element, ir.IntegerType) else ir.FloatAttr.get(element, 0.0)
    if element is not kind:
        attribute = ir.DenseElementsAttr.get_splat(kind, attribute)
    return arith.constant(kind, attribute)


def broadcast(scalar, lanes: int):
    return vector.broadcast(vector_type(lanes, scalar.type), scalar)


def lanes_of(vec) -> int:
    return ir.VectorType(vec.type).shape[0]


def widen(x, element, unsigned: bool = False):
    """A scalar or vector of a narrower type as one of `element`, which accumulates."""
    kind = x.type
    source = ir.VectorType(kind).element_type if isinstance(kind, ir.VectorType) else kind
    if source == element:
        return x
    target = element if source is kind else ir.VectorType.get(ir.VectorType(kind).shape, element)
    if not isinstance(element, ir.IntegerType):
        return arith.extf(target, x)
    return arith.extui(target, x) if unsigned else arith.extsi(target, x)


def narrow(x, element):
    """The reverse of `widen` for floats; integers stay as they are."""
    kind = ir.VectorType(x.type)
    if kind.element_type == element:
        return x
    return arith.truncf(ir.VectorType.get(kind.shape, element), x)


def multiply_add(a, b, accumulator):
    if isinstance(ir.VectorType(accumulator.type).element_type, ir.IntegerType):
        return arith.addi(accumulator, arith.muli(a, b))
    return vector.fma(a, b, accumulator)


def plus(a, b):
    if isinstance(ir.VectorType(a.type).element_type, ir.IntegerType):
        return arith.addi(a, b)
    return arith.addf(a, b)


@dataclass(frozen=True)
class Rows:
    """One matrix of a batch: `buffer[*batch, row, column]`, or `[…, column, row]` if transposed."""

    buffer: object
    batch: list
    transposed: bool


def bits(element) -> int:
    return element.width


def both(first, second):
    """Logical and of conditions that may be known."""
    if isinstance(first, bool):
        return second if first else False
    if isinstance(second, bool):
        return first if second else False
    return arith.andi(first, second)


def vector_element(vec):
    return ir.VectorType(vec.type).element_type


def collapse(buffer, groups):
    """Collapse groups of axes; of a view, those that lie in memory as one (`collapses`)."""
    kind = ir.MemRefType(buffer.type)
    sizes = []
    for group in groups:
        size = 1
        for axis in group:
            size = DYNAMIC if DYNAMIC in (size, kind.shape[axis]) else size * kind.shape[axis]
        sizes.append(size)
    layout = None
    if not is_plain(buffer):
        strides, offset = kind.get_strides_and_offset()
        layout = ir.StridedLayoutAttr.get(offset, [strides[group[-1]] for group in groups])
    return memref.collapse_shape(ir.MemRefType.get(sizes, kind.element_type, layout), buffer, groups)


def is_plain(buffer) -> bool:
    """Whether a memref has the row-major layout."""
    kind = ir.MemRefType(buffer.type)
    return kind.layout == ir.AffineMapAttr.get(ir.AffineMap.get_identity(kind.rank))


def collapses(buffer, groups) -> bool:
    """Whether the axes of each group lie in memory as one axis, the last one with neighbours side by side."""
    if is_plain(buffer):
        return True
    kind = ir.MemRefType(buffer.type)
    strides, _ = kind.get_strides_and_offset()
    if strides[-1] != 1:
        return False
    pairs = [(axis, axis + 1) for group in groups for axis in group[:-1]]
    return all(kind.shape[b] != DYNAMIC and strides[b] > 0 and strides[a] == strides[b] * kind.shape[b] for a, b in pairs)


def mask_all(condition, lanes: int):
    """All lanes, or none.

    From the bits of an integer: a comparison would be repeated by LLVM inside of a loop that uses it.
    """
    if isinstance(condition, bool):
        return constant_mask([condition] * lanes)
    bits = ir.IntegerType.get_signless(lanes)
    chosen = arith.select(condition, arith.constant(bits, -1), arith.constant(bits, 0))
    return vector.bitcast(vector_type(lanes, ir.IntegerType.get_signless(1)), vector.broadcast(ir.VectorType.get([1], bits), chosen))


def constant_mask(truths):
    kind = vector_type(len(truths), ir.IntegerType.get_signless(1))
    values = [ir.IntegerAttr.get(kind.element_type, int(truth)) for truth in truths]
    return arith.constant(kind, ir.DenseElementsAttr.get(values, type=kind))


def load_barrier():
    """Keep LLVM from sharing loads between what is before and after: shared, they would take registers that the accumulators need.

    A fence of one thread against itself: no instruction.
    """
    llvm.fence(llvm.AtomicOrdering.seq_cst, syncscope="singlethread")


def minus(a, b):
    return arith.subf(a, b)


def each_vector(count, lanes: int, body):
    """`body(first element, mask)` for a row of elements: whole vectors, whose mask is None, then the rest."""
    whole = mul(div(count, lanes), lanes)
    loop(0, whole, lanes, lambda at: body(at, None))
    when(less(whole, count), lambda: body(whole, mask_first(sub(count, whole), lanes)))


def splat(kind, number: float):
    """A constant vector of one number."""
    return arith.constant(kind, ir.DenseElementsAttr.get_splat(kind, ir.FloatAttr.get(ir.VectorType(kind).element_type, number)))
