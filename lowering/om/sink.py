"""`om-sink-transposes`: products of transposed rows are computed in the order in which the rows lie, and transposed afterwards.

    %0 = "om.transpose"(%x) {axes = array<i64: 1, 0, 2>}        %0 = "om.matmul"(%x, %w)
    %1 = "om.matmul"(%0, %w)                               ->   %1 = "om.add"(%0, %bias)
    %2 = "om.add"(%1, %bias)                                    %2 = "om.transpose"(%1) {axes = array<i64: 1, 0, 2>}

The rows of a product with one matrix are then one axis in memory, and the transpose moves on, through elementwise ops, slices and reshapes
that only split axes, to where an op reads its operand in any order (attention). No result changes by a bit.
"""
from __future__ import annotations

from dataclasses import dataclass

from mlir import ir
from mlir.dialects import tensor

from ...dialect import symbolic
from ...dialect.analysis import ShapeAnalysis
from ...dialect.build import OpView
from ...dialect.declare import Elementwise
from ...dialect.graph import Node
from ...dialect.ops import linear_algebra, shape
from .decompose import builder_for
from .effects import functions


@dataclass(frozen=True)
class Moved:
    """A value that is `transpose(source, axes)`; `sinks` once a product has been moved before the transpose."""

    source: Node
    axes: tuple[int, ...]
    sinks: bool


def sink_transposes(module: ir.Module) -> bool:
    """Sink the transposes of all functions; whether any moved."""
    return any([_Sinking(function).run() for function in functions(module) if _has_transposes(function)])


def _has_transposes(function: ir.Operation) -> bool:
    found = []
    function.walk(lambda op: (found.append(op.name), ir.WalkResult.INTERRUPT)[1] if op.name == "om.transpose" else ir.WalkResult.ADVANCE)
    return bool(found)


class _Sinking:
    def __init__(self, function: ir.Operation):
        ops: list[tuple[OpView, list, dict]] = []
        self.analysis = ShapeAnalysis(function, lambda op, operands, attributes, results: ops.append((op, operands, attributes)))
        self.ops, self.builder = ops, builder_for(self.analysis)
        self.moved: dict[ir.Value, Moved] = {}
        self.instead: dict[ir.Value, ir.Value] = {}
        self.replaced: list[ir.Operation] = []

    def run(self) -> bool:
        """In program order; what is replaced is erased at the end, since its values are keys until then."""
        for op, types, attributes in self.ops:
            with ir.InsertionPoint(op.operation), op.location:
                self._visit(op, types, attributes)
        for operation in reversed(self.replaced):
            operation.erase()
        return bool(self.replaced)

    def _visit(self, op: OpView, types, attributes) -> None:
        op.operands = [self.instead.get(value, value) for value in op.operands]
        operands = [None if value is None else self.moved.get(value) for value in op.operands]
        if op.declaration is shape.Transpose:
            self._transpose(op, types[0], attributes["axes"], operands[0])
            return
        rule = self._rule(op, operands)
        found = None if rule is None else rule(op, types, attributes, operands)
        if found is not None:
            self._replace(op, *found)

    def _rule(self, op: OpView, operands):
        if not any(operands):
            return None
        if op.declaration in (linear_algebra.Matmul, linear_algebra.Linear):
            return self._product
        if not any(moved.sinks for moved in operands if moved):
            return None
        if Elementwise in op.declaration.traits:
            return self._elementwise
        return {shape.Slice: self._slice, shape.Reshape: self._reshape}.get(op.declaration)

    def _transpose(self, op: OpView, type_, axes, moved: Moved | None) -> None:
        """A transpose of a transpose is one of the source."""
        if moved is None or not moved.sinks:
            self.moved[op.results[0]] = Moved(self.builder.node(op.operands[0], type_), tuple(axes), False)
        else:
            self._replace(op, moved.source, tuple(moved.axes[axis] for axis in axes))

    def _product(self, op: OpView, types, attributes, operands):
        """Of rows: the axis that is summed stays the last."""
        rows = operands[0]
        if rows is None or rows.axes[-1] != len(rows.axes) - 1 or types[1].rank != 2:
            return None
        others = [None if value is None else self.builder.node(value, type_) for value, type_ in zip(op.operands[1:], types[1:])]
        return self.builder.emit(op.declaration, [rows.source, *others], attributes), rows.axes

    def _elementwise(self, op: OpView, types, attributes, operands):
        """Of operands in one order, and of those that are broadcast along all axes that move."""
        rank = max(type_.rank for type_ in types if type_ is not None)
        axes = next(moved.axes for moved in operands if moved and moved.sinks)
        fixed = next((count for count, axis in enumerate(reversed(range(len(axes)))) if axes[axis] != axis), len(axes))
        nodes = []
        for value, type_, moved in zip(op.operands, types, operands):
            if moved is not None and moved.axes == axes and type_.rank == rank:
                nodes.append(moved.source)
            elif value is None or type_.rank <= fixed:
                nodes.append(None if value is None else self.builder.node(value, type_))
            else:
                return None
        return self.builder.emit(op.declaration, nodes, attributes), axes

    def _slice(self, op: OpView, types, attributes, operands):
        moved, = operands
        order = _inverse(moved.axes)
        return self.builder.emit(shape.Slice, [moved.source], {n: tuple(attributes[n][i] for i in order) for n in attributes}), moved.axes

    def _reshape(self, op: OpView, types, attributes, operands):
        """Where every axis becomes axes of its own; axes of one element go anywhere."""
        moved, = operands
        groups = _split(types[0].shape, attributes["shape"])
        if groups is None:
            return None
        order = _inverse(moved.axes)
        new = tuple(size for axis in order for size in groups[axis])
        starts, place = {}, 0
        for axis in order:
            starts[axis], place = place, place + len(groups[axis])
        axes = tuple(starts[axis] + i for axis, group in enumerate(groups) for i in range(len(group)))
        return self.builder.emit(shape.Reshape, [moved.source], {"shape": new}), axes

    def _replace(self, op: OpView, node: Node, axes: tuple[int, ...]) -> None:
        """The op's result is the transpose of the node, or the node itself."""
        old, = op.results
        stays = axes == tuple(range(len(axes)))
        value = node.value if stays else self.builder.call("transpose", node, axes=axes).value
        value = value if value.type == old.type else tensor.CastOp(old.type, value).result
        old.replace_all_uses_with(value)
        self.instead[old] = value
        if not stays:
            self.moved[value] = Moved(node, axes, True)
        self.replaced.append(op.operation)


def _inverse(axes: tuple[int, ...]) -> list[int]:
    """The axes of a transposed tensor in the order of its source."""
    return sorted(range(len(axes)), key=lambda axis: axes[axis])


def _split(before, after) -> list[tuple] | None:
    """For each axis the sizes that a reshape splits it into; None where it joins axes, or where that cannot be told."""
    groups, rest = [], list(after)
    for size in before:
        group, total = [], 1
        while rest and total != size:
            group.append(rest.pop(0))
            total = symbolic.product((total, group[-1]))
        if total != size:
            return None
        groups.append(group)
    if any(size != 1 for size in rest) or (rest and not groups):
        return None
    groups[-1:] = [groups[-1] + rest] if groups else []
    return [tuple(group) for group in groups]
