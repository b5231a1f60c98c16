"""Product of bf16, summed in f32: one instruction (`vdpbf16ps`) adds two products to each lane.

A [..., k] are bf16, k even; a step is two of them, broadcast as one word. B are words in panels [n / width][k / 2][width], each the two
numbers of one column, the first of them lower. Numbers below f32's smallest normal one count as zero, and each of the two sums is rounded.
"""

from dataclasses import replace

from mlir import ir

from ..targets import Target, host
from . import build as b
from .shapes import MatmulShape
from .word_product import add_products, WordProduct

PAIR = 2
"""Numbers of a step."""


def emit_pair_matmul(a, pairs, c, shape: MatmulShape, epilogue=None, target: Target | None = None, rolled: bool = False):
    """Emit C = epilogue(A B) for a `shape` whose k is known. Source of the instruction: Intel SDM, VDPBF16PS."""
    _PairProduct(a, pairs, c, replace(shape, k=shape.k // PAIR), epilogue, target or host(), rolled).emit()


class Pairs:
    """Sums of products of pairs; the operands are words of 32 bits."""

    plus = staticmethod(b.plus)

    @staticmethod
    def multiply_add(left, right, sums):
        return add_products("llvm.x86.avx512bf16.dpbf16ps", sums, left, right, ir.BF16Type.get())


class _PairProduct(WordProduct):
    arithmetic = Pairs
