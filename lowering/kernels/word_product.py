"""Products whose step along k is a word of 32 bits: narrow numbers, of which one instruction adds the products to each lane."""

from dataclasses import replace

from mlir import ir
from mlir.dialects import vector

from . import build as b
from .matmul import Product


def add_products(name: str, sums, left, right, element):
    """sums with the products of each lane's numbers, of type `element`, more; the factors are vectors of words of any 32-bit type."""
    lanes = b.lanes_of(sums)
    numbers = b.vector_type(32 // b.bits(element) * lanes, element)
    return intrinsic(f"{name}.{32 * lanes}", sums.type, [sums, vector.bitcast(numbers, left), vector.bitcast(numbers, right)])


def intrinsic(name: str, result, operands):
    """The result of one of LLVM's functions."""
    attributes = {
        "intrin": ir.StringAttr.get(name),
        "operandSegmentSizes": ir.DenseI32ArrayAttr.get([len(operands), 0]),
        "op_bundle_sizes": ir.DenseI32ArrayAttr.get([]),
    }
    return ir.Operation.create("llvm.call_intrinsic", results=[result], operands=operands, attributes=attributes).result


class WordProduct(Product):
    """A [..., k] of narrow numbers by words of B; the shape's k counts words. Sums are vectors of f32, or of bits in them."""

    def __init__(self, a, words, c, shape, epilogue, target, rolled):
        super().__init__(a, words, c, shape, epilogue, target, rolled)
        self.plan, self.k = replace(self.plan, copy=False), shape.k

    def _accumulator(self):
        return ir.F32Type.get()

    def _widened(self, vec):
        return vec

    def _scalars(self, row, k):
        count = 32 // b.bits(b.element_type(self.a))

        def word(step, r):
            where = [*([] if self.shape.a_shared else self.batch), b.add(row, r), b.mul(b.add(k, step), count)]
            numbers = b.load_vector(self.a, where, count)
            return vector.extract(vector.bitcast(b.vector_type(1, ir.IntegerType.get_signless(32)), numbers), [], [0])

        return word
