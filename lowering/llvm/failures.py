"""A call that allocates may give null: the function that made it then returns at once. The status is already written.

Kernels allocate nothing, so they are not looked through.
"""
from __future__ import annotations

from typing import Collection

from mlir import ir

from ..buffers.checked import ALLOCATE, ARENA
from ..buffers.functions import symbol, walk
from .dispatch import callee

SUPPORT = "om_"


def return_on_failure(module: ir.Module, kernels: Collection[str] = ()) -> None:
    with module.context, ir.Location.unknown():
        for function in list(module.body.operations):
            if _is_support(function.operation) or symbol(function.operation) in kernels or not len(function.regions[0].blocks):
                continue
            calls = [call for call in walk(function.operation, "llvm.call") if callee(call) in (ALLOCATE, ARENA)]
            kind = _return_type(function.operation) if calls else None
            for call in reversed(calls):  # from the end, so that each op moves once
                _return_if_null(kind, call)


def _is_support(function: ir.Operation) -> bool:
    name = symbol(function)
    return name.startswith(SUPPORT) and not name.startswith("om_body_")


def _return_if_null(kind: ir.Type, call: ir.Operation) -> None:
    """Split the block after the call."""
    block = call.block
    following = block.create_after()
    operations = list(block.operations)
    place = next(i for i, op in enumerate(operations) if op.operation == call)
    for operation in operations[place + 1 :]:
        following.append(operation)
    failed = following.create_after()
    create = ir.Operation.create
    with ir.InsertionPoint(block), call.location:
        null = create("llvm.mlir.zero", [call.results[0].type]).results[0]
        i1, i64 = ir.IntegerType.get_signless(1), ir.IntegerType.get_signless(64)
        is_null = create("llvm.icmp", [i1], [call.results[0], null], {"predicate": ir.IntegerAttr.get(i64, 0)}).results[0]
        create("llvm.cond_br", [], [is_null], {
            "operandSegmentSizes": ir.DenseI32ArrayAttr.get([1, 0, 0]), "branch_weights": ir.DenseI32ArrayAttr.get([1, 2000]),
        }, successors=[failed, following])  # fmt: skip
    with ir.InsertionPoint(failed), call.location:
        values = [] if str(kind) == "!llvm.void" else [create("llvm.mlir.zero", [kind]).results[0]]
        create("llvm.return", [], values)


def _return_type(function: ir.Operation) -> ir.Type:
    """The type that an existing return of the function gives."""
    for found in walk(function, "llvm.return"):
        return found.operands[0].type if len(found.operands) else ir.Type.parse("!llvm.void")
    return ir.Type.parse("!llvm.void")
