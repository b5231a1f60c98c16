"""Arguments that nobody reads go: of a buffer with static sizes, a lowered function uses its pointer, and not the sizes, strides and offset
that come with it. A parallel loop then stores a word a buffer for its threads instead of three and two an axis.
"""
from __future__ import annotations

from mlir import ir

from ..buffers.functions import symbol, walk
from .dispatch import callee
from .outline import BODY

STEPS = 3  # what a loop body's arguments end with: begin, end and grain


def drop_unused_arguments(module: ir.Module, contexts: dict[str, int]) -> dict[str, list[int]]:
    """Drop them from loop bodies, with the operands of their calls, then from the entry functions: `contexts` maps the name of each of
    these to the position of its context argument, which stays. Returns the positions that were kept, by function."""
    functions = {symbol(op.operation): op.operation for op in module.body.operations}
    kept = {name: _drop(f, range(len(_arguments(f)) - STEPS, len(_arguments(f)))) for name, f in functions.items() if _is_body(name, f)}
    for name in contexts:
        for call in walk(functions[name], "llvm.call"):
            if callee(call) in kept:
                _shorten(call, kept[callee(call)])
    return kept | {name: _drop(functions[name], [context]) for name, context in contexts.items()}


def _is_body(name: str, function: ir.Operation) -> bool:
    return name.startswith(BODY) and len(function.regions[0].blocks) > 0


def _arguments(function: ir.Operation) -> ir.BlockArgumentList:
    return function.regions[0].blocks[0].arguments


def _drop(function: ir.Operation, needed) -> list[int]:
    arguments = list(_arguments(function))
    needed = set(needed)
    kept = [i for i, argument in enumerate(arguments) if i in needed or next(iter(argument.uses), None) is not None]
    gone = sorted(set(range(len(arguments))).difference(kept), reverse=True)
    types = ", ".join(str(arguments[i].type) for i in kept)
    result = str(ir.TypeAttr(function.attributes["function_type"]).value).removeprefix("!llvm.func<").partition(" (")[0]
    del arguments
    for position in gone:
        function.regions[0].blocks[0].erase_argument(position)
    function.attributes["function_type"] = ir.TypeAttr.get(ir.Type.parse(f"!llvm.func<{result} ({types})>"))
    if "arg_attrs" in function.attributes:
        attributes = list(ir.ArrayAttr(function.attributes["arg_attrs"]))
        function.attributes["arg_attrs"] = ir.ArrayAttr.get([attributes[i] for i in kept])
    return kept


def _shorten(call: ir.Operation, kept: list[int]) -> None:
    attributes = {name: call.attributes[name] for name in call.attributes}
    attributes["operandSegmentSizes"] = ir.DenseI32ArrayAttr.get([len(kept), 0])
    operands = list(call.operands)
    with ir.InsertionPoint(call), call.location:
        ir.Operation.create("llvm.call", [], [operands[i] for i in kept], attributes)
    call.erase()
