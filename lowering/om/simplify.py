"""`om-simplify`: ops that do nothing, that undo each other, or that are one op in two steps.

    %0 = "om.transpose"(%x) {axes = array<i64: 1, 0>}
    %1 = "om.transpose"(%0) {axes = array<i64: 1, 0>}    ->   %x

No rule changes a bit of a result, signed zeros and NaNs included.
"""
from __future__ import annotations

import numpy as np
from mlir import ir

from ...dialect import dtypes
from ...dialect.build import create, OpView, view
from ...dialect.ops import activation, elementwise, shape
from ...dialect.ops.elementwise import Cast
from .fold import is_literal, literal
from .patterns import rewrites, Rewriter


def one_open_axis(type_: ir.Type) -> bool:
    """Whether at most one size is known only at run time and none is 0: the number of elements then tells it."""
    shaped = ir.RankedTensorType(type_)
    sizes = [None if shaped.is_dynamic_dim(i) else shaped.get_dim_size(i) for i in range(shaped.rank)]
    return sizes.count(None) <= 1 and (None not in sizes or 0 not in sizes)


@rewrites(shape.Reshape)
def reshape_to_itself(op: OpView, rewriter: Rewriter):
    x = op.operand("x")
    return x if x.type == op.results[0].type and one_open_axis(x.type) else None


@rewrites(shape.Reshape)
def reshape_of_reshape(op: OpView, rewriter: Rewriter):
    inner = rewriter.producer(op.operand("x"), shape.Reshape)
    return None if inner is None else _again(op, inner.operand("x"), op.attributes)


def _again(op: OpView, x: ir.Value, attributes: dict) -> ir.Value:
    """The op on another operand."""
    return create(op.declaration, [x], attributes, [op.results[0].type], op.sizes).results[0]


@rewrites(shape.Transpose)
def transpose_to_itself(op: OpView, rewriter: Rewriter):
    axes = op.attributes["axes"]
    return op.operand("x") if tuple(axes) == tuple(range(len(axes))) else None


@rewrites(shape.Transpose)
def transpose_of_transpose(op: OpView, rewriter: Rewriter):
    inner = rewriter.producer(op.operand("x"), shape.Transpose)
    if inner is None:
        return None
    return _again(op, inner.operand("x"), {"axes": tuple(inner.attributes["axes"][axis] for axis in op.attributes["axes"])})


@rewrites(shape.BroadcastTo)
def broadcast_to_itself(op: OpView, rewriter: Rewriter):
    x = op.operand("x")
    return x if x.type == op.results[0].type and ir.RankedTensorType(x.type).has_static_shape else None


@rewrites(shape.Slice)
def slice_of_everything(op: OpView, rewriter: Rewriter):
    x = op.operand("x")
    whole = all(start == 0 for start in op.attributes["starts"]) and all(step == 1 for step in op.attributes["steps"])
    return x if whole and x.type == op.results[0].type and ir.RankedTensorType(x.type).has_static_shape else None


@rewrites(shape.Concat)
def concat_of_one(op: OpView, rewriter: Rewriter):
    return op.operands[0] if len(op.operands) == 1 else None


@rewrites(shape.Concat)
def concat_of_joined(op: OpView, rewriter: Rewriter):
    """What another concat before has joined is not joined again: dense blocks, whose layers each join all that came before."""
    earlier = [other for other in _other_concats(op) if list(other.operands) == list(op.operands)[:len(other.operands)]]
    if not earlier:
        return None
    longest = max(earlier, key=lambda other: len(other.operands))
    rest = list(op.operands)[len(longest.operands):]
    return create(op.declaration, [longest.results[0], *rest], op.attributes, [op.results[0].type]).results[0]


def _other_concats(op: OpView) -> list[OpView]:
    """Shorter concats of the first operand along the same axis, before the op in its block."""
    users = [view(use.owner.operation) for use in op.operands[0].uses]
    return [other for other in users if other is not None and other.declaration is shape.Concat and 1 < len(other.operands) < len(op.operands)
            and other.attributes == op.attributes and other.operation.block == op.operation.block
            and other.operation.is_before_in_block(op.operation)]


@rewrites(shape.PadConstant, shape.Pad)
def pad_by_nothing(op: OpView, rewriter: Rewriter):
    return op.operand("x") if not any(op.attributes["low"]) and not any(op.attributes["high"]) else None


@rewrites(Cast)
def cast_to_itself(op: OpView, rewriter: Rewriter):
    x = op.operand("x")
    return x if x.type == op.results[0].type else None


@rewrites(Cast)
def cast_there_and_back(op: OpView, rewriter: Rewriter):
    inner = rewriter.producer(op.operand("x"), Cast)
    if inner is None or inner.operand("x").type != op.results[0].type:
        return None
    return inner.operand("x") if holds(element_dtype(op.operand("x")), element_dtype(op.results[0])) else None


def element_dtype(value: ir.Value) -> np.dtype:
    return dtypes.FROM_MLIR_NAME[str(ir.RankedTensorType(value.type).element_type)]


def holds(wide: np.dtype, narrow: np.dtype) -> bool:
    """Whether every value of `narrow` is one of `wide`, of the same kind of number."""
    if dtypes.is_floating(wide) and dtypes.is_floating(narrow):
        return wide == narrow or (wide.itemsize > narrow.itemsize)
    return wide.kind in "iu" and narrow.kind in "iu" and np.can_cast(narrow, wide, "safe")


@rewrites(elementwise.Negative, elementwise.BitwiseNot, elementwise.LogicalNot)
def twice_is_nothing(op: OpView, rewriter: Rewriter):
    inner = rewriter.producer(op.operands[0], op.declaration)
    return inner.operands[0] if inner is not None and inner.operands[0].type == op.results[0].type else None


@rewrites(elementwise.Abs, elementwise.Floor, elementwise.Ceil, elementwise.Trunc, elementwise.Round, activation.Relu)
def twice_is_once(op: OpView, rewriter: Rewriter):
    inner = rewriter.producer(op.operands[0], op.declaration)
    return op.operands[0] if inner is not None and inner.attributes == op.attributes else None


@rewrites(elementwise.Multiply)
def times_one(op: OpView, rewriter: Rewriter):
    return _without_neutral(op, 1, either=True)


@rewrites(elementwise.Divide)
def divided_by_one(op: OpView, rewriter: Rewriter):
    return _without_neutral(op, 1, either=False)


@rewrites(elementwise.Subtract)
def minus_zero(op: OpView, rewriter: Rewriter):
    return _without_neutral(op, 0, either=False)


@rewrites(elementwise.Add)
def plus_zero(op: OpView, rewriter: Rewriter):
    """Of integers: -0.0 + 0.0 is 0.0."""
    return None if dtypes.is_floating(element_dtype(op.results[0])) else _without_neutral(op, 0, either=True)


def _without_neutral(op: OpView, neutral: int, either: bool) -> ir.Value | None:
    """The operand that the result equals, when the right (or either) one is a literal of nothing but the neutral element."""
    left, right = op.operands
    if left.type == op.results[0].type and _is_all(right, neutral):
        return left
    return right if either and right.type == op.results[0].type and _is_all(left, neutral) else None


def _is_all(value: ir.Value, number: int) -> bool:
    if not is_literal(value):
        return False
    array = literal(value)
    return bool(np.all(array == number)) and not np.any(np.signbit(array) if np.issubdtype(array.dtype, np.floating) else False)
