"""Which ops may be removed, merged and computed ahead: the declared traits, and the few upstream ops of the om stage."""
from __future__ import annotations

from mlir import ir

from ...dialect.build import declaration_of
from ...dialect.declare import Commutative, Pure

# Of the dialects that appear in the om stage. arith ops stand on index alone; those that divide say nothing about zero.
PURE_UPSTREAM = frozenset({"arith.constant", "arith.addi", "arith.subi", "arith.muli", "arith.minsi", "arith.maxsi", "arith.floordivsi", "arith.divsi",
                           "arith.remsi", "arith.cmpi", "arith.select", "arith.index_cast", "tensor.extract", "tensor.cast", "tensor.concat", "tensor.dim"})
TERMINATED = frozenset({"scf.if", "scf.for"})  # `scf.while` may not end


def is_pure(operation: ir.Operation) -> bool:
    """Whether an op has no effect but its results. Control flow is pure when all that it holds is."""
    if operation.name in TERMINATED:
        return all(inner.operation.name == "scf.yield" or is_pure(inner.operation) for region in operation.regions for block in region for inner in block.operations)
    declaration = declaration_of(operation)
    return Pure in declaration.traits if declaration is not None else operation.name in PURE_UPSTREAM


def is_commutative(operation: ir.Operation) -> bool:
    """Whether the two operands may be swapped."""
    declaration = declaration_of(operation)
    return declaration is not None and Commutative in declaration.traits


def functions(module: ir.Module) -> list[ir.Operation]:
    """The functions of a module that have a body."""
    found = [operation.operation for operation in module.body.operations]
    return [f for f in found if f.name == "func.func" and len(f.regions[0].blocks)]
