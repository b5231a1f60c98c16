"""Byte counts that cannot wrap, and calls that allocate: null where there is no memory, with the status already written."""
from __future__ import annotations

from mlir import ir
from mlir.dialects import arith

ALLOCATE, ARENA = "om_alloc", "om_arena"
HUGE = 1 << 62  # more than any machine has; a count that does not fit becomes this


def pointer_type() -> ir.Type:
    return ir.Type.parse("!llvm.ptr")


def int64() -> ir.Type:
    return ir.IntegerType.get_signless(64)


def saturating_product(sizes: list[ir.Value], coefficient: int) -> ir.Value:
    """`coefficient * sizes...` as i64; a negative size counts as 0, an overflow gives HUGE."""
    total = arith.ConstantOp(int64(), min(coefficient, HUGE)).result
    zero, huge = arith.ConstantOp(int64(), 0).result, arith.ConstantOp(int64(), HUGE).result
    for size in sizes:
        wide = arith.IndexCastOp(int64(), size).result if isinstance(size.type, ir.IndexType) else size
        low, high = arith.MulUIExtendedOp(total, arith.MaxSIOp(wide, zero).result).results
        total = _saturated(low, arith.CmpIOp(arith.CmpIPredicate.ne, high, zero).result, huge)
    return total


def saturating_sum(left: ir.Value, right: ir.Value) -> ir.Value:
    """Of two counts of at most HUGE."""
    huge = arith.ConstantOp(int64(), HUGE).result
    return arith.MinUIOp(arith.AddIOp(left, right).result, huge).result


def _saturated(low: ir.Value, overflowed: ir.Value, huge: ir.Value) -> ir.Value:
    return arith.SelectOp(overflowed, huge, arith.MinUIOp(low, huge).result).result


def allocation_call(callee: str, context: ir.Value, count: ir.Value) -> ir.Value:
    """A call that gives null where there is no memory; `lowering.llvm.failures` makes the function return then."""
    return ir.Operation.create(
        "llvm.call", [pointer_type()], [context, count],
        {"callee": ir.FlatSymbolRefAttr.get(callee), "operandSegmentSizes": ir.DenseI32ArrayAttr.get([2, 0]),
         "op_bundle_sizes": ir.DenseI32ArrayAttr.get([])},
    ).results[0]  # fmt: skip


def declare(module: ir.Module, name: str) -> None:
    """Declare an allocating function unless it is there."""
    for op in module.body.operations:
        if "sym_name" in op.attributes and ir.StringAttr(op.attributes["sym_name"]).value == name:
            return
    with ir.InsertionPoint.at_block_begin(module.body), ir.Location.unknown():
        kind = ir.TypeAttr.parse("!llvm.func<ptr (ptr, i64)>")
        ir.Operation.create("llvm.func", [], [], {"sym_name": ir.StringAttr.get(name), "function_type": kind,
                                                  "linkage": ir.Attribute.parse("#llvm.linkage<external>")}, regions=1)  # fmt: skip


def element_bytes(type: ir.Type) -> int:
    """Bytes of one element in memory."""
    if isinstance(type, ir.IndexType):
        return 8
    if isinstance(type, ir.VectorType):
        count = 1
        for size in type.shape:
            count *= size
        return count * element_bytes(type.element_type)
    return max(1, type.width // 8)


def buffer_of_pointer(pointer: ir.Value, type: ir.MemRefType, sizes: list[ir.Value]) -> ir.Value:
    """A contiguous memref at a pointer: the descriptor is built here and joined to the lowered code by `reconcile-unrealized-casts`."""
    rank = type.rank
    arrays = f", array<{rank} x i64>, array<{rank} x i64>" if rank else ""
    descriptor = ir.Type.parse(f"!llvm.struct<(ptr, ptr, i64{arrays})>")
    value = ir.Operation.create("llvm.mlir.poison", [descriptor]).results[0]
    zero = arith.ConstantOp(int64(), 0).result
    fields = [([0], pointer), ([1], pointer), ([2], zero)]
    stride, remaining = arith.ConstantOp(int64(), 1).result, list(sizes)
    extents = [arith.IndexCastOp(int64(), remaining.pop(0)).result if type.is_dynamic_dim(i)
               else arith.ConstantOp(int64(), type.get_dim_size(i)).result for i in range(rank)]  # fmt: skip
    for axis in reversed(range(rank)):
        fields += [([3, axis], extents[axis]), ([4, axis], stride)]
        stride = arith.MulIOp(stride, extents[axis]).result
    for position, field in fields:
        value = ir.Operation.create("llvm.insertvalue", [descriptor], [value, field], {"position": ir.DenseI64ArrayAttr.get(position)}).results[0]
    return ir.Operation.create("builtin.unrealized_conversion_cast", [type], [value]).results[0]
