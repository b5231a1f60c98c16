"""Instructions of the matrix unit of x86 (AMX): eight tiles, each of 16 rows of 64 bytes, and products of bf16 tiles that sum in f32.

A tile of the left operand is [16 rows][32 steps]; one of the right operand is [16 pairs of steps][16 columns][2]; sums are [16][16] f32.
Tile numbers are part of the instructions. A thread that computes with tiles calls `configure` first and `release` last.
"""

from mlir import ir
from mlir.dialects import arith, llvm, memref, vector

from . import build as b

ROWS, COLUMNS, STEPS = 16, 16, 32
"""Rows and columns of a tile of sums, and the steps of one product."""
TILE = 512
"""16-bit elements of a tile."""
BYTES_OF_ROW = 64
TILES = 8


def configure():
    """All tiles have 16 rows of 64 bytes; see the `LDTILECFG` page of Intel's manual for the 64 bytes."""
    settings = [1, *[0] * 15, *[BYTES_OF_ROW, 0] * TILES, *[0] * 16, *[ROWS] * TILES, *[0] * 8]
    byte = ir.IntegerType.get_signless(8)
    kind = ir.VectorType.get([64], byte)
    words = ir.DenseElementsAttr.get([ir.IntegerAttr.get(byte, n) for n in settings], type=kind)
    place = b.stack((64,), byte)
    vector.store(arith.constant(kind, words), place, [b.value(0)])
    _instruction("ldtilecfg", pointer(place, 0))


def release():
    _instruction("tilerelease")


def clear(tile: int):
    _instruction("tilezero", _number(tile, 8))


def load(tile: int, address, stride: int = BYTES_OF_ROW):
    """A tile from memory, its rows `stride` bytes apart."""
    _instruction("tileloadd64", _number(tile, 8), address, _number(stride, 64))


def store(tile: int, address, stride: int):
    _instruction("tilestored64", _number(tile, 8), address, _number(stride, 64))


def multiply_add(sums: int, left: int, right: int):
    """sums += left right. Subnormal numbers count as zero."""
    _instruction("tdpbf16ps", *(_number(tile, 8) for tile in (sums, left, right)))


def pointer(buffer, element):
    """The address of an element, by its number in memory, of a contiguous buffer."""
    i64 = ir.IntegerType.get_signless(64)
    start = memref.extract_aligned_pointer_as_index(buffer)
    address = b.add(start, b.mul(element, b.bits(b.element_type(buffer)) // 8))
    return llvm.inttoptr(ir.Type.parse("!llvm.ptr"), arith.index_cast(i64, address))


def _number(number: int, bits: int):
    return arith.constant(ir.IntegerType.get_signless(bits), number)


def _instruction(name: str, *operands):
    attributes = {
        "intrin": ir.StringAttr.get(f"llvm.x86.{name}"),
        "operandSegmentSizes": ir.DenseI32ArrayAttr.get([len(operands), 0]),
        "op_bundle_sizes": ir.DenseI32ArrayAttr.get([]),
    }
    ir.Operation.create("llvm.call_intrinsic", results=[], operands=list(operands), attributes=attributes)
