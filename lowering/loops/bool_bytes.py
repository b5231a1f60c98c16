"""`om-bool-to-byte`: buffers of i1 become buffers of i8 that hold 0 or 1, as numpy stores bool. Upstream cannot store i1.

    %0 = memref.load %m[%i] : memref<4xi1>     ->   %b = memref.load %m[%i] : memref<4xi8>
                                                    %0 = arith.cmpi ne, %b, 0
"""
from __future__ import annotations

from mlir import ir
from mlir.dialects import arith, memref, vector


def bool_to_byte(module: ir.Module) -> None:
    """Rewrite all buffers of a module in which there are only loads and stores, no structured ops."""
    with module.context, ir.Location.unknown():
        operations: list[ir.Operation] = []
        module.operation.walk(lambda op: operations.append(op) or ir.WalkResult.ADVANCE)
        for operation in operations:
            _retype(operation)
        for operation in operations:
            if operation.name in _REWRITES:
                with ir.InsertionPoint(operation), operation.location:
                    _REWRITES[operation.name](operation)


def _byte_type(type: ir.Type) -> ir.Type | None:
    """The type with i8 for i1, when it is a buffer of i1."""
    if not isinstance(type, ir.MemRefType) or type.element_type != ir.IntegerType.get_signless(1):
        return None
    return ir.MemRefType.get(type.shape, ir.IntegerType.get_signless(8), type.layout, type.memory_space)


def _retype(operation: ir.Operation) -> None:
    values = list(operation.results) + [a for region in operation.regions for block in region.blocks for a in block.arguments]
    for value in values:
        type = _byte_type(value.type)
        if type is not None:
            value.set_type(type)
    if operation.name == "func.func":
        old = ir.FunctionType(ir.TypeAttr(operation.attributes["function_type"]).value)
        inputs, results = ([_byte_type(t) or t for t in types] for types in (old.inputs, old.results))
        operation.attributes["function_type"] = ir.TypeAttr.get(ir.FunctionType.get(inputs, results))


def _is_byte_buffer(value: ir.Value) -> bool:
    return isinstance(value.type, ir.MemRefType) and value.type.element_type == ir.IntegerType.get_signless(8)


def _is_bool(type: ir.Type) -> bool:
    element = type.element_type if isinstance(type, ir.VectorType) else type
    return element == ir.IntegerType.get_signless(1)


def _bytes_like(type: ir.Type) -> ir.Type:
    byte = ir.IntegerType.get_signless(8)
    return ir.VectorType.get(type.shape, byte) if isinstance(type, ir.VectorType) else byte


def _to_bool(value: ir.Value) -> ir.Value:
    zero = ir.IntegerAttr.get(ir.IntegerType.get_signless(8), 0)
    attribute = ir.DenseElementsAttr.get_splat(value.type, zero) if isinstance(value.type, ir.VectorType) else zero
    return arith.CmpIOp(arith.CmpIPredicate.ne, value, arith.ConstantOp(value.type, attribute).result).result


def _rewrite_load(operation: ir.Operation) -> None:
    buffer, *indices = operation.operands
    if _is_bool(operation.results[0].type) and _is_byte_buffer(buffer):
        operation.results[0].replace_all_uses_with(_to_bool(memref.LoadOp(buffer, indices).result))
        operation.erase()


def _rewrite_store(operation: ir.Operation) -> None:
    value, buffer, *indices = operation.operands
    if _is_bool(value.type) and _is_byte_buffer(buffer):
        memref.StoreOp(arith.ExtUIOp(_bytes_like(value.type), value).result, buffer, indices)
        operation.erase()


def _rewrite_vector_load(operation: ir.Operation) -> None:
    result = operation.results[0]
    if _is_bool(result.type):
        loaded = vector.LoadOp(_bytes_like(result.type), operation.operands[0], list(operation.operands)[1:])
        result.replace_all_uses_with(_to_bool(loaded.result))
        operation.erase()


def _rewrite_masked_load(operation: ir.Operation) -> None:
    result = operation.results[0]
    if _is_bool(result.type):
        buffer, *indices, mask, passthrough = operation.operands
        other = arith.ExtUIOp(_bytes_like(result.type), passthrough).result
        result.replace_all_uses_with(_to_bool(vector.MaskedLoadOp(_bytes_like(result.type), buffer, indices, mask, other).result))
        operation.erase()


def _rewrite_global(operation: ir.Operation) -> None:
    type = _byte_type(ir.TypeAttr(operation.attributes["type"]).value)
    if type is None:
        return
    operation.attributes["type"] = ir.TypeAttr.get(type)
    if "initial_value" in operation.attributes and isinstance(operation.attributes["initial_value"], ir.DenseElementsAttr):
        import numpy as np

        values = np.array(operation.attributes["initial_value"]).astype(np.uint8)
        operation.attributes["initial_value"] = ir.DenseElementsAttr.get(values, type=ir.IntegerType.get_signless(8), shape=list(type.shape))


_REWRITES = {"memref.load": _rewrite_load, "memref.store": _rewrite_store, "vector.load": _rewrite_vector_load, "vector.maskedload": _rewrite_masked_load,
             "memref.global": _rewrite_global}
