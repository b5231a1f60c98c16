"""bf16 as words of 16 bits: once its arithmetic is done in f32, what is left of it is data on the move, and x86 has no type for that.

    %v = llvm.load %p : !llvm.ptr -> bf16    ->    %v = llvm.load %p : !llvm.ptr -> i16

LLVM's code generator ends the process at some of the shuffles of bf16 that its vectorizers make.
"""
from __future__ import annotations

import ml_dtypes
import numpy as np
from mlir import ir
from mlir.dialects import arith

from ..buffers.functions import walk

MOVES = frozenset({
    "llvm.load", "llvm.store", "llvm.bitcast", "llvm.select", "llvm.br", "llvm.cond_br", "llvm.mlir.undef", "llvm.mlir.poison",
    "llvm.insertelement", "llvm.extractelement", "llvm.shufflevector", "llvm.intr.masked.load", "llvm.intr.masked.store",
    "llvm.intr.masked.gather", "llvm.intr.masked.scatter",
})  # fmt: skip


def integers_through_f32(module: ir.Module) -> None:
    """Integers become f32 before they are rounded to bf16; upstream's canonicalization has made one op of both.

    LLVM calls a function that no library has (`__truncsfbf2`) for that op, where the processor does not round to bf16.
    """
    for operation in walk(module.operation):
        if operation.name in ("arith.sitofp", "arith.uitofp") and _is_bf16(operation.results[0]):
            narrow = operation.results[0].type
            element = ir.F32Type.get()
            wide = ir.VectorType.get(narrow.shape, element) if isinstance(narrow, ir.VectorType) else element
            convert = arith.SIToFPOp if operation.name == "arith.sitofp" else arith.UIToFPOp
            with ir.InsertionPoint(operation), operation.location:
                rounded = arith.TruncFOp(narrow, convert(wide, operation.operands[0]).result).result
            operation.results[0].replace_all_uses_with(rounded)
            operation.erase()


def bf16_as_words(module: ir.Module) -> None:
    """Change the types of values of bf16 in the LLVM dialect. A function that computes with them stays as it is."""
    for function in module.body.operations:
        if function.operation.name == "llvm.func":
            _change(function.operation)


def _change(function: ir.Operation) -> None:
    operations = walk(function)
    touching = [op for op in operations if any(map(_is_bf16, (*op.operands, *op.results)))]
    arguments = [a for region in function.regions for block in list(region.blocks)[1:] for a in block.arguments if _is_bf16(a)]
    if not all(op.name in MOVES or _is_simple_constant(op) for op in touching):
        return
    for value in (*arguments, *(result for op in touching for result in op.results if _is_bf16(result))):
        value.set_type(_word(value.type))
    for operation in touching:
        if operation.name == "llvm.mlir.constant":
            operation.attributes["value"] = _bits(operation.attributes["value"], operation.results[0].type)
        elif operation.name == "llvm.bitcast" and operation.results[0].type == operation.operands[0].type:
            operation.results[0].replace_all_uses_with(operation.operands[0])
            operation.erase()


def _is_bf16(value: ir.Value) -> bool:
    type = value.type
    return isinstance(type.element_type if isinstance(type, ir.VectorType) else type, ir.BF16Type)


def _word(type: ir.Type) -> ir.Type:
    word = ir.IntegerType.get_signless(16)
    return ir.VectorType.get(type.shape, word) if isinstance(type, ir.VectorType) else word


def _is_simple_constant(operation: ir.Operation) -> bool:
    if operation.name != "llvm.mlir.constant":
        return False
    value = operation.attributes["value"]
    return isinstance(value, ir.FloatAttr) or isinstance(value, ir.DenseElementsAttr) and value.is_splat


def _bits(value: ir.Attribute, type: ir.Type) -> ir.Attribute:
    """The same bits as a constant of words."""
    number = value if isinstance(value, ir.FloatAttr) else value.get_splat_value()
    bits = int(np.array(ir.FloatAttr(number).value, ml_dtypes.bfloat16).view(np.int16))
    word = ir.IntegerAttr.get(ir.IntegerType.get_signless(16), bits)
    return ir.DenseElementsAttr.get_splat(type, word) if isinstance(type, ir.VectorType) else word
