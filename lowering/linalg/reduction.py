"""Lowerings of reductions."""
from __future__ import annotations

from ...dialect.ops import reduction as om
from ...dialect.shapes import TensorType
from .builder import compute_dtype
from .registry import lowers, TensorValue
from .scalar import cast, Scalar


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


@lowers(om.Sum)
def sum_(build, op):
    return fold(build, op, 0, "sum")


@lowers(om.Max)
def max_(build, op):
    return fold(build, op, "lowest", "maximum")


@lowers(om.Min)
def min_(build, op):
    return fold(build, op, "highest", "minimum")
