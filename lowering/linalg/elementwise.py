"""Lowerings of elementwise ops: one scalar function per op, applied by `LinalgBuilder.elementwise`."""
from __future__ import annotations

from typing import Callable

from mlir.dialects import arith, math

from ...dialect import dtypes
from ...dialect.declare import Op
from ...dialect.ops import elementwise as om
from ...dialect.ops.activation import Relu, Sigmoid
from .builder import element_type
from .registry import lowers
from .scalar import cast, Scalar


def scalar_lowering(*ops: type[Op]) -> Callable:
    """Register ``function(scalar, *operands)`` for ops; `scalar` has the instructions for the first operand's dtype."""
    def register(function: Callable) -> Callable:
        @lowers(*ops)
        def lower(build, op):
            scalar = Scalar(build, op.tensors[0].dtype)
            return build.elementwise(op.tensors, op.result, lambda *values: function(scalar, *values))
        return function
    return register


for _op, _name in {om.Add: "add", om.Subtract: "subtract", om.Multiply: "multiply", om.Maximum: "maximum", om.Minimum: "minimum", om.Negative: "negative",
                   om.TruncDivide: "trunc_divide", om.Fmod: "fmod", om.Remainder: "remainder", om.FloorDivide: "floor_divide"}.items():
    scalar_lowering(_op)(lambda s, *values, name=_name: getattr(s, name)(*values))

for _op, _sign in {om.Equal: "eq", om.NotEqual: "ne", om.Less: "lt", om.LessEqual: "le", om.Greater: "gt", om.GreaterEqual: "ge"}.items():
    scalar_lowering(_op)(lambda s, a, b, sign=_sign: s.compare(sign, a, b))

for _op, _math in {om.Exp: math.ExpOp, om.Exp2: math.Exp2Op, om.Expm1: math.ExpM1Op, om.Log: math.LogOp, om.Log2: math.Log2Op, om.Log10: math.Log10Op,
                   om.Log1p: math.Log1pOp, om.Sin: math.SinOp, om.Cos: math.CosOp, om.Tan: math.TanOp, om.Asin: math.AsinOp, om.Acos: math.AcosOp,
                   om.Atan: math.AtanOp, om.Sinh: math.SinhOp, om.Cosh: math.CoshOp, om.Tanh: math.TanhOp, om.Asinh: math.AsinhOp, om.Acosh: math.AcoshOp,
                   om.Atanh: math.AtanhOp, om.Erf: math.ErfOp, om.Sqrt: math.SqrtOp, om.Atan2: math.Atan2Op, om.Floor: math.FloorOp, om.Ceil: math.CeilOp,
                   om.Trunc: math.TruncOp, om.Round: math.RoundEvenOp, om.Divide: arith.DivFOp, om.Copysign: math.CopySignOp,
                   om.Erfc: math.ErfcOp}.items():
    scalar_lowering(_op)(lambda s, *values, function=_math: function(*values).result)

for _op, _arith in {om.LogicalAnd: arith.AndIOp, om.LogicalOr: arith.OrIOp, om.LogicalXor: arith.XOrIOp, om.BitwiseAnd: arith.AndIOp,
                    om.BitwiseOr: arith.OrIOp, om.BitwiseXor: arith.XOrIOp}.items():
    scalar_lowering(_op)(lambda s, a, b, function=_arith: function(a, b).result)


@scalar_lowering(om.LogicalNot, om.BitwiseNot)
def invert(s, x):
    return arith.XOrIOp(x, s.const(1 if s.dtype == dtypes.bool_ else -1)).result


@scalar_lowering(om.Pow)
def power(s, x, y):
    if s.floating:
        return math.PowFOp(x, y).result
    zero, one = s.const(0), s.const(1)
    if s.unsigned:
        return _integer_power(s, x, y)
    negative = s.compare("lt", y, zero)
    plain = _integer_power(s, x, s.select(negative, zero, y))
    odd = s.compare("ne", arith.AndIOp(y, one).result, zero)
    minus = s.select(s.compare("eq", x, s.const(-1)), s.select(odd, s.const(-1), one), zero)
    return s.select(negative, s.select(s.compare("eq", x, one), one, minus), plain)


def _integer_power(s, x, y):
    """By squaring, as many steps as the dtype has bits."""
    one, zero, result = s.const(1), s.const(0), s.const(1)
    for _ in range(s.dtype.itemsize * 8):
        odd = s.compare("ne", arith.AndIOp(y, one).result, zero)
        result = s.select(odd, s.multiply(result, x), result)
        x, y = s.multiply(x, x), arith.ShRUIOp(y, one).result
    return result


@scalar_lowering(om.LeftShift)
def left_shift(s, x, y):
    width = s.dtype.itemsize * 8
    valid = arith.CmpIOp(arith.CmpIPredicate.ult, y, s.const(width)).result
    return s.select(valid, arith.ShLIOp(x, s.select(valid, y, s.const(0))).result, s.const(0))


@scalar_lowering(om.RightShift)
def right_shift(s, x, y):
    width = s.dtype.itemsize * 8
    valid = arith.CmpIOp(arith.CmpIPredicate.ult, y, s.const(width)).result
    if s.unsigned:
        return s.select(valid, arith.ShRUIOp(x, s.select(valid, y, s.const(0))).result, s.const(0))
    return arith.ShRSIOp(x, s.select(valid, y, s.const(width - 1))).result


@scalar_lowering(om.Abs)
def absolute(s, x):
    if s.floating:
        return math.AbsFOp(x).result
    return x if s.unsigned else s.select(s.compare("lt", x, s.const(0)), s.negative(x), x)


@scalar_lowering(om.Sign)
def sign(s, x):
    zero, one = s.const(0), s.const(1)
    if s.unsigned:
        return s.select(s.compare("ne", x, zero), one, zero)
    signed = s.select(s.compare("lt", x, zero), s.const(-1), s.select(s.compare("gt", x, zero), one, x if s.floating else zero))
    return signed


@scalar_lowering(om.Square)
def square(s, x):
    return s.multiply(x, x)


@scalar_lowering(om.Reciprocal)
def reciprocal(s, x):
    return arith.DivFOp(s.const(1), x).result


@scalar_lowering(om.Rsqrt)
def rsqrt(s, x):
    return arith.DivFOp(s.const(1), math.SqrtOp(x).result).result


@scalar_lowering(om.Isnan)
def isnan(s, x):
    return s.isnan(x) if s.floating else s.build.constant(0, dtypes.bool_)


@scalar_lowering(om.Isinf)
def isinf(s, x):
    if not s.floating:
        return s.build.constant(0, dtypes.bool_)
    return s.compare("eq", math.AbsFOp(x).result, s.const(float("inf")))


@scalar_lowering(om.Isfinite)
def isfinite(s, x):
    if not s.floating:
        return s.build.constant(1, dtypes.bool_)
    return s.compare("lt", math.AbsFOp(x).result, s.const(float("inf")))


@scalar_lowering(om.Where)
def where(s, condition, x, y):
    return arith.SelectOp(condition, x, y).result


@scalar_lowering(Relu)
def relu(s, x):
    return s.maximum(x, s.const(0))


@scalar_lowering(Sigmoid)
def sigmoid(s, x):
    one = s.const(1)
    return arith.DivFOp(one, arith.AddFOp(one, math.ExpOp(arith.NegFOp(x).result).result).result).result


@lowers(om.Bitcast)
def bitcast(build, op):
    """Through the stored form: f16 and bf16 are computed with as f32."""
    old, new = op.x.dtype, op.result.dtype

    def element(x):
        bits = build.narrow(x, old)
        wanted = element_type(new)
        return build.widen(bits if bits.type == wanted else arith.BitcastOp(wanted, bits).result, new)
    return build.elementwise([op.x], op.result, element)


@lowers(om.Cast)
def cast_tensor(build, op):
    return build.elementwise([op.x], op.result, lambda x: cast(build, x, op.x.dtype, op.result.dtype))
