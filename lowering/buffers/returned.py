"""Results whose size depends on data: the buffer in which one is computed is the one that is returned, where it is a fresh one of its own.

    %0 = memref.alloc(%n)
    ... what writes and reads %0
    %1 = memref.alloc(%n)                      ->    %0 = memref.alloc(%n)
    memref.copy %0, %1                               ... what writes and reads %0
    return %1                                        return %0
"""
from __future__ import annotations

from mlir import ir

from .functions import entry_block

AFTER = ("memref.copy", "memref.dim", "memref.alloc", "arith.constant", "func.return")


def return_where_computed(function: ir.Operation) -> None:
    operations = [op.operation for op in entry_block(function).operations]
    place = {operation: number for number, operation in enumerate(operations)}
    end, taken = operations[-1], list(operations[-1].operands)
    for result in list(end.operands):
        copy = _only_copy(result, end)
        if copy is None or copy not in place:
            continue
        source = copy.operands[0]
        later = operations[place[copy] + 1:]
        if (_is_fresh(source, place) and source.type == result.type and source not in taken and all(op.name in AFTER for op in later)
                and not any(op.name == "memref.copy" and op.operands[1] == source for op in later)):
            taken.append(source)
            allocation = result.owner.operation
            operations = [op for op in operations if op not in (copy, allocation)]
            place = {operation: number for number, operation in enumerate(operations)}
            result.replace_all_uses_with(source)
            copy.erase()
            allocation.erase()


def _only_copy(result: ir.Value, end: ir.Operation) -> ir.Operation | None:
    """The copy that fills a fresh buffer which is returned once and used for nothing else."""
    if isinstance(result.owner, ir.Block) or result.owner.operation.name != "memref.alloc":
        return None
    users = [use.owner.operation for use in result.uses]
    copies = [op for op in users if op.name == "memref.copy" and op.operands[1] == result and op.operands[0] != result]
    return copies[0] if len(users) == 2 and len(copies) == 1 and end in users else None


def _is_fresh(value: ir.Value, place) -> bool:
    return not isinstance(value.owner, ir.Block) and value.owner.operation.name == "memref.alloc" and value.owner.operation in place
