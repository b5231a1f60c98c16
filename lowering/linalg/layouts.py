"""Which layout a convolution or a pooling reads and writes: NCHW as the op says, or NHWC where its neighbours are such ops too.

NHWC is what the kernels are fastest at. Every op stays NCHW at its ends: a lowering that works in NHWC transposes its input and its result,
and `om-propagate-layouts` moves those transpositions through the ops between two of them, where they meet and vanish. So only the border of
a chain of convolutions is transposed, or read by a kernel that takes both layouts.
"""
from __future__ import annotations

from typing import Callable, Iterable

from mlir import ir

from ...dialect.build import view
from ...dialect.declare import Elementwise
from ...dialect.ops import convolution, indexing, pooling, reduction, shape
from .registry import TensorValue

LAYOUT = "om.layout"
"""Marks a transposition between layouts, which may move."""
CHOOSERS = (convolution.Conv, convolution.ConvInteger, convolution.ConvTranspose, pooling.MaxPool)
CARRIERS = (shape.Concat, shape.Slice, shape.PadConstant, pooling.AvgPool, shape.Reshape, shape.Transpose, indexing.Gather, reduction.Sum)
"""Ops beside the elementwise ones that transpositions move through."""
REACH = 64
"""Ops that a search visits at most."""


def comes_in_nhwc(operation: ir.Operation) -> bool:
    """Whether the first operand is made, through ops that carry a layout, by an op that may choose one."""
    def producers(current: ir.Operation) -> Iterable[ir.Operation]:
        for value in current.operands:
            if isinstance(value.type, ir.RankedTensorType) and value.type.rank >= 3 and not isinstance(value.owner, ir.Block):
                yield value.owner.operation
    first = operation.operands[0]
    return not isinstance(first.owner, ir.Block) and _search([first.owner.operation], producers, first_axes)


def goes_on_in_nhwc(operation: ir.Operation) -> bool:
    """Whether the result is read, through ops that carry a layout, by an op that may choose one."""
    def users(current: ir.Operation) -> Iterable[ir.Operation]:
        return [use.owner.operation for use in current.results[0].uses]
    return _search(users(operation), users, last_axes)


def _search(start: Iterable[ir.Operation], neighbours: Callable, users_own: Callable[[int], list[int]]) -> bool:
    """Whether a chooser, or a transposition of the user's own that has the channels last on its far side, is reached."""
    waiting, seen = list(start), []
    while waiting and len(seen) < REACH:
        operation = waiting.pop()
        if any(operation == other for other in seen):
            continue
        seen.append(operation)
        op = view(operation)
        if op is None:
            continue
        if op.declaration in CHOOSERS or _folds_planes(op, operation):
            return True
        if op.declaration is shape.Transpose and list(op.attributes["axes"]) == users_own(operation.results[0].type.rank):
            return True
        if Elementwise in op.declaration.traits or op.declaration in CARRIERS:
            waiting += neighbours(operation)
    return False


def _folds_planes(op, operation: ir.Operation) -> bool:
    """Whether an op reduces all axes but the first two, as it does best with the channels last."""
    axes = op.attributes.get("axis") if op.declaration in (reduction.Sum, reduction.Max) else None
    return axes is not None and list(axes) == list(range(2, ir.RankedTensorType(operation.operands[0].type).rank))


def last_axes(rank: int) -> list[int]:
    """The axes of [n, c, ...] in the order [n, ..., c]."""
    return [0, *range(2, rank), 1]


def first_axes(rank: int) -> list[int]:
    """The axes of [n, ..., c] in the order [n, c, ...]."""
    return [0, rank - 1, *range(1, rank - 1)]


def channels_last(build, x: TensorValue) -> TensorValue:
    """[n, c, ...] as [n, ..., c]."""
    return _permuted(build, x, last_axes(x.rank))


def channels_first(build, x: TensorValue) -> TensorValue:
    """[n, ..., c] as [n, c, ...]."""
    return _permuted(build, x, first_axes(x.rank))


def _permuted(build, x: TensorValue, axes: list[int]) -> TensorValue:
    """Axis i of the result is axis axes[i] of x."""
    type = x.type.with_shape(x.shape[axis] for axis in axes)
    source = ir.AffineMap.get(x.rank, 0, [ir.AffineExpr.get_dim(axes.index(axis)) for axis in range(x.rank)])
    value = build.generic([x.value], [source], type, lambda element, _: element)
    value.owner.operation.attributes[LAYOUT] = ir.UnitAttr.get()
    return TensorValue(value, type, x.constant)
