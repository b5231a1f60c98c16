"""Ops that move elements without computing: reshape, transpose, expand, slice, concat, pad."""
from __future__ import annotations

import numpy as np

from ...errors import ShapeError
from .. import symbolic
from ..attributes import Axis, Choice, Ints, Offsets, Permutation, Shape
from ..declare import AnyDType, Attr, Composite, Op, Operand, Operands, OptionalOperand, Pure, Result
from ..shapes import broadcast_shapes, require_equal, show, TensorType


class Reshape(Op):
    """The same elements in row-major order under another shape. One size may be -1: it follows from the others."""

    x: Operand[AnyDType]
    shape: Attr[Shape]
    result: Result

    def canonical(attributes, operands):
        shape = attributes["shape"]
        shape = (shape,) if not hasattr(shape, "__iter__") else tuple(shape)
        if any(isinstance(s, int) and s == -1 for s in shape):
            shape = _complete(shape, operands[0].shape)
        return {"shape": shape}

    def infer(x, shape):
        require_equal(symbolic.product(x.shape), symbolic.product(shape),
                      f"reshape: {show(x.shape)} has {symbolic.product(x.shape)} elements, {show(shape)} has {symbolic.product(shape)}")
        return x.with_shape(shape)

    def reference(x, shape):
        return x.reshape(shape)


def _complete(shape, source):
    known = [size for size in shape if not (isinstance(size, int) and size == -1)]
    if len(known) < len(shape) - 1:
        raise ShapeError(f"reshape: more than one -1 in {show(shape)}")
    total, rest = symbolic.product(source), symbolic.product(known)
    if rest == 0 or (isinstance(total, int) and isinstance(rest, int) and total % rest):
        raise ShapeError(f"reshape: {show(source)} cannot become {show(shape)}: {total} elements do not divide by {rest}")
    missing = symbolic.floordiv(total, rest)
    return tuple(missing if isinstance(size, int) and size == -1 else size for size in shape)


class Transpose(Op):
    """The axes in another order: ``axes[i]`` is the axis of x that becomes axis i. None reverses them."""

    x: Operand[AnyDType]
    axes: Attr[Permutation] = None
    result: Result

    def infer(x, axes):
        return x.with_shape(x.shape[a] for a in axes)

    def reference(x, axes):
        return np.transpose(x, axes)


class BroadcastTo(Op):
    """x repeated along axes of size 1 (and new leading axes) to `shape`."""

    x: Operand[AnyDType]
    shape: Attr[Shape]
    result: Result

    def infer(x, shape):
        found = broadcast_shapes(x.shape, shape, what="broadcast_to: shapes")
        if len(found) != len(shape) or any(isinstance(a, int) and isinstance(b, int) and a != b for a, b in zip(found, shape)):
            raise ShapeError(f"broadcast_to: {show(x.shape)} does not broadcast to {show(shape)}")
        return x.with_shape(shape)

    def reference(x, shape):
        return np.broadcast_to(x, shape)


class Slice(Op, public=False):
    """Every `steps`-th element from `starts`, `sizes` many, along each axis: sizes and starts may be symbolic, steps may be negative."""

    x: Operand[AnyDType]
    starts: Attr[Offsets]
    shape: Attr[Shape]
    steps: Attr[Ints]
    result: Result

    def infer(x, starts, shape, steps):
        if not len(starts) == len(shape) == len(steps) == x.rank:
            raise ShapeError(f"slice: starts, shape and steps must have {x.rank} entries, found {len(starts)}, {len(shape)}, {len(steps)}")
        for axis, (size, start, count, step) in enumerate(zip(x.shape, starts, shape, steps)):
            last = start + (count - 1) * step
            if all(isinstance(v, int) for v in (size, start, count)) and count > 0 and not (0 <= start < size and 0 <= last < size):
                raise ShapeError(f"slice: axis {axis} of size {size} has no elements {start} to {last}")
        return x.with_shape(shape)

    def reference(x, starts, shape, steps):
        return x[tuple(_places(*place) for place in zip(starts, shape, steps))]


def _places(start: int, count: int, step: int) -> slice:
    stop = start + count * step
    return slice(start, None if stop < 0 else stop, step) if count else slice(0, 0)


class Concat(Op):
    """Tensors joined along an existing axis; the other sizes are equal."""

    xs: Operands[AnyDType, "T"]
    axis: Attr[Axis] = 0
    result: Result
    upstream = "tensor.concat"
    upstream_attributes = {"axis": "dim"}

    def infer(xs, axis):
        first = xs[0]
        for other in xs[1:]:
            if other.rank != first.rank:
                raise ShapeError(f"concat: ranks differ: {show(first.shape)} and {show(other.shape)}")
            for i, (a, b) in enumerate(zip(first.shape, other.shape)):
                if i != axis:
                    require_equal(a, b, f"concat: axis {i} is {a} in {show(first.shape)} but {b} in {show(other.shape)}")
        total = sum(x.shape[axis] for x in xs)
        return first.with_shape(first.shape[:axis] + (total,) + first.shape[axis + 1:])

    def reference(xs, axis):
        return np.concatenate(xs, axis=axis)


class PadConstant(Op, public=False):
    """x with `low` elements before and `high` elements after it along each axis, all of them `value` (rank 0). Sizes may be symbolic."""

    x: Operand[AnyDType, "T"]
    value: Operand[AnyDType, "T"]
    low: Attr[Shape]
    high: Attr[Shape]
    result: Result

    def infer(x, value, low, high):
        return x.with_shape(_padded_shape("pad_constant", x, value, low, high))

    def reference(x, value, low, high):
        return np.pad(x, list(zip(low, high)), constant_values=value)


def _padded_shape(opname: str, x: TensorType, value, low, high):
    if not len(low) == len(high) == x.rank:
        raise ShapeError(f"{opname}: low and high must have {x.rank} entries for x {show(x.shape)}, found {len(low)} and {len(high)}")
    if value is not None and value.rank != 0:
        raise ShapeError(f"{opname}: the value must have rank 0, found shape {show(value.shape)}")
    shape = tuple(size + a + b for size, a, b in zip(x.shape, low, high))
    if any(isinstance(size, int) and size < 0 for size in shape):
        raise ShapeError(f"{opname}: low {show(low)} and high {show(high)} crop more than x {show(x.shape)} has")
    return shape


class Pad(Op, public=False):
    """x with `low` elements before and `high` after it along each axis; negative ones crop, before anything is padded.

    mode: "constant" (`value`, zero when left out), "edge" (the nearest element), "reflect" (mirrored at the edge element, repeatedly
    when needed), "wrap" (periodic). Sizes may be symbolic. Source: numpy.pad; ONNX Pad.
    """

    x: Operand[AnyDType, "T"]
    value: OptionalOperand[AnyDType, "T"]
    low: Attr[Offsets]
    high: Attr[Offsets]
    mode: Attr[Choice("constant", "reflect", "edge", "wrap")] = "constant"
    result: Result
    traits = (Pure, Composite)

    def infer(x, value, low, high, mode):
        shape = _padded_shape("pad", x, value, low, high)
        for axis, (a, b) in enumerate(zip(low, high)):
            kept = x.shape[axis] + symbolic.minimum(a, 0) + symbolic.minimum(b, 0)
            if mode != "constant" and kept == 0 and (a, b) != (0, 0):
                raise ShapeError(f"pad: axis {axis} of x {show(x.shape)} is empty: mode {mode!r} has no element to repeat")
        return x.with_shape(shape)

    def reference(x, value, low, high, mode):
        x = x[tuple(slice(max(-a, 0), size - max(-b, 0)) for size, a, b in zip(x.shape, low, high))]
        pads = [(max(a, 0), max(b, 0)) for a, b in zip(low, high)]
        if mode == "constant":
            return np.pad(x, pads, constant_values=x.dtype.type(0) if value is None else value)
        return np.pad(x, pads, mode=mode) if any(any(p) for p in pads) else x


OPS = (Reshape, Transpose, BroadcastTo, Slice, Concat, PadConstant, Pad)
