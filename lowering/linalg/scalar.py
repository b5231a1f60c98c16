"""Scalar arithmetic by dtype: one function per meaning, choosing the signed, unsigned or floating instruction."""
from __future__ import annotations

from typing import Callable

import numpy as np
from mlir import ir
from mlir.dialects import arith, math

from ...dialect import dtypes

FAST_SUM = "reassoc,contract"


class Scalar:
    """Instructions on scalars of one dtype. For f16 and bf16 the scalars are f32."""

    def __init__(self, build, dtype: np.dtype):
        self.build = build
        self.dtype = dtype
        self.floating = dtypes.is_floating(dtype)
        self.unsigned = dtype in dtypes.UNSIGNED or dtype == dtypes.bool_

    def const(self, value) -> ir.Value:
        from .builder import compute_dtype

        return self.build.constant(value, compute_dtype(self.dtype))

    def _pick(self, floating, signed, unsigned=None) -> Callable:
        op = floating if self.floating else (unsigned or signed) if self.unsigned else signed
        return lambda *a: op(*a).result

    def add(self, a, b):
        return self._pick(arith.AddFOp, arith.AddIOp)(a, b)

    def sum(self, a, b):
        """Addition whose order may change, for reductions."""
        if self.floating:
            return arith.AddFOp(a, b, fastmath=ir.Attribute.parse(f"#arith.fastmath<{FAST_SUM}>")).result
        return arith.AddIOp(a, b).result

    def product(self, a, b):
        """Multiplication whose order may change, for reductions."""
        if self.floating:
            return arith.MulFOp(a, b, fastmath=ir.Attribute.parse(f"#arith.fastmath<{FAST_SUM}>")).result
        return arith.MulIOp(a, b).result

    def subtract(self, a, b):
        return self._pick(arith.SubFOp, arith.SubIOp)(a, b)

    def multiply(self, a, b):
        return self._pick(arith.MulFOp, arith.MulIOp)(a, b)

    def maximum(self, a, b):
        return self._pick(arith.MaximumFOp, arith.MaxSIOp, arith.MaxUIOp)(a, b)

    def minimum(self, a, b):
        return self._pick(arith.MinimumFOp, arith.MinSIOp, arith.MinUIOp)(a, b)

    def negative(self, a):
        return arith.NegFOp(a).result if self.floating else arith.SubIOp(self.const(0), a).result

    def select(self, condition, a, b):
        return arith.SelectOp(condition, a, b).result

    def compare(self, sign: str, a, b) -> ir.Value:
        """eq, ne, lt, le, gt or ge as i1; comparisons with NaN are false, `ne` is true."""
        if self.floating:
            name = {"eq": "OEQ", "ne": "UNE", "lt": "OLT", "le": "OLE", "gt": "OGT", "ge": "OGE"}[sign]
            return arith.CmpFOp(getattr(arith.CmpFPredicate, name), a, b).result
        prefix = "" if sign in ("eq", "ne") else "u" if self.unsigned else "s"
        return arith.CmpIOp(getattr(arith.CmpIPredicate, prefix + sign), a, b).result

    def isnan(self, a):
        return arith.CmpFOp(arith.CmpFPredicate.UNO, a, a).result

    # Integer division: a zero divisor gives 0, the smallest number divided by -1 wraps.
    def _safe_divide(self, a, b, divide: Callable, if_minus_one: Callable | None):
        zero, one = self.const(0), self.const(1)
        is_zero = self.compare("eq", b, zero)
        special = is_zero
        if not self.unsigned:
            minus = self.compare("eq", b, self.const(-1))
            special = arith.OrIOp(is_zero, minus).result
        result = divide(a, self.select(special, one, b))
        if not self.unsigned:
            result = self.select(minus, if_minus_one(a), result)
        return self.select(is_zero, zero, result)

    def trunc_divide(self, a, b):
        if self.floating:
            return math.TruncOp(arith.DivFOp(a, b).result).result
        divide = self._pick(None, arith.DivSIOp, arith.DivUIOp)
        return self._safe_divide(a, b, divide, self.negative)

    def fmod(self, a, b):
        if self.floating:
            return arith.RemFOp(a, b).result
        return self._safe_divide(a, b, self._pick(None, arith.RemSIOp, arith.RemUIOp), lambda _: self.const(0))

    def remainder(self, a, b):
        """The sign of the divisor."""
        rest = self.fmod(a, b)
        if self.unsigned:
            return rest
        zero = self.const(0)
        differs = arith.XOrIOp(self.compare("lt", rest, zero), self.compare("lt", b, zero)).result
        adjust = arith.AndIOp(self.compare("ne", rest, zero), differs).result
        fixed = self.select(adjust, self.add(rest, b), rest)
        if not self.floating:
            return fixed
        signed_zero = math.CopySignOp(zero, b).result
        return self.select(self.compare("eq", rest, zero), signed_zero, fixed)

    def floor_divide(self, a, b):
        if self.floating:
            return self._floor_divide_float(a, b)
        if self.unsigned:
            return self.trunc_divide(a, b)
        quotient, rest, zero = self.trunc_divide(a, b), self.fmod(a, b), self.const(0)
        differs = arith.XOrIOp(self.compare("lt", rest, zero), self.compare("lt", b, zero)).result
        adjust = arith.AndIOp(self.compare("ne", rest, zero), differs).result
        return self.select(adjust, arith.SubIOp(quotient, self.const(1)).result, quotient)

    def _floor_divide_float(self, a, b):
        """numpy's: (a - fmod) / b, less 1 where the signs differ, rounded to the nearest integer; a / b where b is 0."""
        zero, rest = self.const(0), arith.RemFOp(a, b).result
        exact = arith.DivFOp(arith.SubFOp(a, rest).result, b).result
        differs = arith.XOrIOp(self.compare("lt", rest, zero), self.compare("lt", b, zero)).result
        below = arith.AndIOp(self.compare("ne", rest, zero), differs).result
        exact = self.select(below, arith.SubFOp(exact, self.const(1)).result, exact)
        lower = math.FloorOp(exact).result
        off = arith.CmpFOp(arith.CmpFPredicate.OGT, arith.SubFOp(exact, lower).result, self.const(0.5)).result
        rounded = self.select(off, self.add(lower, self.const(1)), lower)
        signed = self.select(self.compare("eq", rounded, zero), math.CopySignOp(zero, arith.DivFOp(a, b).result).result, rounded)
        return self.select(self.compare("eq", b, zero), arith.DivFOp(a, b).result, signed)

    # Bounds of the dtype.
    def lowest(self):
        """The start of a maximum: -inf, or the smallest integer."""
        if self.floating:
            return self.const(-np.inf)
        return self.const(0 if self.unsigned else np.iinfo(self.dtype).min)

    def highest(self):
        """The start of a minimum: inf, or the largest integer."""
        if self.floating:
            return self.const(np.inf)
        return self.const(1 if self.dtype == dtypes.bool_ else np.iinfo(self.dtype).max)


def cast(build, value: ir.Value, source: np.dtype, target: np.dtype) -> ir.Value:
    """A scalar of `source` as `target`; f16 and bf16 scalars are f32 on both sides."""
    from .builder import compute_dtype, element_type

    if source == target:
        return value
    s, t = Scalar(build, source), Scalar(build, target)
    type = element_type(compute_dtype(target))
    if target == dtypes.bool_:
        return s.compare("ne", value, s.const(0))
    if s.floating and t.floating:
        source_type = value.type
        width = lambda x: 64 if x == ir.F64Type.get() else 32
        if width(source_type) == width(type):
            return value
        if target == dtypes.float16:
            value = _to_odd(build, value)
        return (arith.ExtFOp if width(type) > width(source_type) else arith.TruncFOp)(type, value).result
    if s.floating:
        return _float_to_int(build, value, s, target, type)
    if t.floating:
        return (arith.UIToFPOp if s.unsigned else arith.SIToFPOp)(type, value).result
    bits = lambda d: 1 if d == dtypes.bool_ else d.itemsize * 8
    if bits(source) == bits(target):
        return value
    if bits(source) > bits(target):
        return arith.TruncIOp(type, value).result
    return (arith.ExtUIOp if s.unsigned else arith.ExtSIOp)(type, value).result


def _to_odd(build, value: ir.Value) -> ir.Value:
    """An f64 cut to the digits of f32, the last of them 1 where any was cut off: rounded from there, f16 is as if rounded from the f64.

    bf16 is rounded from f32, as numpy (ml_dtypes) and torch round it. Source: Boldo and Melquiond 2008, rounding to odd.
    """
    bits = Scalar(build, dtypes.int64)
    word = arith.BitcastOp(ir.IntegerType.get_signless(64), value).result
    cut = bits.const((1 << 29) - 1)  # f64 has 29 digits more
    is_exact = bits.compare("eq", arith.AndIOp(word, cut).result, bits.const(0))
    odd = arith.OrIOp(arith.AndIOp(word, bits.const(-1 << 29)).result, bits.const(1 << 29)).result
    return arith.BitcastOp(ir.F64Type.get(), bits.select(is_exact, word, odd)).result


def _float_to_int(build, value, s: Scalar, target: np.dtype, type: ir.Type):
    """Truncation that saturates; NaN gives 0."""
    info = np.iinfo(target)
    if info.bits < 24:  # all of its numbers are floats
        return _clipped_to_int(build, value, s, target, type)
    low = s.compare("ge", math.TruncOp(value).result, s.const(float(info.min)))
    high = s.compare("lt", math.TruncOp(value).result, s.const(float(info.max + 1)))
    inside = arith.AndIOp(low, high).result
    safe = s.select(inside, value, s.const(0))
    plain = (arith.FPToUIOp if target in dtypes.UNSIGNED else arith.FPToSIOp)(type, safe).result
    ends = arith.SelectOp(s.compare("lt", value, s.const(0)), build.constant(info.min, target), build.constant(info.max, target)).result
    outside = arith.SelectOp(s.isnan(value), build.constant(0, target), ends).result
    return arith.SelectOp(inside, plain, outside).result


def _clipped_to_int(build, value, s: Scalar, target: np.dtype, type: ir.Type):
    """The same by a clip before it, which is an instruction for each end."""
    low, high = (s.const(float(end)) for end in (np.iinfo(target).min, np.iinfo(target).max))
    above = s.select(s.compare("gt", value, low), value, low)
    inside = s.select(s.compare("lt", above, high), above, high)
    if target not in dtypes.UNSIGNED:
        inside = s.select(s.isnan(value), s.const(0), inside)
    word = arith.FPToSIOp(ir.IntegerType.get_signless(32), inside).result
    return arith.TruncIOp(type, word).result
