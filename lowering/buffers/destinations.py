"""`om-destinations`: results of an entry function are written into buffers that the caller hands in.

    func.func @main(%x: tensor<4xf32>) -> tensor<4xf32>
->  func.func @main(%x: tensor<4xf32>, %output: memref<4xf32>, %context: !llvm.ptr)

A result marked `om.data_dependent` stays a result: a fresh buffer, which the entry wrapper hands to the caller.
"""
from __future__ import annotations

from mlir import ir
from mlir.dialects import arith, bufferization, linalg, memref, scf, tensor

from .functions import argument_attributes, DATA_DEPENDENT, entry_block, FITTED, result_attributes, ROLE, set_signature, with_attribute

WRITABLE = "bufferization.writable"


def add_destinations(function: ir.Operation) -> None:
    block = entry_block(function)
    terminator = block.operations[len(block.operations) - 1].operation
    arguments = [_not_writable(a, v.type) for a, v in zip(argument_attributes(function), block.arguments)]
    kept, kept_attributes = [], []
    with ir.InsertionPoint(terminator), function.location:
        for position, (value, attributes) in enumerate(zip(list(terminator.operands), result_attributes(function))):
            if DATA_DEPENDENT in attributes:
                kept.append(_fresh_copy(value))
                place = ir.IntegerAttr.get(ir.IntegerType.get_signless(64), position)
                kept_attributes.append(with_attribute(attributes, DATA_DEPENDENT, place))
                continue
            type = ir.RankedTensorType(value.type)
            buffer = block.add_argument(ir.MemRefType.get(type.shape, type.element_type), function.location)
            value = _fitted(value, buffer) if FITTED in attributes else value
            bufferization.MaterializeInDestinationOp(None, value, buffer, restrict=True, writable=True)
            arguments.append(with_attribute(attributes, ROLE, ir.StringAttr.get("output")))
        block.add_argument(ir.Type.parse("!llvm.ptr"), function.location)
        arguments.append(ir.DictAttr.get({ROLE: ir.StringAttr.get("context")}))
        ir.Operation.create("func.return", [], kept)
    terminator.erase()
    set_signature(function, [a.type for a in block.arguments], [v.type for v in kept], arguments, kept_attributes)


def _not_writable(attributes: ir.DictAttr, type: ir.Type) -> ir.DictAttr:
    if not isinstance(type, ir.RankedTensorType):
        return attributes
    return with_attribute(attributes, WRITABLE, ir.BoolAttr.get(False))


def _fitted(value: ir.Value, buffer: ir.Value) -> ir.Value:
    """The value with the sizes of the buffer: its elements where it has some, else zeros."""
    type, index = ir.RankedTensorType(value.type), ir.IndexType.get()
    axes = [arith.ConstantOp(index, i).result for i in range(type.rank)]
    extents = [tensor.DimOp(value, axis).result for axis in axes]
    sizes = [memref.DimOp(buffer, axis).result if type.is_dynamic_dim(i) else type.shape[i] for i, axis in enumerate(axes)]
    empty = tensor.EmptyOp(sizes, type.element_type).result
    maps = ir.ArrayAttr.get([ir.AffineMapAttr.get(ir.AffineMap.get_identity(type.rank))])
    kinds = ir.ArrayAttr.get([ir.Attribute.parse("#linalg.iterator_type<parallel>")] * type.rank)
    generic = linalg.GenericOp([empty.type], [], [empty], maps, kinds)
    with ir.InsertionPoint(generic.regions[0].blocks.append(type.element_type)):
        places = [linalg.IndexOp(i).result for i in range(type.rank)]
        linalg.YieldOp([_element(value, places, [arith.CmpIOp(arith.CmpIPredicate.slt, p, e).result for p, e in zip(places, extents)])])
    return generic.results[0]


def _element(value: ir.Value, places: list[ir.Value], inside: list[ir.Value]) -> ir.Value:
    """An element of a tensor, zero where a place is not inside."""
    type = ir.RankedTensorType(value.type).element_type
    condition = inside[0]
    for other in inside[1:]:
        condition = arith.AndIOp(condition, other).result
    branch = scf.IfOp(condition, [type], has_else=True)
    with ir.InsertionPoint(branch.then_block):
        scf.YieldOp([tensor.ExtractOp(value, places).result])
    with ir.InsertionPoint(branch.else_block):
        zero = ir.IntegerAttr.get(type, 0) if isinstance(type, ir.IntegerType) else ir.FloatAttr.get(type, 0.0)
        scf.YieldOp([arith.ConstantOp(type, zero).result])
    return branch.results[0]


def _fresh_copy(value: ir.Value) -> ir.Value:
    """The same values in a buffer of their own, which is contiguous and exactly as large as they are."""
    type = ir.RankedTensorType(value.type)
    index = ir.IndexType.get()
    sizes = [tensor.DimOp(value, arith.ConstantOp(index, i).result).result for i in range(type.rank) if type.is_dynamic_dim(i)]
    return bufferization.AllocTensorOp(type, [], copy=value).result if not sizes else _copy_dynamic(type, value, sizes)


def _copy_dynamic(type: ir.RankedTensorType, value: ir.Value, sizes: list[ir.Value]) -> ir.Value:
    """`alloc_tensor copy(...)` takes no sizes, and would keep a strided layout: write into an empty tensor instead."""
    empty = bufferization.AllocTensorOp(type, sizes).result
    return bufferization.MaterializeInDestinationOp(type, value, empty).result
