"""What can be dropped from a module. Each function counts with ``change(text, None)``, and with places gives the text without them, or None.

A dropped operation's results become arguments of the function, so that what used them stays.
"""
from __future__ import annotations

from typing import Iterable

from mlir import ir

from ...dialect import bindings
from ...dialect.verify import verify
from ...lowering.om.dce import remove_dead
from ...lowering.om.effects import functions


def _changed(module: ir.Module) -> str | None:
    """The text of a changed module, None when the change made it invalid."""
    return None if verify(module) else str(module)


def _parse(text: str) -> ir.Module:
    return bindings.parse_module(text, bindings.new_context())


def _inside(function: ir.Operation) -> list[ir.Operation]:
    """Operations of a function that are no terminators, those of regions included; the last first, and what a region holds before its owner."""
    found: list[ir.Operation] = []

    def visit(operation: ir.Operation) -> ir.WalkResult:
        if operation != function and operation.name not in TERMINATORS:
            found.append(operation)
        return ir.WalkResult.ADVANCE

    function.walk(visit, ir.WalkOrder.PRE_ORDER)
    return found[::-1]


def drop_operations(text: str, places: Iterable[int] | None):
    """Operations of the functions, also inside of regions, the last first."""
    module = _parse(text)
    with module.context, ir.Location.unknown():
        found = [(f, op) for f in functions(module) for op in _inside(f)]
        if places is None:
            return len(found)
        for place in places:
            _into_arguments(*found[place])
        found.clear()
        remove_dead(module)
        return _changed(module)


def _into_arguments(function: ir.Operation, operation: ir.Operation) -> None:
    block = function.regions[0].blocks[0]
    for result in operation.results:
        if any(True for _ in result.uses):
            result.replace_all_uses_with(block.add_argument(result.type, operation.location))
    operation.erase()
    _set_signature(function, list(range(len(block.arguments))))


def unwrap_regions(text: str, places: Iterable[int] | None):
    """Control flow, of which one region takes the place: a branch, or the body of a loop run once."""
    module = _parse(text)
    with module.context, ir.Location.unknown():
        found = [(op, number) for f in functions(module) for op in _inside(f) if op.name in ENTERED
                 for number in range(len(op.regions)) if len(op.regions[number].blocks) == 1]
        if places is None:
            return len(found)
        gone: set[int] = set()
        for place in places:
            if not any(found[place][0] == found[other][0] for other in gone):
                gone.add(place)
                _unwrap(*found[place])
        found.clear()
        remove_dead(module)
        return _changed(module)


# What the arguments of the regions of control flow are at first, given the operands.
ENTERED = {"scf.if": lambda operands: [], "scf.for": lambda operands: [operands[0], *operands[3:]], "scf.while": lambda operands: operands}
TERMINATORS = frozenset({"func.return", "scf.yield", "scf.condition", "linalg.yield", "tensor.yield", "cf.br", "cf.cond_br", "llvm.return"})


def _unwrap(operation: ir.Operation, region: int) -> None:
    block = operation.regions[region].blocks[0]
    for argument, value in zip(block.arguments, ENTERED[operation.name](list(operation.operands))):
        argument.replace_all_uses_with(value)
    inner = [op.operation for op in block.operations]
    for op in inner[:-1]:
        op.move_before(operation)
    values = list(inner[-1].operands)[inner[-1].name == "scf.condition":]
    for result, value in zip(operation.results, values):
        result.replace_all_uses_with(value)
    operation.erase()


def bypass_operations(text: str, places: Iterable[int] | None):
    """Operations with an operand of the result's type, which takes the result's place."""
    module = _parse(text)
    with module.context, ir.Location.unknown():
        tops = [op for f in functions(module) for op in _inside(f)]
        found = [op for op in tops if len(op.results) == 1 and any(v.type == op.results[0].type for v in op.operands)]
        if places is None:
            return len(found)
        for place in places:
            result = found[place].results[0]
            result.replace_all_uses_with(next(v for v in found[place].operands if v.type == result.type))
        tops.clear()
        found.clear()
        remove_dead(module)
        return _changed(module)


def drop_results(text: str, places: Iterable[int] | None):
    """Returned values; one is left. What only they used goes with them."""
    module = _parse(text)
    with module.context, ir.Location.unknown():
        found = [(f, number) for f in functions(module) if len(f.regions[0].blocks) == 1
                 for number in range(len(_terminator(f).operands)) if len(_terminator(f).operands) > 1]
        if places is None:
            return len(found)
        gone = [found[place] for place in places]
        for function in functions(module):
            all_places = list(range(len(_terminator(function).operands)))
            _return(function, [n for n in all_places if (function, n) not in gone] or all_places[:1])
        gone.clear()
        remove_dead(module)
        return _changed(module)


def _terminator(function: ir.Operation) -> ir.Operation:
    """A return of the function."""
    last = [block.operations[len(block.operations) - 1].operation for block in function.regions[0].blocks]
    return next(operation for operation in last if operation.name == "func.return")


def _return(function: ir.Operation, keep: list[int]) -> None:
    old = _terminator(function)
    values = [old.operands[number] for number in keep]
    with ir.InsertionPoint(old):
        ir.Operation.create("func.return", operands=values, loc=old.location)
    old.erase()
    if "res_attrs" in function.attributes:
        attributes = list(function.attributes["res_attrs"])
        function.attributes["res_attrs"] = ir.ArrayAttr.get([attributes[number] for number in keep])
    _set_signature(function, list(range(len(function.regions[0].blocks[0].arguments))))


def drop_arguments(text: str, places: Iterable[int] | None):
    """Arguments that nothing uses."""
    module = _parse(text)
    with module.context, ir.Location.unknown():
        found = [(f, n) for f in functions(module) for n, a in enumerate(f.regions[0].blocks[0].arguments) if not any(True for _ in a.uses)]
        if places is None:
            return len(found)
        for function, number in sorted((found[place] for place in places), key=lambda item: -item[1]):
            keep = [n for n in range(len(function.regions[0].blocks[0].arguments)) if n != number]
            attributes = _argument_attributes(function)
            function.regions[0].blocks[0].erase_argument(number)
            _set_signature(function, list(range(len(keep))), [attributes[n] for n in keep])
        found.clear()
        return _changed(module)


def drop_functions(text: str, places: Iterable[int] | None):
    """Whole functions but @main."""
    module = _parse(text)
    with module.context:
        found = [op.operation for op in module.body.operations
                 if op.operation.name == "func.func" and str(op.operation.attributes["sym_name"]) != '"main"']
        if places is None:
            return len(found)
        for place in places:
            found[place].erase()
        found.clear()
        return _changed(module)


def _argument_attributes(function: ir.Operation) -> list[ir.Attribute]:
    given = list(function.attributes["arg_attrs"]) if "arg_attrs" in function.attributes else []
    missing = len(function.regions[0].blocks[0].arguments) - len(given)
    return given + [ir.DictAttr.get({})] * missing


def _set_signature(function: ir.Operation, arguments: list[int], attributes: list[ir.Attribute] | None = None) -> None:
    """Make the function's type fit its block and terminator."""
    block = function.regions[0].blocks[0]
    types = ir.FunctionType.get([block.arguments[n].type for n in arguments], [v.type for v in _terminator(function).operands])
    function.attributes["function_type"] = ir.TypeAttr.get(types)
    function.attributes["arg_attrs"] = ir.ArrayAttr.get(_argument_attributes(function) if attributes is None else attributes)
