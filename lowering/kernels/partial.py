"""Storing the first lanes of a vector, where the processor has no mask registers.

AVX2's masked store takes 12 cycles on AMD's processors, also where all lanes are on; SSE2 and NEON have none, and LLVM makes a branch for each
lane. A full vector is stored as such, and what is left of one in halves: 7 lanes as 4, 2 and 1.
"""

from mlir import ir
from mlir.dialects import arith, vector

from . import build as b


def store_partial(vec, buffer, indices, mask):
    """Store the lanes of a mask that `build.mask_first` or `build.mask_all` made, or several of them; another mask goes to `vector.maskedstore`."""
    found = _reasons(mask)
    if found is None:
        vector.maskedstore(buffer, [b.value(i) for i in indices], mask, vec)
        return
    counts, conditions = found
    every = True
    for condition in conditions:
        every = b.both(every, condition)
    count = b.lanes_of(vec)
    for number in counts:
        count = b.minimum(count, b.maximum(number, 0))
    b.when(every, lambda: _store_first(vec, buffer, list(indices), count))


def _reasons(mask):
    """How many of the first lanes a mask has on, and under which conditions, as lists; None for a mask of another kind."""
    operation = None if isinstance(mask.owner, ir.Block) else mask.owner.opview
    if isinstance(operation, vector.CreateMaskOp):
        return [_index(operation.operands[0])], []
    if isinstance(operation, arith.AndIOp):
        both = [_reasons(operand) for operand in operation.operands]
        return None if None in both else (both[0][0] + both[1][0], both[0][1] + both[1][1])
    if isinstance(operation, vector.BitCastOp):  # of `mask_all`
        return [], [operation.source.owner.operands[0].owner.operands[0]]
    return None


def _index(value):
    """A known index as a number."""
    owner = value.owner
    if isinstance(owner, ir.Block) or not isinstance(owner.opview, arith.ConstantOp):
        return value
    return ir.IntegerAttr(owner.opview.value).value


def _store_first(vec, buffer, indices, count):
    """`count` lanes: 0 to all."""
    lanes = b.lanes_of(vec)
    b.when(b.less(lanes - 1, count), lambda: b.store_vector(vec, buffer, indices), lambda: _store_rest(vec, buffer, indices, count))


def _store_rest(vec, buffer, indices, count):
    """Fewer lanes than all: half of them if there are as many, and so on with the others."""
    half = b.lanes_of(vec) // 2
    if half == 0:
        return
    low, high = (_half(vec, start, half) for start in (0, half))
    there = b.less(half - 1, count)
    b.when(there, lambda: b.store_vector(low, buffer, indices))
    rest = (high if there else low) if isinstance(there, bool) else arith.select(there, high, low)
    done = b.select(there, half, 0)
    _store_rest(rest, buffer, [*indices[:-1], b.add(indices[-1], done)], b.sub(count, done))


def _half(vec, start, size):
    return vector.extract_strided_slice(b.vector_type(size, b.vector_element(vec)), vec, [start], [size], [1])
