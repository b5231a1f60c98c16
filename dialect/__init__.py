"""The om dialect: declarations of the ops, symbolic sizes, IRDL, building, verification, writers."""
from __future__ import annotations


def walk(module):
    """All ops of a module that have a declaration, as views in program order; regions included."""
    from mlir import ir

    from .build import view

    found = []

    def visit(operation):
        op = view(operation)
        if op is not None:
            found.append(op)
        return ir.WalkResult.ADVANCE

    getattr(module, "module", module).operation.walk(visit)
    return iter(found)
