"""`om-write-to-outputs`: the op that makes a result writes it to its destination directly.

    %e = tensor.empty()                                        %d = bufferization.to_tensor %output
    %r = linalg.generic ... outs(%e)                     ->    %r = linalg.generic ... outs(%d)
    materialize_in_destination %r in %output                   materialize_in_destination %r in %output     (vanishes)

The chain of updates that begins at the empty tensor may be longer (a fill, a product, an epilogue), as long as nothing else uses what lies
between: then the destination holds nothing but the result, ever. Upstream's `eliminate-empty-tensors` goes further and loses values: it
may let two results share a destination, or overwrite one that is still to be copied to another output.
"""
from __future__ import annotations

from mlir import ir
from mlir.dialects import bufferization

from .functions import walk

UPDATES = {"tensor.insert", "tensor.insert_slice"}
MATERIALIZE = "bufferization.materialize_in_destination"


def separate_empties(module: ir.Module) -> None:
    """Each use of a `tensor.empty` gets one of its own."""
    with module.context, ir.Location.unknown():
        for empty in walk(module.operation, "tensor.empty"):
            for use in list(empty.results[0].uses)[1:]:
                user = use.owner.operation
                with ir.InsertionPoint(user), empty.location:
                    user.operands[use.operand_number] = empty.clone().operation.results[0]


def write_to_outputs(function: ir.Operation) -> None:
    done: set[ir.Value] = set()
    for materialize in walk(function, MATERIALIZE):
        value, output = materialize.operands
        if value in done or not isinstance(output.type, ir.MemRefType):
            continue
        done.add(value)
        first = _first_of_chain(value)
        if first is None or value.type != first[0].operands[first[1]].type:
            continue
        operation, place = first
        with ir.InsertionPoint(operation), operation.location:
            tensor = bufferization.ToTensorOp(value.type, output, restrict=True, writable=True)
        operation.operands[place] = tensor.result
        del materialize.attributes["restrict"]


def _first_of_chain(value: ir.Value) -> tuple[ir.Operation, int] | None:
    """The op, and the place among its operands, where the buffer of a value begins as an empty tensor."""
    while not isinstance(value.owner, ir.Block):
        operation = value.owner.operation
        place = _destination(operation, value)
        if place is None:
            return None
        value = operation.operands[place]
        if isinstance(value.owner, ir.Block) or len(list(value.uses)) != 1:
            return None
        if value.owner.operation.name == "tensor.empty":
            return operation, place
    return None


def _destination(operation: ir.Operation, value: ir.Value) -> int | None:
    """The operand that a result is an update of."""
    if operation.name in UPDATES:
        return 1
    if not operation.name.startswith("linalg.") or not len(operation.results):
        return None
    return len(operation.operands) - len(operation.results) + list(operation.results).index(value)
