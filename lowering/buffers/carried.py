"""`om-carry-in-place`: what a loop carries stays in one buffer.

    scf.yield %next                     %kept = bufferization.materialize_in_destination %next in %carried
                                   ->   scf.yield %kept

The copy vanishes where `%next` is computed in place. Without it a step that does not would allocate. Only where the size cannot change:
it is static, `same_size` sees it, or the loop says so by the attribute `om.fixed_sizes`.
"""
from __future__ import annotations

from dataclasses import dataclass

from mlir import ir
from mlir.dialects import bufferization

from .functions import walk
from .same_size import Sizes

FIXED_SIZES = "om.fixed_sizes"


@dataclass
class Carried:
    """One value that a loop carries: what the step yields, and its names."""

    position: int
    """Among the operands of the yield."""
    initial: ir.Value
    names: list[ir.Value]
    """Inside of the loop (the last one is the destination), then its results."""
    target: ir.Value


def carry_in_place(function: ir.Operation) -> None:
    sizes = Sizes()
    for loop in reversed(walk(function, "scf.for", "scf.while")):  # inner loops first
        terminator = _terminator(loop.regions[-1].blocks[0])
        fixed = _fixed(_carried(loop), terminator, sizes, FIXED_SIZES in loop.attributes)
        with ir.InsertionPoint(terminator), terminator.location:
            for carried in fixed:
                _pin(terminator, carried)


def _carried(loop: ir.Operation) -> list[Carried]:
    if loop.name == "scf.for":
        inside = list(loop.regions[0].blocks[0].arguments)[1:]
        initial = list(loop.operands)[3:]
        return [Carried(i, initial[i], [inside[i], loop.results[i]], inside[i]) for i in range(len(inside))]
    return _carried_by_while(loop)


def _carried_by_while(loop: ir.Operation) -> list[Carried]:
    """Only arguments that the condition hands on unchanged: there, `after` sees the buffer that `before` was given."""
    before, after = loop.regions[0].blocks[0], loop.regions[1].blocks[0]
    handed = list(_terminator(before).operands)[1:]
    found = []
    for i, argument in enumerate(before.arguments):
        places = [p for p, value in enumerate(handed) if value == argument]
        if places:
            names = [argument, *(v for p in places for v in (after.arguments[p], loop.results[p]))]
            found.append(Carried(i, loop.operands[i], names, after.arguments[places[0]]))
    return found


def _fixed(carried: list[Carried], terminator: ir.Operation, sizes: Sizes, promised: bool) -> list[Carried]:
    """Those whose size no step changes: assume it of all, and drop those that break it until none does."""
    left = [c for c in carried if isinstance(c.target.type, ir.RankedTensorType) and c.initial.type == c.target.type]
    while True:
        sizes.initial.update({name: c.initial for c in left for name in c.names})
        if promised:
            return left
        kept = [c for c in left if sizes.same(terminator.operands[c.position], c.initial)]
        if len(kept) == len(left):
            return left
        for name in (name for c in left for name in c.names):
            sizes.initial.pop(name, None)
        left = kept


def _pin(terminator: ir.Operation, carried: Carried) -> None:
    value = terminator.operands[carried.position]
    if value != carried.target:
        kept = bufferization.MaterializeInDestinationOp(value.type, value, carried.target)
        terminator.operands[carried.position] = kept.result


def _terminator(block: ir.Block) -> ir.Operation:
    return block.operations[len(block.operations) - 1].operation
