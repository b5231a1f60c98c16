"""`om-widen-bits`: a buffer of i1 becomes one of i8 (0 or 1, as numpy's bool); the memory lowering of this MLIR refuses i1.

    %b = memref.load %m[%i] : memref<4xi1>    ->    %w = memref.load %m[%i] : memref<4xi8>;  %b = arith.cmpi ne, %w, 0
"""
from __future__ import annotations

from typing import Iterator

import numpy as np
from mlir import ir
from mlir.dialects import arith

from ..buffers.functions import walk

LOADS = {"memref.load", "vector.load", "vector.maskedload", "vector.gather"}
FILLERS = {"vector.maskedload": -1, "vector.gather": -1}  # the operand whose lanes stand for those that are masked off
STORED = {"memref.store": 0, "vector.store": 0, "vector.maskedstore": 3, "vector.scatter": 4}


def widen_bits(module: ir.Module) -> None:
    with module.context, ir.Location.unknown():
        operations = walk(module.operation)
        for operation in operations:
            _widen_access(operation)
        for operation in operations:
            for value in (*operation.results, *(a for r in operation.regions for b in r.blocks for a in b.arguments)):
                if _is_bits(value.type):
                    value.set_type(_widened(value.type))
            if operation.name == "func.func":
                _widen_signature(operation)
            elif operation.name == "memref.global":
                _widen_global(operation)


def buffer_elements(module: ir.Module) -> set[str]:
    """The element types of a module's buffers."""
    found = {value.type.element_type for function in module.body.operations for value in _buffers(function.operation)
             if isinstance(value.type, ir.MemRefType)}  # fmt: skip
    return set(map(str, found))


def _buffers(operation: ir.Operation) -> Iterator[ir.Value]:
    """Values of a function outside of its parallel loops, whose bodies make no buffers of other elements."""
    for region in operation.regions:
        for block in region.blocks:
            yield from block.arguments
            for nested in block.operations:
                yield from nested.results
                if nested.operation.name != "scf.parallel":
                    yield from _buffers(nested.operation)


def _is_bits(type: ir.Type) -> bool:
    return isinstance(type, ir.MemRefType) and str(type.element_type) == "i1"


def _widened(type: ir.Type) -> ir.Type:
    if not _is_bits(type):
        return type
    return ir.MemRefType.get(type.shape, ir.IntegerType.get_signless(8), type.layout, type.memory_space)


def _widen_access(operation: ir.Operation) -> None:
    if operation.name in LOADS and _is_bits(operation.operands[0].type):
        _widen_load(operation)
    elif operation.name in STORED and any(_is_bits(v.type) for v in operation.operands):
        place = STORED[operation.name]
        with ir.InsertionPoint(operation), operation.location:
            value = operation.operands[place]
            operation.operands[place] = arith.ExtUIOp(_bytes(value.type), value).result


def _bytes(type: ir.Type) -> ir.Type:
    i8 = ir.IntegerType.get_signless(8)
    return ir.VectorType.get(type.shape, i8) if isinstance(type, ir.VectorType) else i8


def _widen_load(operation: ir.Operation) -> None:
    result = operation.results[0]
    kind = _bytes(result.type)
    with ir.InsertionPoint(operation), operation.location:
        filler = FILLERS.get(operation.name)
        if filler is not None:
            place = filler % len(operation.operands)
            operation.operands[place] = arith.ExtUIOp(_bytes(operation.operands[place].type), operation.operands[place]).result
    result.set_type(kind)
    with _after(operation), operation.location:
        zero = ir.IntegerAttr.get(ir.IntegerType.get_signless(8), 0)
        constant = arith.ConstantOp(kind, ir.DenseElementsAttr.get_splat(kind, zero) if isinstance(kind, ir.VectorType) else zero)
        narrow = arith.CmpIOp(arith.CmpIPredicate.ne, result, constant.result)
    result.replace_all_uses_except(narrow.result, narrow.operation)


def _after(operation: ir.Operation) -> ir.InsertionPoint:
    return ir.InsertionPoint.after(operation)


def _widen_signature(function: ir.Operation) -> None:
    type = ir.FunctionType(ir.TypeAttr(function.attributes["function_type"]).value)
    widened = ir.FunctionType.get([_widened(t) for t in type.inputs], [_widened(t) for t in type.results])
    function.attributes["function_type"] = ir.TypeAttr.get(widened)


def _widen_global(operation: ir.Operation) -> None:
    type = ir.TypeAttr(operation.attributes["type"]).value
    if not _is_bits(type):
        return
    operation.attributes["type"] = ir.TypeAttr.get(_widened(type))
    values = operation.attributes["initial_value"]
    if isinstance(values, ir.DenseElementsAttr):
        shape = ir.RankedTensorType.get(type.shape, ir.IntegerType.get_signless(8))
        operation.attributes["initial_value"] = ir.DenseElementsAttr.get(_as_bytes(values, list(type.shape)), type=shape)


def _as_bytes(values: ir.DenseElementsAttr, shape: list[int]) -> np.ndarray:
    if values.is_splat:
        return np.full(shape, bool(values.get_splat_value().value), np.int8)
    return np.array([bool(values[i]) for i in range(len(values))], np.int8).reshape(shape)
