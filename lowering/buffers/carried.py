"""`om-carry-in-place`: what a loop carries stays in one buffer.

    scf.yield %next                     %kept = bufferization.materialize_in_destination %next in %carried
                                   ->   scf.yield %kept

The copy vanishes where `%next` is computed in place. Without it a step that does not would allocate. Only where the size cannot change.
"""
from __future__ import annotations

from mlir import ir
from mlir.dialects import bufferization

from .functions import walk


def carry_in_place(function: ir.Operation) -> None:
    for loop in walk(function, "scf.for", "scf.while"):
        _for(loop) if loop.name == "scf.for" else _while(loop)


def _for(loop: ir.Operation) -> None:
    body = loop.regions[0].blocks[0]
    _pin(_terminator(body), list(body.arguments)[1:])


def _while(loop: ir.Operation) -> None:
    """Only arguments that the condition hands on unchanged: there, `after` sees the buffer that `before` was given."""
    before, after = loop.regions[0].blocks[0], loop.regions[1].blocks[0]
    handed = list(_terminator(before).operands)[1:]
    carried: list[ir.Value | None] = []
    for argument in before.arguments:
        places = [i for i, value in enumerate(handed) if value == argument]
        carried.append(after.arguments[places[0]] if places else None)
    _pin(_terminator(after), carried)


def _pin(terminator: ir.Operation, carried: list[ir.Value | None]) -> None:
    with ir.InsertionPoint(terminator), terminator.location:
        for position, (value, target) in enumerate(zip(list(terminator.operands), carried)):
            if target is None or value == target or not _fixed_size(value.type) or value.type != target.type:
                continue
            terminator.operands[position] = bufferization.MaterializeInDestinationOp(value.type, value, target).result


def _fixed_size(type: ir.Type) -> bool:
    return isinstance(type, ir.RankedTensorType) and type.has_static_shape


def _terminator(block: ir.Block) -> ir.Operation:
    return block.operations[len(block.operations) - 1].operation
