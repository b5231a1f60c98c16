"""Product of bf16, summed in f32: one instruction (`vdpbf16ps`) adds two products to each lane.

A [..., k] are bf16, k even; a step is two of them, broadcast as one word. B are words in panels [n / width][k / 2][width], each the two
numbers of one column, the first of them lower. Numbers below f32's smallest normal one count as zero, and each of the two sums is rounded.
"""

from dataclasses import replace

from mlir import ir
from mlir.dialects import vector

from ..targets import Target, host
from . import build as b
from .matmul import Product
from .shapes import MatmulShape

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
        numbers = b.vector_type(PAIR * b.lanes_of(sums), ir.BF16Type.get())
        operands = [sums, vector.bitcast(numbers, left), vector.bitcast(numbers, right)]
        attributes = {
            "intrin": ir.StringAttr.get(f"llvm.x86.avx512bf16.dpbf16ps.{32 * b.lanes_of(sums)}"),
            "operandSegmentSizes": ir.DenseI32ArrayAttr.get([len(operands), 0]),
            "op_bundle_sizes": ir.DenseI32ArrayAttr.get([]),
        }
        return ir.Operation.create("llvm.call_intrinsic", results=[sums.type], operands=operands, attributes=attributes).result


class _PairProduct(Product):
    arithmetic = Pairs

    def __init__(self, a, pairs, c, shape, epilogue, target, rolled):
        super().__init__(a, pairs, c, shape, epilogue, target, rolled)
        self.plan, self.k = replace(self.plan, copy=False), shape.k

    def _accumulator(self):
        return ir.F32Type.get()

    def _widened(self, vec):
        return vec

    def _scalars(self, row, k):
        def word(step, r):
            where = [*([] if self.shape.a_shared else self.batch), b.add(row, r), b.mul(b.add(k, step), PAIR)]
            two = b.load_vector(self.a, where, PAIR)
            return vector.extract(vector.bitcast(b.vector_type(1, ir.IntegerType.get_signless(32)), two), [], [0])

        return word
