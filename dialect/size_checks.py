"""Checks on sizes of inputs that stand at the start of a program: who runs it can make them before any work is done."""
from __future__ import annotations

from mlir import ir

from .analysis import ShapeAnalysis
from .build import OpView, view
from .program import Program
from .status import HOLDS, SizeCheck
from .symbolic import Size, symbols_of

def size_checks(program: Program) -> list[SizeCheck]:
    """The checks of a program that follow from its inputs' sizes alone, in order."""
    with program.context:
        analysis = ShapeAnalysis(program.main)
    known = {s.name for spec in program.inputs for size in spec.type.shape for s in symbols_of(size)}
    found = []
    for operation in program.main.regions[0].blocks[0].operations:
        check = _check(view(operation), analysis) if operation.operation.name == "om.guard" else None
        if check is not None and {s.name for size in (check.left, check.right) for s in symbols_of(size)} <= known:
            found.append(check)
    return found


def _check(guard: OpView, analysis: ShapeAnalysis) -> SizeCheck | None:
    comparison = guard.operands[0].owner
    if isinstance(comparison, ir.Block) or comparison.operation.name not in HOLDS:
        return None
    sides = [_size(value, analysis) for value in comparison.operation.operands]
    if None in sides:
        return None
    return SizeCheck(comparison.operation.name, *sides, guard.attributes["message"], guard.attributes["kind"])


def _size(value: ir.Value, analysis: ShapeAnalysis) -> Size | None:
    """The size that a rank-0 tensor holds, when it is made of sizes."""
    if isinstance(value.owner, ir.Block):
        return None
    op = view(value.owner)
    if op is not None and op.declaration.opname == "from_size":
        return analysis.size(op.operation.operands[0])
    if op is not None and op.declaration.opname == "constant" and op.attributes["value"].size == 1 and op.attributes["value"].dtype.kind == "i":
        return int(op.attributes["value"])
    return None
