"""Elementwise functions."""
from __future__ import annotations

import numpy as np

from ....dialect import dtypes
from ... import ops
from ...tensor import Tensor
from ..dtypes import is_floating, result_dtype, to_numpy_dtype
from ..registry import HANDLERS, Handler, handles
from .values import as_dtype, floating, promoted, tensor_of

# torch's name -> ours, for functions of one tensor that is made floating first.
UNARY_FLOAT = {n: n for n in (
    "acos", "acosh", "asin", "asinh", "atan", "atanh", "cos", "cosh", "erf", "erfc", "exp", "exp2", "expm1", "log", "log10", "log1p", "log2",
    "reciprocal", "rsqrt", "sigmoid", "sin", "sinh", "sqrt", "tan", "tanh")}
UNARY_FLOAT |= {f"arc{n[1:]}": n for n in ("acos", "acosh", "asin", "asinh", "atan", "atanh")} | {"special_expit": "sigmoid", "special_erf": "erf",
                "special_erfc": "erfc", "special_exp2": "exp2", "special_expm1": "expm1", "special_log1p": "log1p", "F.sigmoid": "sigmoid", "F.tanh": "tanh"}  # fmt: skip
UNARY = {"abs": "abs", "absolute": "abs", "neg": "negative", "negative": "negative", "floor": "floor", "ceil": "ceil",
         "trunc": "trunc", "fix": "trunc", "positive": "positive", "signbit": "signbit", "bitwise_not": "bitwise_not", "logical_not": "logical_not"}
COMPARISON = {"eq": "equal", "ne": "not_equal", "not_equal": "not_equal", "lt": "less", "less": "less", "le": "less_equal", "less_equal": "less_equal",
              "gt": "greater", "greater": "greater", "ge": "greater_equal", "greater_equal": "greater_equal"}
BINARY = {"mul": "multiply", "multiply": "multiply", "maximum": "maximum", "minimum": "minimum", "fmod": "fmod", "remainder": "remainder",
          "bitwise_and": "bitwise_and", "bitwise_or": "bitwise_or", "bitwise_xor": "bitwise_xor", "bitwise_left_shift": "left_shift",
          "bitwise_right_shift": "right_shift", "floor_divide": "floor_divide"}
BINARY_FLOAT = {"atan2": "atan2", "arctan2": "atan2", "copysign": "copysign", "hypot": "hypot", "logaddexp": "logaddexp", "true_divide": "divide"}
LOGICAL = ("logical_and", "logical_or", "logical_xor")


def _unary(ours: str, convert):
    return lambda input: getattr(ops, ours)(convert(input)[0])


def _binary(ours: str, convert):
    def handler(input, other):
        return apply_binary(ours, *convert(input, other)) if _known(other) and _known(input) else NotImplemented
    return handler


# Arithmetic of booleans, which the dialect does not have.
OF_BOOLEANS = {"add": "logical_or", "multiply": "logical_and", "maximum": "logical_or", "minimum": "logical_and"}


def apply_binary(ours: str, x: Tensor, y: Tensor) -> Tensor:
    """A function of two tensors of one dtype."""
    return getattr(ops, OF_BOOLEANS.get(ours, ours) if x.dtype == dtypes.bool_ else ours)(x, y)


def _float_test(ours: str, otherwise: bool):
    """isnan and its like, which integers answer without looking."""
    return lambda input: getattr(ops, ours)(input) if is_floating(input.dtype) else ops.full(input.shape, otherwise)


def _sign(input):
    if input.dtype == dtypes.bool_:
        return input
    sign = ops.sign(input)
    return ops.where(ops.isnan(input), 0, sign) if is_floating(input.dtype) else sign  # torch's sign of NaN is 0


def _known(value) -> bool:
    return isinstance(value, (Tensor, bool, int, float, np.generic)) or hasattr(value, "symbolic_size")


def _install() -> None:
    for table, make, convert in ((UNARY_FLOAT, _unary, floating), (UNARY, _unary, lambda x: [tensor_of(x)]), (COMPARISON, _binary, promoted),
                                 (BINARY, _binary, promoted), (BINARY_FLOAT, _binary, floating)):
        for name, ours in table.items():
            HANDLERS[name] = Handler(make(ours, convert))
    for name in ("isnan", "isinf", "isposinf", "isneginf", "isfinite"):
        HANDLERS[name] = Handler(_float_test(name, name == "isfinite"))
    HANDLERS["sign"] = HANDLERS["sgn"] = Handler(_sign)
    for name in LOGICAL:
        HANDLERS[name] = Handler(_binary(name, lambda *xs: [tensor_of(x) for x in xs]))


_install()


@handles("add")
def add(input, other, alpha=1):
    return apply_binary("add", *promoted(input, _scaled(other, alpha))) if _known(other) and _known(input) else NotImplemented


@handles("sub", "subtract")
def sub(input, other, alpha=1):
    return ops.subtract(*promoted(input, _scaled(other, alpha))) if _known(other) and _known(input) else NotImplemented


@handles("rsub")
def rsub(input, other, alpha=1):
    return sub(other, input, alpha)


def _scaled(other, alpha):
    return other if isinstance(alpha, (int, float)) and alpha == 1 else apply_binary("multiply", *promoted(other, alpha)) if isinstance(other, Tensor) else other * alpha


@handles("div", "divide")
def div(input, other, rounding_mode=None):
    if rounding_mode is None:
        return ops.divide(*floating(input, other))
    return getattr(ops, {"floor": "floor_divide", "trunc": "trunc_divide"}[rounding_mode])(*promoted(input, other))


@handles("pow")
def power(input, exponent):
    base, exponent_ = promoted(input, exponent)
    if isinstance(exponent, (int, float)) and not isinstance(exponent, bool):
        if exponent == 2:
            return base * base
        if exponent == 0.5 and is_floating(base.dtype):
            return ops.sqrt(base)
        if exponent == 1:
            return base
    return ops.pow(base, exponent_)


@handles("float_power")
def float_power(input, exponent):
    return ops.pow(as_dtype(input, dtypes.float64), as_dtype(exponent, dtypes.float64))


@handles("square")
def square(input):
    return power(input, 2)


@handles("round")
def round_(input, decimals=0):
    return ops.round(input, decimals)


@handles("frac")
def frac(input):
    return input - ops.trunc(input)


@handles("clamp", "clip")
def clamp(input, min=None, max=None):
    bounds = [b for b in (min, max) if b is not None]
    dtype = result_dtype(input, *bounds)
    x = input.astype(dtype)
    x = x if min is None else apply_binary("maximum", x, as_dtype(min, dtype))
    return x if max is None else apply_binary("minimum", x, as_dtype(max, dtype))


@handles("clamp_min")
def clamp_min(input, min):
    return clamp(input, min)


@handles("clamp_max")
def clamp_max(input, max):
    return clamp(input, None, max)


@handles("fmax")
def fmax(input, other):
    a, b = promoted(input, other)
    return apply_binary("maximum", a, b) if not is_floating(a.dtype) else ops.where(ops.isnan(a), b, ops.where(ops.isnan(b), a, ops.maximum(a, b)))


@handles("fmin")
def fmin(input, other):
    a, b = promoted(input, other)
    return apply_binary("minimum", a, b) if not is_floating(a.dtype) else ops.where(ops.isnan(a), b, ops.where(ops.isnan(b), a, ops.minimum(a, b)))


@handles("where")
def where(condition, input=None, other=None):
    if input is None:
        from .ordering import nonzero

        return nonzero(condition, as_tuple=True)
    return ops.where(condition.astype(bool), *promoted(input, other))


@handles("Tensor.where")
def method_where(input, condition, other):
    """``x.where(condition, y)``, whose order is another than that of ``torch.where(condition, x, y)``."""
    return where(condition, input, other)


@handles("masked_fill")
def masked_fill(input, mask, value):
    return ops.where(mask.astype(bool), as_dtype(value, input.dtype), input)


@handles("lerp")
def lerp(input, end, weight):
    return input + as_dtype(weight, input.dtype) * (end - input)


@handles("addcmul")
def addcmul(input, tensor1, tensor2, value=1):
    return ops.add(*promoted(input, ops.multiply(*promoted(ops.multiply(*promoted(tensor1, tensor2)), value))))


@handles("addcdiv")
def addcdiv(input, tensor1, tensor2, value=1):
    return ops.add(*promoted(input, ops.multiply(*promoted(ops.divide(*floating(tensor1, tensor2)), value))))


@handles("nan_to_num")
def nan_to_num(input, nan=None, posinf=None, neginf=None):
    return ops.nan_to_num(input, 0.0 if nan is None else nan, posinf, neginf)


@handles("isclose")
def isclose(input, other, rtol=1e-5, atol=1e-8, equal_nan=False):
    return ops.isclose(input, other, rtol, atol, equal_nan)


@handles("logit", "special_logit")
def logit(input, eps=None):
    return ops.logit(floating(input)[0], eps)


@handles("xlogy", "special_xlogy")
def xlogy(input, other):
    x, y = floating(input, other)
    product = ops.where(x == 0, as_dtype(0, x.dtype), x * ops.log(y))
    return ops.where(ops.isnan(y), y, product)


@handles("sinc", "special_sinc")
def sinc(input):
    (x,) = floating(input)
    scaled = x * float(np.pi)
    return ops.where(x == 0, as_dtype(1, x.dtype), ops.sin(scaled) / scaled)


@handles("heaviside")
def heaviside(input, values):
    return ops.where(input == 0, values, (input > 0).astype(input.dtype))


@handles("deg2rad")
def deg2rad(input):
    return floating(input)[0] * float(np.pi / 180)


@handles("rad2deg")
def rad2deg(input):
    return floating(input)[0] * float(180 / np.pi)


@handles("ldexp")
def ldexp(input, other):
    x, power_ = floating(input, other)
    return x * ops.exp2(power_)


# Conversions.
CONVERSIONS = {"float": dtypes.float32, "double": dtypes.float64, "half": dtypes.float16, "bfloat16": dtypes.bfloat16, "int": dtypes.int32,
               "long": dtypes.int64, "short": dtypes.int16, "char": dtypes.int8, "byte": dtypes.uint8, "bool": dtypes.bool_}


@handles("aten._to_copy", "aten.to.dtype", "prims.convert_element_type")
def to_copy(input, dtype=None, layout=None, device=None, pin_memory=None, non_blocking=False, memory_format=None, copy=False):
    return input if dtype is None else input.astype(to_numpy_dtype(dtype))


@handles("type_as", "to_as")
def type_as(input, other):
    return input.astype(other.dtype)


@handles("fake_quantize_per_tensor_affine")
def fake_quantize(input, scale, zero_point, quant_min, quant_max):
    """x rounded to the nearest of quant_max - quant_min + 1 places that lie scale apart."""
    scale, zero = as_dtype(scale, input.dtype), as_dtype(zero_point, input.dtype)
    places = clamp(ops.round(input / scale + zero), float(quant_min), float(quant_max))
    return (places - zero) * scale
