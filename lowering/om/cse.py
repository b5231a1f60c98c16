"""`om-cse`: of equal pure ops the first is kept; the operands of commutative ops may come in either order.

    %0 = "om.add"(%x, %y)         %0 = "om.add"(%x, %y)
    %1 = "om.add"(%y, %x)    ->
    %2 = "om.mul"(%0, %1)         %2 = "om.mul"(%0, %0)
"""
from __future__ import annotations

from mlir import ir

from .effects import functions, is_commutative, is_pure


def merge_equal(module: ir.Module) -> bool:
    """Merge equal ops of all functions; whether there were any."""
    return any([_block(block, {}) for function in functions(module) for block in function.regions[0]])


def _block(block: ir.Block, known: dict) -> bool:
    """`known` holds the results of ops that come before on every way; a region sees those of the blocks around it."""
    changed = False
    for operation in [op.operation for op in block.operations]:
        for region in operation.regions:
            changed = any([_block(inner, dict(known)) for inner in region]) or changed
        if len(operation.regions) or not len(operation.results) or not is_pure(operation):
            continue
        first = known.setdefault(_key(operation), operation)
        if first is not operation:
            for old, new in zip(operation.results, first.results):
                old.replace_all_uses_with(new)
            operation.erase()
            changed = True
    return changed


def _key(operation: ir.Operation) -> tuple:
    operands = [hash(value) for value in operation.operands]
    if is_commutative(operation):
        operands.sort()
    names = sorted(_name(a) for a in operation.attributes)
    attributes = tuple((name, operation.attributes[name]) for name in names)
    return operation.name, tuple(operands), attributes, tuple(result.type for result in operation.results)


def _name(attribute) -> str:
    return attribute if isinstance(attribute, str) else attribute.name
