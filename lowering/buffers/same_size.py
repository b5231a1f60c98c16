"""Whether a tensor that a loop carries keeps its sizes from step to step.

A dynamic size is followed to where it comes from: through destinations of linalg ops, through `tensor.empty` and `tensor.dim`, and for
what a loop carries to its value before the loop, on the assumption that is being checked.
"""
from __future__ import annotations

from mlir import ir

from .sizes import number_of

DESTINATION = {"tensor.insert", "tensor.insert_slice", "linalg.fill", "bufferization.materialize_in_destination"}


class Sizes:
    """Origins of sizes; `initial` maps what loops carry (inside and as results) to its value before the loop."""

    def __init__(self):
        self.initial: dict[ir.Value, ir.Value] = {}

    def same(self, left: ir.Value, right: ir.Value) -> bool:
        if not isinstance(left.type, ir.RankedTensorType) or left.type != right.type:
            return False
        type = ir.RankedTensorType(left.type)
        return all(self.of(left, i) == self.of(right, i) for i in range(type.rank) if type.is_dynamic_dim(i))

    def of(self, value: ir.Value, axis: int) -> tuple:
        """A key: equal keys are equal sizes."""
        while value in self.initial:
            value = self.initial[value]
        type = ir.RankedTensorType(value.type)
        if not type.is_dynamic_dim(axis):
            return ("constant", type.get_dim_size(axis))
        owner = value.owner
        if not isinstance(owner, ir.Block):
            found = self._through(owner.operation, value, axis)
            if found is not None:
                return found
        return ("size", value, axis)

    def _through(self, operation: ir.Operation, value: ir.Value, axis: int) -> tuple | None:
        if operation.name == "tensor.empty":
            type = ir.RankedTensorType(value.type)
            return self.of_index(operation.operands[sum(type.is_dynamic_dim(i) for i in range(axis))])
        if operation.name == "tensor.cast" and not isinstance(operation.operands[0].type, ir.UnrankedTensorType):
            return self.of(operation.operands[0], axis)
        if operation.name.startswith("linalg."):
            position = list(operation.results).index(value)
            return self.of(operation.operands[len(operation.operands) - len(operation.results) + position], axis)
        return self.of(operation.operands[1], axis) if operation.name in DESTINATION else None

    def of_index(self, value: ir.Value) -> tuple:
        number = number_of(value)
        if number is not None:
            return ("constant", number)
        owner = value.owner
        if not isinstance(owner, ir.Block) and owner.operation.name == "tensor.dim":
            axis = number_of(owner.operation.operands[1])
            if axis is not None:
                return self.of(owner.operation.operands[0], axis)
        return ("value", value)
