"""Entry functions and the roles of their arguments."""
from __future__ import annotations

from typing import Iterator

from mlir import ir

ROLE = "om.role"
ROLES = ("input", "parameter", "status", "output", "context")
DATA_DEPENDENT = "om.data_dependent"
FITTED = "om.fitted"
"""Marks a result that may be larger or smaller than its buffer in a run whose guards fail."""


def entry_functions(module: ir.Module) -> Iterator[ir.Operation]:
    """Functions with a body that the outside calls: those that are not private."""
    for op in list(module.body.operations):
        operation = op.operation
        if operation.name == "func.func" and "sym_visibility" not in operation.attributes and len(operation.regions[0].blocks):
            yield operation


def symbol(operation: ir.Operation) -> str:
    return ir.StringAttr(operation.attributes["sym_name"]).value


def entry_block(function: ir.Operation) -> ir.Block:
    return function.regions[0].blocks[0]


def argument_attributes(function: ir.Operation) -> list[ir.DictAttr]:
    count = len(ir.FunctionType(ir.TypeAttr(function.attributes["function_type"]).value).inputs)
    if "arg_attrs" in function.attributes:
        return [ir.DictAttr(a) for a in ir.ArrayAttr(function.attributes["arg_attrs"])]
    return [ir.DictAttr.get({})] * count


def result_attributes(function: ir.Operation) -> list[ir.DictAttr]:
    count = len(ir.FunctionType(ir.TypeAttr(function.attributes["function_type"]).value).results)
    if "res_attrs" in function.attributes:
        return [ir.DictAttr(a) for a in ir.ArrayAttr(function.attributes["res_attrs"])]
    return [ir.DictAttr.get({})] * count


def roles(function: ir.Operation) -> list[str]:
    """The role of each argument; one without a role is an input."""
    return [ir.StringAttr(a[ROLE]).value if ROLE in a else "input" for a in argument_attributes(function)]


def argument_of_role(function: ir.Operation, role: str) -> ir.Value | None:
    found = roles(function)
    return entry_block(function).arguments[found.index(role)] if role in found else None


def with_attribute(attributes: ir.DictAttr, name: str, value: ir.Attribute) -> ir.DictAttr:
    return ir.DictAttr.get({**{a.name: a.attr for a in attributes}, name: value})


def set_signature(function: ir.Operation, inputs, results, argument_attrs, result_attrs) -> None:
    function.attributes["function_type"] = ir.TypeAttr.get(ir.FunctionType.get(list(inputs), list(results)))
    for name, attributes in (("arg_attrs", list(argument_attrs)), ("res_attrs", list(result_attrs))):
        if name in function.attributes:
            del function.attributes[name]
        if attributes:
            function.attributes[name] = ir.ArrayAttr.get(attributes)


def walk(operation: ir.Operation, *names: str) -> list[ir.Operation]:
    """All operations inside with one of the names (all of them when none is given), outermost first."""
    found: list[ir.Operation] = []

    def visit(op: ir.Operation) -> ir.WalkResult:
        if op != operation and (not names or op.name in names):
            found.append(op)
        return ir.WalkResult.ADVANCE

    operation.walk(visit, ir.WalkOrder.PRE_ORDER)
    return found
