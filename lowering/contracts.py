"""What a pass accepts: functions of a module that give the first op which breaks a rule, with what is wrong, or None.

    @register_pass("my-pass", requires=(no_om_ops, no_tensors))

They are asked by `onemlir-opt`, `run_pipeline` and `lower(verify_each=True)`, so that a pass out of order is a message at an op.
"""
from __future__ import annotations

from typing import Callable, Iterator

from mlir import ir

from ..dialect.bindings import Diagnostic, location_text
from ..dialect.declare import REGISTRY

Contract = Callable[[ir.Module], "tuple[ir.Operation, str] | None"]


def broken(module: ir.Module, contracts: tuple[Contract, ...]) -> list[Diagnostic]:
    """One diagnostic for each contract that the module does not keep."""
    found = filter(None, (contract(module) for contract in contracts))
    return [Diagnostic(location_text(operation.location), f"'{operation.name}' op {problem}") for operation, problem in found]


def no_om_ops(module: ir.Module):
    """Nothing is left of the dialects of declared ops."""
    for operation in _operations(module):
        if operation.name in REGISTRY:
            return operation, "is not lowered yet: om-to-linalg comes first"
    return None


def no_tensors(module: ir.Module):
    """All values are scalars, vectors and buffers."""
    for operation in _operations(module):
        values = (*operation.operands, *operation.results, *_arguments(operation))
        if any(isinstance(value.type, (ir.RankedTensorType, ir.UnrankedTensorType)) for value in values):
            return operation, "has tensors: om-bufferize comes first"
    return None


def no_buffers(module: ir.Module):
    """Structured ops work on tensors."""
    for operation in _operations(module):
        if operation.name.startswith("linalg.") and any(isinstance(value.type, ir.MemRefType) for value in operation.operands):
            return operation, "has buffers: this pass works on tensors, before om-bufferize"
    return None


def tensor_entry(module: ir.Module):
    """There is a function @main with a body of one block, on tensors and sizes."""
    function = _main(module)
    if function is None:
        return module.operation, "has no function @main with a body"
    if len(function.regions[0].blocks) != 1:
        return function, "@main has branches between blocks; its control flow must be scf"
    return None


def recorded_entry(module: ir.Module):
    """@main is as recorded: its arguments and results are tensors."""
    problem = tensor_entry(module)
    if problem is not None:
        return problem
    function = _main(module)
    for number, argument in enumerate(function.regions[0].blocks[0].arguments):
        if not isinstance(argument.type, ir.RankedTensorType):
            return function, f"argument {number} of @main is {argument.type}: this pass converts a function of ranked tensors"
    return None


def entry_roles(module: ir.Module):
    """The arguments of @main say what they are, as om-to-linalg leaves them."""
    problem = tensor_entry(module)
    if problem is not None:
        return problem
    function = _main(module)
    given = list(function.attributes["arg_attrs"]) if "arg_attrs" in function.attributes else []
    if len(given) != len(function.regions[0].blocks[0].arguments) or not all("om.role" in ir.DictAttr(a) for a in given):
        return function, "@main has arguments without om.role: om-to-linalg comes first"
    return None


def _main(module: ir.Module) -> ir.Operation | None:
    return next((op.operation for op in module.body.operations if _is_main(op.operation)), None)


def _is_main(operation: ir.Operation) -> bool:
    named = operation.name == "func.func" and ir.StringAttr(operation.attributes["sym_name"]).value == "main"
    return named and len(operation.regions[0].blocks) > 0


def _operations(module: ir.Module) -> Iterator[ir.Operation]:
    found: list[ir.Operation] = []

    def visit(operation: ir.Operation) -> ir.WalkResult:
        found.append(operation)
        return ir.WalkResult.ADVANCE

    module.operation.walk(visit, ir.WalkOrder.PRE_ORDER)
    return iter(found)


def _arguments(operation: ir.Operation) -> Iterator[ir.Value]:
    return (argument for region in operation.regions for block in region.blocks for argument in block.arguments)
