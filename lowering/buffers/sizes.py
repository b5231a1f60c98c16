"""Sizes that are known when the function starts: constants, sizes of arguments, and arithmetic of these.

`EntrySizes.of(value)` gives the same number computed at the start of the function, or None where it depends on data.
"""
from __future__ import annotations

from mlir import ir
from mlir.dialects import arith, memref

PURE = {
    f"arith.{name}" for name in (
        "addi", "subi", "muli", "divsi", "divui", "remsi", "remui", "floordivsi", "ceildivsi", "ceildivui",
        "minsi", "maxsi", "minui", "maxui", "cmpi", "select", "andi", "ori", "xori",
        "index_cast", "index_castui", "extsi", "extui", "trunci", "shli", "shrsi", "shrui",
    )
} | {"affine.apply", "affine.min", "affine.max"}  # fmt: skip
DIVISIONS = {f"arith.{name}" for name in ("divsi", "divui", "remsi", "remui", "floordivsi", "ceildivsi", "ceildivui")}


class EntrySizes:
    def __init__(self, block: ir.Block, point: ir.InsertionPoint):
        self.block = block
        self.point = point
        self.known: dict[ir.Value, ir.Value | None] = {}

    def of(self, value: ir.Value) -> ir.Value | None:
        if value not in self.known:
            self.known[value] = self._compute(value)
        return self.known[value]

    def constant(self, number: int) -> ir.Value:
        with self.point, ir.Location.unknown():
            return arith.ConstantOp(ir.IndexType.get(), number).result

    def _compute(self, value: ir.Value) -> ir.Value | None:
        owner = value.owner
        if isinstance(owner, ir.Block):
            return value if owner == self.block and isinstance(value.type, ir.IndexType) else None
        operation = owner.operation
        if operation.name == "arith.constant":
            return self._clone(operation, [])
        if operation.name == "memref.dim":
            return self._dimension(operation)
        if operation.name not in PURE:
            return None
        operands = [self.of(operand) for operand in operation.operands]
        return None if any(o is None for o in operands) else self._clone(operation, operands)

    def _clone(self, operation: ir.Operation, operands: list[ir.Value]) -> ir.Value:
        with self.point, operation.location:
            if operation.name in DIVISIONS:
                operands = [operands[0], self._not_zero(operands[1])]
            copy = operation.clone()
            for position, operand in enumerate(operands):
                copy.operands[position] = operand
            return copy.results[0]

    def _not_zero(self, divisor: ir.Value) -> ir.Value:
        """A division may be guarded where it stood; here it must not trap."""
        if number_of(divisor):
            return divisor
        zero, one = (arith.ConstantOp(divisor.type, n).result for n in (0, 1))
        return arith.SelectOp(arith.CmpIOp(arith.CmpIPredicate.eq, divisor, zero), one, divisor).result

    def _dimension(self, operation: ir.Operation) -> ir.Value | None:
        source, axis = operation.operands[0], number_of(operation.operands[1])
        owner = source.owner
        if axis is None:
            return None
        if isinstance(owner, ir.Block):
            if owner != self.block:
                return None
            with self.point, operation.location:
                return memref.DimOp(source, arith.ConstantOp(ir.IndexType.get(), axis).result).result
        return self._size_of_result(owner.operation, source, axis)

    def _size_of_result(self, owner: ir.Operation, source: ir.Value, axis: int) -> ir.Value | None:
        type = ir.MemRefType(source.type)
        if not type.is_dynamic_dim(axis):
            return self.constant(type.get_dim_size(axis))
        if owner.name in ("memref.alloc", "memref.alloca"):
            return self.of(owner.operands[sum(type.is_dynamic_dim(i) for i in range(axis))])
        return None


def number_of(value: ir.Value) -> int | None:
    """The integer of an `arith.constant`."""
    owner = value.owner
    if isinstance(owner, ir.Block) or owner.operation.name != "arith.constant":
        return None
    attribute = owner.operation.attributes["value"]
    return ir.IntegerAttr(attribute).value if isinstance(attribute, ir.IntegerAttr) else None
