"""`om-fold`: ops on literals alone become literals, computed by the op's reference.

    %0 = "om.constant"() {value = dense<[1.0, 2.0]>}
    %1 = "om.add"(%0, %0)                                ->   %1 = "om.constant"() {value = dense<[2.0, 4.0]>}

What the reference refuses, an index out of range for instance, is left for the run to report.
"""
from __future__ import annotations

import math

import numpy as np
from mlir import ir

from ...dialect.build import create, mlir_type, OpView, view
from ...dialect.declare import Pure, REGISTRY, with_sizes
from ...dialect.shapes import TensorType
from ...errors import OnemlirError
from .effects import functions

REFUSED = (OnemlirError, ValueError, IndexError, TypeError, ArithmeticError)


def fold_constants(module: ir.Module, max_elements: int = 1024) -> bool:
    """Fold all functions; whether anything changed. Results of more than `max_elements` are left to the compiled code."""
    return any([_block(block, max_elements) for function in functions(module) for block in function.regions[0]])


def _block(block: ir.Block, limit: int) -> bool:
    changed = False
    for operation in [op.operation for op in block.operations]:
        for region in operation.regions:
            changed = any([_block(inner, limit) for inner in region]) or changed
        op = _foldable(operation, limit)
        arrays = None if op is None else evaluate(op)
        if arrays is not None:
            _replace(operation, arrays)
            changed = True
    return changed


def _foldable(operation: ir.Operation, limit: int) -> OpView | None:
    """The op's view when all its operands are literals and its results are small."""
    if not len(operation.results) or not all(is_literal(value) for value in operation.operands):
        return None
    op = view(operation)
    if op is None or op.declaration.reference is None or op.declaration.typed_by_ir or Pure not in op.declaration.traits:
        return None
    if op.declaration.opname == "constant" or op.declaration.index_operands:
        return None
    types = [ir.RankedTensorType(result.type) for result in operation.results]
    return op if all(t.has_static_shape and math.prod(t.shape) <= limit for t in types) else None


def is_literal(value: ir.Value) -> bool:
    return not isinstance(value.owner, ir.Block) and value.owner.operation.name in ("om.constant", "arith.constant")


def literal(value: ir.Value):
    """The array or size of a literal."""
    owner = value.owner.operation
    return view(owner).attributes["value"] if owner.name == "om.constant" else ir.IntegerAttr(owner.attributes["value"]).value


def evaluate(op: OpView) -> list[np.ndarray] | None:
    """The op's results by its reference; None where it refuses, or gives another type than is written."""
    declaration = op.declaration
    attributes = with_sizes(declaration, dict(op.attributes), [literal(v) for v in op.sizes])
    operands = [None if v is None else literal(v) for v in op.operands]
    try:
        with np.errstate(all="ignore"):
            results = declaration.reference(**declaration.named_operands(operands), **attributes)
    except REFUSED:
        return None
    arrays = [np.asarray(array) for array in (results if isinstance(results, tuple) else (results,))]
    written = [str(result.type) for result in op.results]
    return arrays if [str(mlir_type(TensorType(a.shape, a.dtype))) for a in arrays] == written else None


def _replace(operation: ir.Operation, arrays: list[np.ndarray]) -> None:
    with ir.InsertionPoint(operation), operation.location:
        for result, array in zip(operation.results, arrays):
            constant = create(REGISTRY["om.constant"], [], {"value": np.ascontiguousarray(array).reshape(array.shape)}, [result.type])
            result.replace_all_uses_with(constant.results[0])
    operation.erase()
