"""Gradients of elementwise ops. At places where an op has no derivative torch's choice is taken."""
from __future__ import annotations

import math

from ...dialect.ops import elementwise as om
from ..ops.declared import declared as ops
from .registry import gradient_of, no_gradient, zero_gradient

zero_gradient(om.FloorDivide, om.TruncDivide, om.Sign, om.Floor, om.Ceil, om.Trunc, om.Round)
no_gradient("it shows the bits of its operand", om.Bitcast)


@gradient_of(om.Add)
def add(call, gradient):
    return gradient, gradient


@gradient_of(om.Subtract)
def subtract(call, gradient):
    return gradient, -gradient if call.needs("y") else None


@gradient_of(om.Multiply)
def multiply(call, gradient):
    return gradient * call.y if call.needs("x") else None, gradient * call.x if call.needs("y") else None


@gradient_of(om.Divide)
def divide(call, gradient):
    each = gradient / call.y
    return each, -each * call.result if call.needs("y") else None


@gradient_of(om.Remainder)
def remainder(call, gradient):
    return gradient, -gradient * ops.floor_divide(call.x, call.y) if call.needs("y") else None


@gradient_of(om.Fmod)
def fmod(call, gradient):
    return gradient, -gradient * ops.trunc(call.x / call.y) if call.needs("y") else None


@gradient_of(om.Pow)
def pow(call, gradient):
    x = y = None
    if call.needs("x"):
        x = ops.where(call.y == 0, 0.0, gradient * call.y * ops.pow(call.x, call.y - 1))
    if call.needs("y"):
        log = ops.log(ops.where(call.x == 0, 1.0, call.x))
        y = ops.where((call.x == 0) & (call.y >= 0), 0.0, gradient * call.result * log)
    return x, y


@gradient_of(om.Maximum)
def maximum(call, gradient):
    shared = ops.where(call.x == call.y, gradient * 0.5, gradient)
    return ops.where(call.x < call.y, 0.0, shared), ops.where(call.y < call.x, 0.0, shared) if call.needs("y") else None


@gradient_of(om.Minimum)
def minimum(call, gradient):
    shared = ops.where(call.x == call.y, gradient * 0.5, gradient)
    return ops.where(call.x > call.y, 0.0, shared), ops.where(call.y > call.x, 0.0, shared) if call.needs("y") else None


@gradient_of(om.Atan2)
def atan2(call, gradient):
    each = gradient / (call.x * call.x + call.y * call.y)
    return each * call.y, -each * call.x


@gradient_of(om.Copysign)
def copysign(call, gradient):
    return gradient * ops.sign(call.x) * ops.sign(ops.copysign(1.0, call.y)), None


@gradient_of(om.Where)
def where(call, gradient):
    return None, ops.where(call.condition, gradient, 0.0), ops.where(call.condition, 0.0, gradient) if call.needs("y") else None


@gradient_of(om.Cast)
def cast(call, gradient):
    return gradient.astype(call.x.dtype)


@gradient_of(om.Negative)
def negative(call, gradient):
    return -gradient


@gradient_of(om.Abs)
def abs(call, gradient):
    return gradient * ops.sign(call.x)


@gradient_of(om.Square)
def square(call, gradient):
    return gradient * call.x * 2


@gradient_of(om.Reciprocal)
def reciprocal(call, gradient):
    return -gradient * call.result * call.result


@gradient_of(om.Sqrt)
def sqrt(call, gradient):
    return gradient * 0.5 / call.result


@gradient_of(om.Rsqrt)
def rsqrt(call, gradient):
    return gradient * -0.5 * call.result * call.result * call.result


@gradient_of(om.Exp)
def exp(call, gradient):
    return gradient * call.result


@gradient_of(om.Exp2)
def exp2(call, gradient):
    return gradient * call.result * math.log(2)


@gradient_of(om.Expm1)
def expm1(call, gradient):
    return gradient * (call.result + 1)


@gradient_of(om.Log)
def log(call, gradient):
    return gradient / call.x


@gradient_of(om.Log2)
def log2(call, gradient):
    return gradient / (call.x * math.log(2))


@gradient_of(om.Log10)
def log10(call, gradient):
    return gradient / (call.x * math.log(10))


@gradient_of(om.Log1p)
def log1p(call, gradient):
    return gradient / (call.x + 1)


@gradient_of(om.Sin)
def sin(call, gradient):
    return gradient * ops.cos(call.x)


@gradient_of(om.Cos)
def cos(call, gradient):
    return -gradient * ops.sin(call.x)


@gradient_of(om.Tan)
def tan(call, gradient):
    return gradient * (1 + ops.square(call.result))


@gradient_of(om.Asin)
def asin(call, gradient):
    return gradient * ops.rsqrt(1 - ops.square(call.x))


@gradient_of(om.Acos)
def acos(call, gradient):
    return -gradient * ops.rsqrt(1 - ops.square(call.x))


@gradient_of(om.Atan)
def atan(call, gradient):
    return gradient / (1 + ops.square(call.x))


@gradient_of(om.Sinh)
def sinh(call, gradient):
    return gradient * ops.cosh(call.x)


@gradient_of(om.Cosh)
def cosh(call, gradient):
    return gradient * ops.sinh(call.x)


@gradient_of(om.Tanh)
def tanh(call, gradient):
    return gradient * (1 - ops.square(call.result))


@gradient_of(om.Asinh)
def asinh(call, gradient):
    return gradient * ops.rsqrt(ops.square(call.x) + 1)


@gradient_of(om.Acosh)
def acosh(call, gradient):
    return gradient * ops.rsqrt(ops.square(call.x) - 1)


@gradient_of(om.Atanh)
def atanh(call, gradient):
    return gradient / (1 - ops.square(call.x))


@gradient_of(om.Erf)
def erf(call, gradient):
    return gradient * ops.exp(-ops.square(call.x)) * (2 / math.sqrt(math.pi))


@gradient_of(om.Erfc)
def erfc(call, gradient):
    return gradient * ops.exp(-ops.square(call.x)) * (-2 / math.sqrt(math.pi))
