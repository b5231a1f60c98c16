"""Product of bytes, summed in 32 bits: one instruction (`vpdpbusd`) adds four products of an unsigned and a signed byte to each lane.

A of 16 bits are multiplied by words of two such numbers (`vpmaddwd` and an addition): exact for bytes, where the instruction for bytes that
AVX2 has would saturate.

A [..., k] are unsigned bytes, k a multiple of 4; a step is four of them, broadcast as one word. B are signed bytes in panels
[n / width][k / 4][width] of words, each the four bytes of one column, the first of them lowest. Products do not saturate and sums wrap.
C are the bits of the i32 sums in f32, so that an epilogue can put the f32 numbers that they become in their place.
"""

from dataclasses import replace

from mlir import ir
from mlir.dialects import arith, vector

from ..targets import Target, host
from . import build as b
from .shapes import MatmulShape
from .word_product import add_products, intrinsic, WordProduct

WORD, SHORTS = 4, 2
"""Bytes of a step, and numbers of 16 bits."""


def emit_byte_matmul(a, words, c, shape: MatmulShape, epilogue=None, target: Target | None = None, rolled: bool = False):
    """Emit C = epilogue(bits of A B) for a `shape` whose k is known. Source of the instruction: Intel SDM, VPDPBUSD."""
    kind, step = (_ByteProduct, WORD) if b.bits(b.element_type(a)) == 8 else (_ShortProduct, SHORTS)
    kind(a, words, c, replace(shape, k=shape.k // step), epilogue, target or host(), rolled).emit()


class Words:
    """Sums of products of bytes; the sums are vectors of f32 whose bits they are."""

    @staticmethod
    def multiply_add(left, right, sums):
        return vector.bitcast(sums.type, multiply_bytes(_bits(sums), left, right))

    @staticmethod
    def plus(x, y):
        return vector.bitcast(x.type, arith.addi(_bits(x), _bits(y)))


class Shorts:
    """Sums of products of pairs of 16-bit integers, as vectors of f32 whose bits they are. Source of the instruction: Intel SDM, VPMADDWD."""

    plus = staticmethod(Words.plus)

    @staticmethod
    def multiply_add(left, right, sums):
        lanes = b.lanes_of(sums)
        numbers = b.vector_type(SHORTS * lanes, ir.IntegerType.get_signless(16))
        name = "llvm.x86.avx512.pmaddw.d.512" if lanes == 16 else "llvm.x86.avx2.pmadd.wd"
        products = intrinsic(name, _bits(sums).type, [vector.bitcast(numbers, left), vector.bitcast(numbers, right)])
        return vector.bitcast(sums.type, arith.addi(_bits(sums), products))


def multiply_bytes(sums, unsigned, signed):
    """sums, vectors of i32, with the four products of each lane's bytes more; the factors are vectors of words of any 32-bit type."""
    return add_products("llvm.x86.avx512.vpdpbusd", sums, unsigned, signed, ir.IntegerType.get_signless(8))


def _bits(vec):
    return vector.bitcast(b.vector_type(b.lanes_of(vec), ir.IntegerType.get_signless(32)), vec)


class _ByteProduct(WordProduct):
    arithmetic = Words


class _ShortProduct(WordProduct):
    arithmetic = Shorts
