"""Product of bytes, summed in 32 bits: one instruction (`vpdpbusd`) adds four products of an unsigned and a signed byte to each lane.

A [..., k] are unsigned bytes, k a multiple of 4; a step is four of them, broadcast as one word. B are signed bytes in panels
[n / width][k / 4][width] of words, each the four bytes of one column, the first of them lowest. Products do not saturate and sums wrap.
C are the bits of the i32 sums in f32, so that an epilogue can put the f32 numbers that they become in their place.
"""

from dataclasses import replace

from mlir import ir
from mlir.dialects import arith, vector

from ..targets import Target, host
from . import build as b
from .matmul import Product
from .shapes import MatmulShape

WORD = 4
"""Bytes of a step."""


def emit_byte_matmul(a, words, c, shape: MatmulShape, epilogue=None, target: Target | None = None, rolled: bool = False):
    """Emit C = epilogue(bits of A B) for a `shape` whose k is known. Source of the instruction: Intel SDM, VPDPBUSD."""
    _ByteProduct(a, words, c, replace(shape, k=shape.k // WORD), epilogue, target or host(), rolled).emit()


class Words:
    """Sums of products of bytes; the sums are vectors of f32 whose bits they are."""

    @staticmethod
    def multiply_add(left, right, sums):
        return vector.bitcast(sums.type, multiply_bytes(_bits(sums), left, right))

    @staticmethod
    def plus(x, y):
        return vector.bitcast(x.type, arith.addi(_bits(x), _bits(y)))


def multiply_bytes(sums, unsigned, signed):
    """sums, vectors of i32, with the four products of each lane's bytes more; the factors are vectors of words of any 32-bit type."""
    lanes = b.lanes_of(sums)
    as_bytes = b.vector_type(WORD * lanes, ir.IntegerType.get_signless(8))
    operands = [sums, vector.bitcast(as_bytes, unsigned), vector.bitcast(as_bytes, signed)]
    attributes = {
        "intrin": ir.StringAttr.get(f"llvm.x86.avx512.vpdpbusd.{32 * lanes}"),
        "operandSegmentSizes": ir.DenseI32ArrayAttr.get([len(operands), 0]),
        "op_bundle_sizes": ir.DenseI32ArrayAttr.get([]),
    }
    return ir.Operation.create("llvm.call_intrinsic", results=[sums.type], operands=operands, attributes=attributes).result


def _bits(vec):
    return vector.bitcast(b.vector_type(b.lanes_of(vec), ir.IntegerType.get_signless(32)), vec)


class _ByteProduct(Product):
    arithmetic = Words

    def __init__(self, a, words, c, shape, epilogue, target, rolled):
        super().__init__(a, words, c, shape, epilogue, target, rolled)
        self.plan, self.k = replace(self.plan, copy=False), shape.k

    def _accumulator(self):
        return ir.F32Type.get()

    def _widened(self, vec):
        return vec

    def _scalars(self, row, k):
        def word(step, r):
            where = [*([] if self.shape.a_shared else self.batch), b.add(row, r), b.mul(b.add(k, step), WORD)]
            four = b.load_vector(self.a, where, WORD)
            return vector.extract(vector.bitcast(b.vector_type(1, ir.IntegerType.get_signless(32)), four), [], [0])

        return word
