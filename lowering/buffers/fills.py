"""`om-separate-fills`: each op that updates a filled tensor gets a fill of its own, directly before it.

Merging equal ops makes one fill the start of several updates. All but one would then copy it, which costs more than filling, and upstream's
elimination of empty tensors would let them share the destination of one result.
"""
from __future__ import annotations

from mlir import ir

from .functions import walk


def separate_fills(module: ir.Module) -> None:
    with module.context, ir.Location.unknown():
        for operation in walk(module.operation, "linalg.generic", "scf.for", "scf.while", "tensor.insert_slice"):
            for place in _updated(operation):
                fill = operation.operands[place].owner
                if not isinstance(fill, ir.Block) and _is_shared_fill(fill.operation, operation):
                    operation.operands[place] = _copy_before(fill.operation, operation)


def _updated(operation: ir.Operation) -> range:
    """The operands that an op updates in place where it may."""
    if operation.name == "linalg.generic":
        inputs, outputs = list(ir.DenseI32ArrayAttr(operation.attributes["operandSegmentSizes"]))
        return range(inputs, inputs + outputs)
    first, last = {"scf.for": (3, len(operation.operands)), "scf.while": (0, len(operation.operands)), "tensor.insert_slice": (1, 2)}[operation.name]
    return range(first, last)


def _is_shared_fill(operation: ir.Operation, user: ir.Operation) -> bool:
    """Whether an op fills a tensor that others use too, or that each step of a loop would copy."""
    if operation.name != "linalg.generic" or len(operation.operands) != 1 or "om.kernel" in operation.attributes:
        return False
    return len(list(operation.results[0].uses)) > 1 or operation.block != user.block


def _copy_before(fill: ir.Operation, user: ir.Operation) -> ir.Value:
    with ir.InsertionPoint(user), fill.location:
        start = fill.operands[0]
        empty = start.owner
        if not isinstance(empty, ir.Block) and empty.operation.name == "tensor.empty":
            start = empty.operation.clone().operation.results[0]
        copy = fill.clone().operation
        copy.operands[0] = start
        return copy.results[0]
