"""Matrix products."""
from __future__ import annotations

import numpy as np

from ...errors import ShapeError
from .. import dtypes
from ..declare import Composite, DTypes, Floating, Numeric, Op, Operand, OptionalOperand, Pure, Result
from ..shapes import broadcast_shapes, require_equal, show, TensorType
from .elementwise import rounded_once


class Matmul(Op):
    """The matrix product of x (..., n, k) and y (..., k, m) over broadcast batch axes: (..., n, m).

    A rank-1 operand is a row (left) or column (right), whose axis the result does not have. Source: array API, ``matmul``.
    """

    x: Operand[Numeric, "T"]
    y: Operand[Numeric, "T"]
    result: Result

    def infer(x, y):
        if x.rank == 0 or y.rank == 0:
            raise ShapeError("matmul takes no rank-0 operand; use multiply")
        inner = y.shape[-2] if y.rank > 1 else y.shape[0]
        require_equal(x.shape[-1], inner, f"matmul: x {show(x.shape)} has {x.shape[-1]} columns but y {show(y.shape)} has {inner} rows")
        batch = broadcast_shapes(x.shape[:-2], y.shape[:-2], what="matmul: batch axes")
        return TensorType(batch + x.shape[-2:-1] + (y.shape[-1:] if y.rank > 1 else ()), x.dtype)

    def reference(x, y):
        with np.errstate(all="ignore"):
            if x.dtype.itemsize == 2 and x.dtype.kind in "fV":
                return np.matmul(x.astype(np.float32), y.astype(np.float32)).astype(x.dtype)
            return np.matmul(x, y)


Byte = DTypes("an 8-bit integer dtype", (dtypes.uint8, dtypes.int8))


class MatmulInteger(Op):
    """The matrix product of x - x_zero_point and y - y_zero_point in i32, which wraps around; shapes as for `Matmul`.

    x, y: u8 or i8 each. Zero points: one number, or x_zero_point (..., n, 1), one a row of x, and y_zero_point (m,) or (..., 1, m),
    one a column of y; zero when left out. Source: ONNX MatMulInteger.
    """

    x: Operand[Byte, "T"]
    y: Operand[Byte, "U"]
    x_zero_point: OptionalOperand[Byte, "T"]
    y_zero_point: OptionalOperand[Byte, "U"]
    result: Result

    def infer(x, y, x_zero_point, y_zero_point):
        result = Matmul.infer(x, y).with_dtype(dtypes.int32)
        _check_point("x", x, x_zero_point, -1)
        _check_point("y", y, y_zero_point, -2)
        return result

    def reference(x, y, x_zero_point, y_zero_point):
        centered = lambda v, point: v.astype(np.int32) - (0 if point is None else point.astype(np.int32))
        return np.matmul(centered(x, x_zero_point), centered(y, y_zero_point))


def _check_point(name: str, x: TensorType, point: TensorType | None, summed: int) -> None:
    """One number, or numbers that broadcast to x and are the same along the axis that is summed over."""
    if point is None or not point.rank:
        return
    fits = point.rank <= x.rank and x.rank > 1 and (point.rank < -summed or point.shape[summed] == 1)
    if not fits or any(p not in (1, size) for p, size in zip(reversed(point.shape), reversed(x.shape))):
        raise ShapeError(f"matmul_integer: {name}_zero_point must be one number or one a {'row' if name == 'x' else 'column'} of {name} "
                         f"{show(x.shape)}, found shape {show(point.shape)}")


class Linear(Op):
    """x @ weight.T + bias, torch's linear: x (..., in), weight (out, in), bias (out,); result (..., out)."""

    x: Operand[Floating, "T"]
    weight: Operand[Floating, "T"]
    bias: OptionalOperand[Floating, "T"]
    result: Result
    traits = (Pure, Composite)

    def infer(x, weight, bias):
        if x.rank == 0 or weight.rank != 2:
            raise ShapeError(f"linear: weight must be (out, in) and x (..., in), found {show(weight.shape)} and {show(x.shape)}")
        require_equal(x.shape[-1], weight.shape[1], f"linear: x {show(x.shape)} has {x.shape[-1]} features "
                      f"but weight {show(weight.shape)} takes {weight.shape[1]}")
        if bias is not None:
            if bias.rank != 1:
                raise ShapeError(f"linear: bias must be (out,), found {show(bias.shape)}")
            require_equal(bias.shape[0], weight.shape[0], f"linear: bias has {bias.shape[0]} elements, weight {weight.shape[0]} rows")
        return TensorType(x.shape[:-1] + weight.shape[:1], x.dtype)

    @rounded_once
    def reference(x, weight, bias):
        product = np.matmul(x, weight.T)
        return product if bias is None else product + bias


OPS = (Matmul, MatmulInteger, Linear)
