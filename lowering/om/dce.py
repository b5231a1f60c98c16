"""`om-dce`: pure ops whose results nobody uses are removed.

    %0 = "om.exp"(%x)         ->
    return %x                      return %x
"""
from __future__ import annotations

from mlir import ir

from .effects import functions, is_pure


def remove_dead(module: ir.Module) -> bool:
    """Remove dead ops of all functions; whether there were any."""
    return any([_block(block) for function in functions(module) for block in function.regions[0]])


def _block(block: ir.Block) -> bool:
    """From the last op to the first, so that what only dead ops used is dead when its turn comes."""
    changed = False
    for operation in reversed([op.operation for op in block.operations]):
        if is_unused(operation) and is_pure(operation):
            operation.erase()
            changed = True
            continue
        for region in operation.regions:
            changed = any([_block(inner) for inner in region]) or changed
    return changed


def is_unused(operation: ir.Operation) -> bool:
    """Whether an op has results, and none of them is used."""
    return len(operation.results) > 0 and not any(any(True for _ in result.uses) for result in operation.results)
