"""When is a buffer in use? Operations are numbered in program order; a buffer lives from its allocation to its last use.

A use inside a loop of a buffer from outside counts until the end of the loop, one by a kernel until the end of its epilogue: the two may become
one, which writes what the epilogue writes while it reads what the kernel reads. A buffer that leaves the loop step that allocated it
(through a yield), the function, or our sight has no lifetime: `Lifetimes.of` gives None.
"""
from __future__ import annotations

from dataclasses import dataclass

from mlir import ir

VIEWS = {
    "memref.subview", "memref.cast", "memref.reinterpret_cast", "memref.expand_shape", "memref.collapse_shape", "memref.view",
    "memref.transpose", "memref.reshape", "memref.memory_space_cast", "memref.assume_alignment", "arith.select",
}  # fmt: skip
LOOPS = {"scf.for", "scf.while"}
THREADED = {"scf.parallel", "scf.forall"}
OPAQUE = {"memref.extract_aligned_pointer_as_index", "memref.extract_strided_metadata", "func.return", "bufferization.to_tensor"}


@dataclass(frozen=True)
class Interval:
    first: int
    last: int

    def meets(self, other: "Interval") -> bool:
        return self.first <= other.last and other.first <= self.last


class Lifetimes:
    """Lifetimes of the allocations of one function."""

    def __init__(self, function: ir.Operation):
        self.start: dict[ir.Operation, int] = {}
        self.end: dict[ir.Operation, int] = {}
        self._count = 0
        self._number(function)

    def _number(self, operation: ir.Operation) -> None:
        self.start[operation] = self._count
        self._count += 1
        for region in operation.regions:
            for block in region.blocks:
                kernel = None
                for inner in block.operations:
                    self._number(inner.operation)
                    if "om.epilogue" in inner.operation.attributes and kernel is not None:
                        self.end[kernel] = self.end[inner.operation]
                    kernel = inner.operation if "om.kernel" in inner.operation.attributes else kernel
        self.end[operation] = self._count
        self._count += 1

    def of(self, allocation: ir.Operation) -> Interval | None:
        if is_inside(allocation, THREADED):
            return None
        first = last = self.start[allocation]
        seen: set[ir.Value] = set()
        pending = [(allocation.results[0], allocation.block)]
        while pending:
            value, home = pending.pop()
            if value in seen:
                continue
            seen.add(value)
            for use in value.uses:
                user = use.owner.operation
                aliases = aliases_through(user, value, home)
                if aliases is None:
                    return None
                pending.extend(aliases)
                last = max(last, self.end[ancestor_in(user, home)])
        return Interval(first, last)


Alias = tuple[ir.Value, ir.Block]  # a name of the buffer, and the block in which its life counts


def aliases_through(user: ir.Operation, value: ir.Value, home: ir.Block) -> list[Alias] | None:
    """Values that may name the same memory after `user` used `value`; None when it escapes."""
    if user.name in OPAQUE:
        return None
    if user.name in VIEWS:
        return [(result, home) for result in user.results]
    positions = [i for i, operand in enumerate(user.operands) if operand == value]
    if user.name == "scf.for":
        carried = user.regions[0].blocks[0].arguments
        return [(v, home) for i in positions if i >= 3 for v in (user.results[i - 3], carried[i - 2])]
    if user.name == "scf.while":
        return [(user.regions[0].blocks[0].arguments[i], home) for i in positions]
    if user.name in ("scf.yield", "scf.condition"):
        return _through_terminator(user, positions, home)
    return None if any(isinstance(r.type, ir.MemRefType) for r in user.results) or user.name == "func.call" else []


def _through_terminator(user: ir.Operation, positions: list[int], home: ir.Block) -> list[Alias] | None:
    parent = user.parent.operation
    outside = ancestor_in(parent, home) is not None  # the buffer is older than this region
    if parent.name == "scf.if":
        return [(parent.results[i], home if outside else parent.block) for i in positions]
    if parent.name not in LOOPS or not outside:
        return None  # allocated in a step of this loop, alive in the next one
    if parent.name == "scf.for":
        return [(v, home) for i in positions for v in (parent.results[i], parent.regions[0].blocks[0].arguments[i + 1])]
    if user.name == "scf.condition":
        return [(v, home) for i in positions if i for v in (parent.results[i - 1], parent.regions[1].blocks[0].arguments[i - 1])]
    return [(parent.regions[0].blocks[0].arguments[i], home) for i in positions]


def ancestor_in(operation: ir.Operation, block: ir.Block) -> ir.Operation | None:
    """The operation of `block` that is, or contains, `operation`."""
    while operation is not None and operation.name != "func.func":
        if operation.block == block:
            return operation
        operation = operation.parent.operation if operation.parent is not None else None
    return None


def is_inside(operation: ir.Operation, names: set[str]) -> bool:
    parent = operation.parent
    while parent is not None:
        if parent.operation.name in names:
            return True
        parent = parent.operation.parent
    return False

