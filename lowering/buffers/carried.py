"""`om-carry-in-place`: what a loop carries stays in one buffer.

    scf.yield %next        ->        %kept = linalg.generic {om.carry} ins(%next) outs(%carried)      (a copy)
                                     scf.yield %kept

An elementwise op that alone uses the old value writes its result over it, without a copy. Without this a step would allocate. Only where
the size cannot change: it is static, `same_size` sees it, or the loop says so by the attribute `om.fixed_sizes`. Bufferization is free to
decide otherwise where values would get lost (as in a swap), so this is never more than advice.
"""
from __future__ import annotations

from dataclasses import dataclass

from mlir import ir
from mlir.dialects import linalg, memref

from .functions import walk
from .same_size import Sizes

FIXED_SIZES = "om.fixed_sizes"
CARRY = "om.carry"


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
    if value == carried.target or _write_over(value, carried.target):
        return
    terminator.operands[carried.position] = _copy(value, carried.target)


def _write_over(value: ir.Value, target: ir.Value) -> bool:
    """Let the op that makes the value write over the old one, if it is elementwise and nothing else reads the old one."""
    maker = value.owner
    if isinstance(maker, ir.Block) or maker.operation.name != "linalg.generic" or len(maker.operation.results) != 1:
        return False
    maker = maker.operation
    last = len(maker.operands) - 1
    start = maker.operands[last].owner
    if isinstance(start, ir.Block) or start.operation.name != "tensor.empty" or not _is_elementwise(maker):
        return False
    if any(use.owner.operation != maker for use in target.uses) or maker.block != target.owner:
        return False
    maker.operands[last] = target
    return True


def _is_elementwise(generic: ir.Operation) -> bool:
    maps = [ir.AffineMapAttr(m).value for m in ir.ArrayAttr(generic.attributes["indexing_maps"])]
    return all(m == ir.AffineMap.get_identity(m.n_dims) for m in maps)


def _copy(value: ir.Value, target: ir.Value) -> ir.Value:
    type = ir.RankedTensorType(value.type)
    maps = ir.ArrayAttr.get([ir.AffineMapAttr.get(ir.AffineMap.get_identity(type.rank))] * 2)
    kinds = ir.ArrayAttr.get([ir.Attribute.parse("#linalg.iterator_type<parallel>")] * type.rank)
    generic = linalg.GenericOp([type], [value], [target], maps, kinds)
    generic.operation.attributes[CARRY] = ir.UnitAttr.get()
    block = generic.operation.regions[0].blocks.append(type.element_type, type.element_type)
    with ir.InsertionPoint(block):
        linalg.YieldOp([block.arguments[0]])
    return generic.operation.results[0]


def copies_of_carried(module: ir.Module) -> None:
    """After bufferization: these copies become `memref.copy`."""
    for generic in walk(module.operation, "linalg.generic"):
        if CARRY in generic.attributes:
            with ir.InsertionPoint(generic), generic.location:
                memref.CopyOp(*generic.operands)
            generic.erase()


def _terminator(block: ir.Block) -> ir.Operation:
    return block.operations[len(block.operations) - 1].operation
