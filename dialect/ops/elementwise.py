"""Ops that work element by element: arithmetic, comparison, logic, bits, rounding, transcendental functions, selection.

Source of meanings: numpy's universal functions; integer division and remainder by zero give 0, as numpy does; overflow wraps;
shifts by the width or more give 0 (or -1 for negative numbers shifted right).
"""
from __future__ import annotations

import math

import numpy as np

from ...errors import DTypeError
from .. import dtypes
from ..attributes import DType
from ..declare import (AnyDType, Attr, BinaryOp, Boolean, Commutative, Elementwise, ElementwiseOp, Floating, FloatUnaryOp, Integer,
                       IntegerOrBool, Numeric, Operand, Pure, Quotient, Result, UnaryOp)

_COMMUTATIVE = (Pure, Elementwise, Commutative)


def quiet(function):
    """Run a numpy function without its warnings: the results for NaN, infinities and zero divisors are the defined ones."""
    def call(*args, **kwargs):
        with np.errstate(all="ignore"):
            return function(*args, **kwargs)
    call.__name__, call.__doc__ = getattr(function, "__name__", "call"), function.__doc__
    call.__wrapped__ = function
    return call


def wide(x: np.ndarray) -> np.ndarray:
    """f16 and bf16 as f32, in which functions of several steps are computed."""
    return x.astype(np.float32) if dtypes.is_floating(x.dtype) and x.dtype.itemsize == 2 else x


def rounded_once(function):
    """Compute in f32 where the arrays are f16 or bf16, and give back the first array's dtype; without warnings."""
    def call(*arrays, **fields):
        operands = {name: wide(v) if isinstance(v, np.ndarray) else v for name, v in fields.items()}
        first = next(v for v in (*arrays, *fields.values()) if isinstance(v, (np.ndarray, np.generic)))
        with np.errstate(all="ignore"):
            return np.asarray(function(*map(wide, arrays), **operands)).astype(first.dtype)
    call.__name__, call.__doc__ = getattr(function, "__name__", "call"), function.__doc__
    return call


class Add(BinaryOp):
    """x + y."""

    traits = _COMMUTATIVE
    reference = staticmethod(quiet(lambda x, y: x + y))


class Subtract(BinaryOp):
    """x - y."""

    reference = staticmethod(quiet(lambda x, y: x - y))


class Multiply(BinaryOp):
    """x * y."""

    traits = _COMMUTATIVE
    reference = staticmethod(quiet(lambda x, y: x * y))


class Divide(BinaryOp):
    """x / y, true division. Integers are converted to f64 first, as numpy does."""

    x: Operand[Quotient, "T"]
    y: Operand[Quotient, "T"]
    reference = staticmethod(quiet(lambda x, y: x / y))


class FloorDivide(BinaryOp):
    """floor(x / y); 0 for integers divided by zero."""

    reference = staticmethod(quiet(lambda x, y: np.floor_divide(x, y)))


class Remainder(BinaryOp):
    """Python's ``%``: the sign is the divisor's. 0 for integers divided by zero."""

    reference = staticmethod(quiet(lambda x, y: np.remainder(x, y)))


class Fmod(BinaryOp):
    """C's remainder: the sign is the dividend's. 0 for integers divided by zero."""

    reference = staticmethod(quiet(lambda x, y: np.fmod(x, y)))


class TruncDivide(BinaryOp):
    """x / y rounded towards zero, as C divides integers; 0 for integers divided by zero."""

    def reference(x, y):
        with np.errstate(all="ignore"):
            if np.issubdtype(x.dtype, np.integer):
                quotient = np.floor_divide(x, y)
                inexact = (np.remainder(x, y) != 0) & ((x < 0) != (y < 0)) & (y != 0)
                return quotient + inexact.astype(x.dtype)
            return np.trunc(x / y)


class Pow(BinaryOp):
    """x ** y. Integers raised to a negative power give 0, or the exact ±1."""

    def reference(x, y):
        with np.errstate(all="ignore"):
            if x.dtype.kind in "iu":
                return _integer_power(x, y)
            return np.power(x, y)


def _integer_power(x, y):
    safe = np.power(x, np.maximum(y, 0))
    if y.dtype.kind == "u":
        return safe
    unit = np.where(x == 1, 1, np.where(x == -1, np.where(y % 2 == 0, 1, -1), 0)) if x.dtype.kind == "i" else (x == 1)
    return np.where(y < 0, unit, safe).astype(x.dtype)


class Maximum(BinaryOp):
    """The larger of x and y; NaN when either is NaN."""

    traits = _COMMUTATIVE
    reference = staticmethod(quiet(np.maximum))


class Minimum(BinaryOp):
    """The smaller of x and y; NaN when either is NaN."""

    traits = _COMMUTATIVE
    reference = staticmethod(quiet(np.minimum))


class Atan2(BinaryOp):
    """The angle of the point (y, x) with the quadrant of both: atan2(x1, x2) of the array API."""

    x: Operand[Floating, "T"]
    y: Operand[Floating, "T"]
    reference = staticmethod(quiet(np.arctan2))


class Copysign(BinaryOp):
    """|x| with the sign of y, also where y is a zero or NaN."""

    x: Operand[Floating, "T"]
    y: Operand[Floating, "T"]
    reference = staticmethod(quiet(np.copysign))


class Comparison(ElementwiseOp, abstract=True):
    """Base of comparisons: operands of one dtype, a bool result."""

    x: Operand[AnyDType, "T"]
    y: Operand[AnyDType, "T"]
    result: Result
    result_dtype = dtypes.bool_


class Equal(Comparison):
    """x == y; false where either is NaN."""

    traits = _COMMUTATIVE
    reference = staticmethod(np.equal)


class NotEqual(Comparison):
    """x != y; true where either is NaN."""

    traits = _COMMUTATIVE
    reference = staticmethod(np.not_equal)


class Less(Comparison):
    """x < y; false where either is NaN."""

    reference = staticmethod(quiet(np.less))


class LessEqual(Comparison):
    """x <= y; false where either is NaN."""

    reference = staticmethod(quiet(np.less_equal))


class Greater(Comparison):
    """x > y; false where either is NaN."""

    reference = staticmethod(quiet(np.greater))


class GreaterEqual(Comparison):
    """x >= y; false where either is NaN."""

    reference = staticmethod(quiet(np.greater_equal))


class Logical(ElementwiseOp, abstract=True):
    """Base of logic on bool operands."""

    x: Operand[Boolean, "T"]
    y: Operand[Boolean, "T"]
    result: Result
    traits = _COMMUTATIVE


class LogicalAnd(Logical):
    """x and y."""

    reference = staticmethod(np.logical_and)


class LogicalOr(Logical):
    """x or y."""

    reference = staticmethod(np.logical_or)


class LogicalXor(Logical):
    """x or y, not both."""

    reference = staticmethod(np.logical_xor)


class LogicalNot(ElementwiseOp):
    """not x."""

    x: Operand[Boolean]
    result: Result
    reference = staticmethod(np.logical_not)


class Bitwise(ElementwiseOp, abstract=True):
    """Base of bit operations on integers or bool."""

    x: Operand[IntegerOrBool, "T"]
    y: Operand[IntegerOrBool, "T"]
    result: Result
    traits = _COMMUTATIVE


class BitwiseAnd(Bitwise):
    """x & y."""

    reference = staticmethod(np.bitwise_and)


class BitwiseOr(Bitwise):
    """x | y."""

    reference = staticmethod(np.bitwise_or)


class BitwiseXor(Bitwise):
    """x ^ y."""

    reference = staticmethod(np.bitwise_xor)


class BitwiseNot(ElementwiseOp):
    """All bits of x inverted; not x for bool."""

    x: Operand[IntegerOrBool]
    result: Result
    reference = staticmethod(np.invert)


class LeftShift(ElementwiseOp):
    """x << y; 0 when y is negative or not below the width."""

    x: Operand[Integer, "T"]
    y: Operand[Integer, "T"]
    result: Result

    def reference(x, y):
        width = x.dtype.itemsize * 8
        valid = (y >= 0) & (y < width)
        return np.where(valid, np.left_shift(x, np.where(valid, y, 0).astype(x.dtype)), 0).astype(x.dtype)


class RightShift(ElementwiseOp):
    """x >> y, arithmetic for signed; all sign bits when y is negative or not below the width."""

    x: Operand[Integer, "T"]
    y: Operand[Integer, "T"]
    result: Result

    def reference(x, y):
        width = x.dtype.itemsize * 8
        valid = (y >= 0) & (y < width)
        return np.where(valid, np.right_shift(x, np.where(valid, y, 0).astype(x.dtype)), -(x < 0).astype(x.dtype)).astype(x.dtype)


class Negative(UnaryOp):
    """-x; wraps for unsigned integers."""

    reference = staticmethod(quiet(np.negative))


class Abs(UnaryOp):
    """|x|; the smallest signed integer stays itself."""

    reference = staticmethod(quiet(np.abs))


class Sign(UnaryOp):
    """-1, 0 or 1; NaN for NaN."""

    reference = staticmethod(quiet(np.sign))


class Square(UnaryOp):
    """x * x."""

    reference = staticmethod(quiet(np.square))


class Reciprocal(FloatUnaryOp):
    """1 / x."""

    reference = staticmethod(quiet(lambda x: (1 / x).astype(x.dtype)))


class Floor(FloatUnaryOp):
    """The largest integer not above x."""

    reference = staticmethod(np.floor)


class Ceil(FloatUnaryOp):
    """The smallest integer not below x."""

    reference = staticmethod(np.ceil)


class Trunc(FloatUnaryOp):
    """x without its fraction."""

    reference = staticmethod(np.trunc)


class Round(FloatUnaryOp):
    """The nearest integer, halves to even."""

    reference = staticmethod(np.rint)


class Sqrt(FloatUnaryOp):
    """Square root; NaN for negative x."""

    reference = staticmethod(quiet(np.sqrt))


class Rsqrt(FloatUnaryOp):
    """1 / sqrt(x)."""

    reference = staticmethod(quiet(lambda x: (1 / np.sqrt(x)).astype(x.dtype)))


class Exp(FloatUnaryOp):
    """e ** x."""

    reference = staticmethod(quiet(np.exp))


class Exp2(FloatUnaryOp):
    """2 ** x."""

    reference = staticmethod(quiet(np.exp2))


class Expm1(FloatUnaryOp):
    """e ** x - 1, exact near 0."""

    reference = staticmethod(quiet(np.expm1))


class Log(FloatUnaryOp):
    """Natural logarithm; NaN for negative x, -inf for 0."""

    reference = staticmethod(quiet(np.log))


class Log2(FloatUnaryOp):
    """Logarithm to base 2."""

    reference = staticmethod(quiet(np.log2))


class Log10(FloatUnaryOp):
    """Logarithm to base 10."""

    reference = staticmethod(quiet(np.log10))


class Log1p(FloatUnaryOp):
    """log(1 + x), exact near 0."""

    reference = staticmethod(quiet(np.log1p))


class Sin(FloatUnaryOp):
    """Sine of x in radians; NaN for infinities."""

    reference = staticmethod(quiet(np.sin))


class Cos(FloatUnaryOp):
    """Cosine of x in radians; NaN for infinities."""

    reference = staticmethod(quiet(np.cos))


class Tan(FloatUnaryOp):
    """Tangent of x in radians; NaN for infinities."""

    reference = staticmethod(quiet(np.tan))


class Asin(FloatUnaryOp):
    """Inverse sine; NaN outside [-1, 1]."""

    reference = staticmethod(quiet(np.arcsin))


class Acos(FloatUnaryOp):
    """Inverse cosine; NaN outside [-1, 1]."""

    reference = staticmethod(quiet(np.arccos))


class Atan(FloatUnaryOp):
    """Inverse tangent."""

    reference = staticmethod(quiet(np.arctan))


class Sinh(FloatUnaryOp):
    """Hyperbolic sine."""

    reference = staticmethod(quiet(np.sinh))


class Cosh(FloatUnaryOp):
    """Hyperbolic cosine."""

    reference = staticmethod(quiet(np.cosh))


class Tanh(FloatUnaryOp):
    """Hyperbolic tangent."""

    reference = staticmethod(quiet(np.tanh))


class Asinh(FloatUnaryOp):
    """Inverse hyperbolic sine."""

    reference = staticmethod(quiet(np.arcsinh))


class Acosh(FloatUnaryOp):
    """Inverse hyperbolic cosine; NaN below 1."""

    reference = staticmethod(quiet(np.arccosh))


class Atanh(FloatUnaryOp):
    """Inverse hyperbolic tangent; NaN outside [-1, 1]."""

    reference = staticmethod(quiet(np.arctanh))


_erf = np.vectorize(math.erf, otypes=[np.float64])


class Erf(FloatUnaryOp):
    """The error function 2/sqrt(pi) * integral of exp(-t*t) from 0 to x."""

    def reference(x):
        return _erf(x.astype(np.float64)).astype(x.dtype) if x.size else x.copy()


_erfc = np.vectorize(math.erfc, otypes=[np.float64])


class Erfc(FloatUnaryOp):
    """1 - erf(x), exact where that is near 0."""

    def reference(x):
        return _erfc(x.astype(np.float64)).astype(x.dtype) if x.size else x.copy()


class FloatTest(ElementwiseOp, abstract=True):
    """Base of tests on one numeric operand; false for every integer."""

    x: Operand[Numeric]
    result: Result
    result_dtype = dtypes.bool_


class Isnan(FloatTest):
    """Whether x is NaN."""

    reference = staticmethod(np.isnan)


class Isinf(FloatTest):
    """Whether x is +inf or -inf."""

    reference = staticmethod(np.isinf)


class Isfinite(ElementwiseOp):
    """Whether x is neither NaN nor infinite."""

    x: Operand[Numeric]
    result: Result
    result_dtype = dtypes.bool_
    reference = staticmethod(np.isfinite)


class Where(ElementwiseOp):
    """x where condition holds, else y."""

    condition: Operand[Boolean]
    x: Operand[AnyDType, "T"]
    y: Operand[AnyDType, "T"]
    result: Result
    reference = staticmethod(lambda condition, x, y: np.where(condition, x, y))


class Cast(ElementwiseOp):
    """x converted to `dtype`. Floats to integers truncate and saturate at the range's ends, NaN becomes 0; to bool: x != 0."""

    x: Operand[AnyDType]
    dtype: Attr[DType]
    result: Result

    def infer(x, dtype):
        return x.with_dtype(dtype)

    def reference(x, dtype):
        if dtype.kind in "iu" and dtypes.is_floating(x.dtype):
            return _saturating(x, dtype)
        with np.errstate(all="ignore"):
            return x.astype(dtype)


class Bitcast(ElementwiseOp):
    """The bits of x seen as another dtype of the same width. DTypeError for another width, or bool."""

    x: Operand[Numeric]
    dtype: Attr[DType]
    result: Result

    def verify(x, dtype):
        if dtype.itemsize != x.dtype.itemsize or dtype == dtypes.bool_:
            raise DTypeError(f"bitcast: {x.dtype} has {x.dtype.itemsize * 8} bits, which cannot be seen as {dtype}")

    def infer(x, dtype):
        return x.with_dtype(dtype)

    def reference(x, dtype):
        return np.ascontiguousarray(x).view(dtype).reshape(x.shape)


def _saturating(x, dtype):
    info = np.iinfo(dtype)
    wide = np.trunc(np.nan_to_num(x.astype(np.float64), nan=0.0, posinf=np.inf, neginf=-np.inf))
    inside = (wide >= float(info.min)) & (wide < float(info.max) + (1 if info.bits < 64 else 0))
    plain = np.where(inside, wide, 0).astype(dtype)
    return np.where(inside, plain, np.where(wide < 0, info.min, info.max).astype(dtype)).astype(dtype)


OPS = (
    Add, Subtract, Multiply, Divide, FloorDivide, Remainder, Fmod, TruncDivide, Pow, Maximum, Minimum, Atan2, Copysign,
    Equal, NotEqual, Less, LessEqual, Greater, GreaterEqual, LogicalAnd, LogicalOr, LogicalXor, LogicalNot,
    BitwiseAnd, BitwiseOr, BitwiseXor, BitwiseNot, LeftShift, RightShift, Negative, Abs, Sign, Square, Reciprocal,
    Floor, Ceil, Trunc, Round, Sqrt, Rsqrt, Exp, Exp2, Expm1, Log, Log2, Log10, Log1p, Sin, Cos, Tan, Asin, Acos, Atan,
    Sinh, Cosh, Tanh, Asinh, Acosh, Atanh, Erf, Erfc, Isnan, Isinf, Isfinite, Where, Cast, Bitcast,
)
