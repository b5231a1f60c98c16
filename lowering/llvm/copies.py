"""`om-copies-to-loops`: copies between buffers that are not contiguous become loops; the others are left and become `memcpy`."""
from __future__ import annotations

from mlir import ir
from mlir.dialects import arith, memref, scf

from ..buffers.functions import entry_functions, walk


def copies_to_loops(module: ir.Module) -> None:
    with module.context, ir.Location.unknown():
        for copy in [copy for function in entry_functions(module) for copy in walk(function, "memref.copy")]:
            if not all(_is_contiguous(operand) for operand in copy.operands):
                with ir.InsertionPoint(copy), copy.location:
                    _loops(*copy.operands)
                copy.erase()


def _is_contiguous(value: ir.Value) -> bool:
    type = ir.MemRefType(value.type)
    return type.affine_map == ir.AffineMap.get_identity(type.rank)


def _loops(source: ir.Value, target: ir.Value) -> None:
    index = ir.IndexType.get()
    rank = ir.MemRefType(source.type).rank
    zero, one = arith.ConstantOp(index, 0).result, arith.ConstantOp(index, 1).result
    sizes = [memref.DimOp(source, arith.ConstantOp(index, axis).result).result for axis in range(rank)]
    loops: list[scf.ForOp] = []
    point = ir.InsertionPoint.current
    for size in sizes:
        with point:
            loops.append(scf.ForOp(zero, size, one))
        with ir.InsertionPoint(loops[-1].body):
            end = scf.YieldOp([])
        point = ir.InsertionPoint(end)
    with point:
        place = [loop.induction_variable for loop in loops]
        memref.StoreOp(memref.LoadOp(source, place).result, target, place)
