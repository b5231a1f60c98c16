"""`om-decompose`: composite ops become ops that have a lowering.

    %1 = "om.softmax"(%0) {axis = 1 : i64}        %1 = "om.max"(%0) ...
                                             ->   %2 = "om.subtract"(%0, %1) ...
"""
from __future__ import annotations

from typing import Container

from mlir import ir
from mlir.dialects import tensor

from ...dialect.analysis import ShapeAnalysis
from ...dialect.build import declaration_of, OpView
from ...dialect.declare import Op
from ...dialect.graph import GraphBuilder, Node
from ..decompositions import DECOMPOSITIONS


def decompose(function: ir.Operation, keep: Container[type[Op]] = ()) -> bool:
    """Replace each op that has a decomposition and is not in `keep`, until none is left. Returns whether anything changed."""
    changed = False
    while _has_work(function, keep) and _once(function, keep):
        changed = True
    return changed


def _has_work(function: ir.Operation, keep: Container[type[Op]]) -> bool:
    """Whether an op is to be decomposed; quicker than the analysis of shapes."""
    found: set[type[Op] | None] = set()
    function.walk(lambda op: (found.add(declaration_of(op)), ir.WalkResult.ADVANCE)[1], ir.WalkOrder.PRE_ORDER)
    return any(declaration in DECOMPOSITIONS and declaration not in keep for declaration in found)


def _once(function: ir.Operation, keep: Container[type[Op]]) -> bool:
    found: list[tuple[OpView, list, dict]] = []

    def collect(op: OpView, operands, attributes, results):
        if op.declaration in DECOMPOSITIONS and op.declaration not in keep:
            found.append((op, operands, attributes))

    analysis = ShapeAnalysis(function, collect)
    builder = builder_for(analysis)
    for op, operands, attributes in reversed(found):  # backwards, so that operands are values which still exist
        _replace(op, operands, attributes, builder)
    return bool(found)


def builder_for(analysis: ShapeAnalysis) -> GraphBuilder:
    """A graph builder that knows every axis of an analysed function; ops get the current location."""
    builder = GraphBuilder(lambda: ir.Location.current)
    sizes = [(value, size) for value, size in analysis.sizes.items() if not isinstance(size, int)]
    for value, size in sizes:  # before the tensors, for among those is the result of the op that is replaced
        if _is_source(value):
            builder.index_origin(value, size)
    for value, type in analysis.tensors.items():
        builder.node(value, type)
    for value, size in sizes:
        builder.index_origin(value, size)
    return builder


def _is_source(value: ir.Value) -> bool:
    """Whether a size begins with this value, and is not read from a tensor."""
    return isinstance(value.owner, ir.Block) or value.owner.operation.name == "om.to_size"


def _replace(op: OpView, operands, attributes, builder: GraphBuilder) -> None:
    declaration = op.declaration
    nodes = [None if v is None else Node(v, t, builder) for v, t in zip(op.operands, operands)]
    with ir.InsertionPoint(op.operation), op.location:
        results = DECOMPOSITIONS[declaration](builder.ops, **declaration.named_operands(nodes), **attributes)
        for old, new in zip(op.results, results if isinstance(results, tuple) else (results,)):
            value = new.value if new.value.type == old.type else tensor.CastOp(old.type, new.value).result
            old.replace_all_uses_with(value)
    op.operation.erase()
