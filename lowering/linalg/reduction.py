"""Lowerings of reductions."""
from __future__ import annotations

from typing import Sequence

from mlir import ir
from mlir.dialects import arith, linalg

from ...dialect import dtypes
from ...dialect.ops import reduction as om
from ...dialect.symbolic import less_equal
from ..decompositions.reduction import MAY_BE_EMPTY
from .builder import compute_dtype, PARALLEL, REDUCTION
from .registry import lowers, TensorValue
from .scalar import cast, Scalar

SHORT = 64  # elements of a row that are not worth a result of their own


def converted(build, x: TensorValue, dtype) -> TensorValue:
    """x elementwise as `dtype`, the dtype of the accumulator."""
    if x.dtype == dtype:
        return x
    type = x.type.with_dtype(dtype)
    return TensorValue(build.elementwise([x], type, lambda v: cast(build, v, x.dtype, dtype)), type)


def fold(build, op, start: str | float, body: str):
    """Reduce in the accumulator's dtype (f32 for f16 and bf16), then convert to the result's."""
    wide = compute_dtype(op.result.dtype)
    x = converted(build, op.x, wide)
    scalar = Scalar(build, wide)
    first = getattr(scalar, start)() if isinstance(start, str) else scalar.const(start)
    type = op.result.with_dtype(wide)
    value = build.reduce(x, op.axis, op.keepdims, type, first, getattr(scalar, body))
    return converted(build, TensorValue(value, type), op.result.dtype).value


def extreme(build, op, start: str, body: str):
    """`fold`; where all elements are reduced, rows first, as rows may run on all threads. In which order does not matter here."""
    x = op.x
    if len(op.axis) < x.rank or x.rank < 2 or less_equal(x.shape[-1], SHORT) is True:
        return fold(build, op, start, body)
    scalar = Scalar(build, compute_dtype(x.dtype))
    wide = converted(build, x, compute_dtype(x.dtype))
    first, step = getattr(scalar, start)(), getattr(scalar, body)
    rows = wide.type.with_shape(x.shape[:-1])
    best = TensorValue(build.reduce(wide, (x.rank - 1,), False, rows, first, step), rows)
    type = op.result.with_dtype(wide.dtype)
    value = build.reduce(best, tuple(range(x.rank - 1)), False, type.with_shape(()), first, step)
    value = build.reshape(value, type.with_shape(()), type)
    return converted(build, TensorValue(value, type), op.result.dtype).value


@lowers(om.Sum)
def sum_(build, op):
    return fold(build, op, 0, "sum")


@lowers(om.Max)
def max_(build, op):
    if MAY_BE_EMPTY not in op.operation.attributes:
        refuse_empty(build, "max", op.x, op.axis)
    return extreme(build, op, "lowest", "maximum")


@lowers(om.Min)
def min_(build, op):
    refuse_empty(build, "min", op.x, op.axis)
    return extreme(build, op, "highest", "minimum")


@lowers(om.Prod)
def prod(build, op):
    return fold(build, op, 1, "product")


@lowers(om.Any)
def any_(build, op):
    return build.reduce(op.x, op.axis, op.keepdims, op.result, build.constant(0, op.x.dtype), lambda x, y: arith.OrIOp(x, y).result)


@lowers(om.All)
def all_(build, op):
    return build.reduce(op.x, op.axis, op.keepdims, op.result, build.constant(1, op.x.dtype), lambda x, y: arith.AndIOp(x, y).result)


def refuse_empty(build, name: str, x: TensorValue, axes: Sequence[int]) -> None:
    """Refuse the run when a reduced axis is empty."""
    for axis in axes:
        if less_equal(1, x.shape[axis]) is True:
            continue
        size = arith.IndexCastOp(ir.IntegerType.get_signless(64), build.size(x.shape[axis])).result
        zero = Scalar(build, dtypes.int64).const(0)
        build.check(Scalar(build, dtypes.int64).compare("gt", size, zero), "ShapeError", f"{name} over axis {axis}, which is empty: there is no result")


@lowers(om.Argmax)
def argmax(build, op):
    return position_of_extreme(build, op, "argmax", "lowest", "gt")


@lowers(om.Argmin)
def argmin(build, op):
    return position_of_extreme(build, op, "argmin", "highest", "lt")


def position_of_extreme(build, op, name: str, start: str, better: str):
    """Fold pairs of an element and its position; the first of equals stays, a NaN is better than every number."""
    refuse_empty(build, name, op.x, (op.axis,))
    x, axis = op.x, op.axis
    scalar, number = Scalar(build, x.dtype), Scalar(build, dtypes.int64)
    flat = x.type.with_shape(size for a, size in enumerate(x.shape) if a != axis)
    access = ir.AffineMap.get(x.rank, 0, [ir.AffineExpr.get_dim(a) for a in range(x.rank) if a != axis])
    inits = [build.filled(flat, build.narrow(getattr(scalar, start)(), x.dtype)), build.filled(flat.with_dtype(dtypes.int64), number.const(-1))]

    def body(element, best, place):
        new, old = build.widen(element, x.dtype), build.widen(best, x.dtype)
        here = arith.IndexCastOp(ir.IntegerType.get_signless(64), linalg.IndexOp(axis).result).result
        take = arith.OrIOp(scalar.compare(better, new, old), number.compare("lt", place, number.const(0))).result
        if scalar.floating:
            old_is_number = scalar.compare("eq", old, old)
            take = arith.OrIOp(take, arith.AndIOp(scalar.isnan(new), old_is_number).result).result
        return [scalar.select(take, element, best), scalar.select(take, here, place)]
    iterators = [REDUCTION if a == axis else PARALLEL for a in range(x.rank)]
    _, places = build.generic_many([x.value], [ir.AffineMap.get_identity(x.rank)], inits, [access, access], body, iterators)
    return build.reshape(places, flat.with_dtype(dtypes.int64), op.result)
