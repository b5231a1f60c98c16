"""Arithmetic, comparison, logic, bits, rounding, transcendental functions, selection, casts."""
from __future__ import annotations

import numpy as np

from ...dialect import dtypes
from ..ops.declared import declared as om
from ..tensor import Tensor
from .narrow import NARROW, narrowed, widened
from .registry import reads
from .tensors import ELEMENT_TYPES, element_dtype


def _operands(node) -> tuple[Tensor, Tensor]:
    """Both operands; up to version 6 the second one was broadcast from an axis that an attribute names."""
    x, y = node.tensor(0), node.tensor(1)
    if node.version < 7 and node.int("broadcast", 0) and node.int("axis") is not None:
        trailing = x.ndim - y.ndim - node.int("axis") % x.ndim
        y = om.reshape(y, shape=(*node.shape(1), *[1] * trailing))
    return x, y


_BINARY = {"Add": "add", "Sub": "subtract", "Mul": "multiply", "Equal": "equal", "Less": "less", "Greater": "greater", "LessOrEqual": "less_equal",
           "GreaterOrEqual": "greater_equal", "And": "logical_and", "Or": "logical_or", "Xor": "logical_xor", "BitwiseAnd": "bitwise_and",
           "BitwiseOr": "bitwise_or", "BitwiseXor": "bitwise_xor"}
_UNARY = {"Neg": "negative", "Abs": "abs", "Sign": "sign", "Reciprocal": "reciprocal", "Floor": "floor", "Ceil": "ceil", "Round": "round", "Sqrt": "sqrt",
          "Exp": "exp", "Log": "log", "Sin": "sin", "Cos": "cos", "Tan": "tan", "Asin": "asin", "Acos": "acos", "Atan": "atan", "Sinh": "sinh",
          "Cosh": "cosh", "Tanh": "tanh", "Asinh": "asinh", "Acosh": "acosh", "Atanh": "atanh", "Erf": "erf", "IsNaN": "isnan", "Not": "logical_not",
          "BitwiseNot": "bitwise_not", "Relu": "relu", "Sigmoid": "sigmoid", "Softsign": "softsign", "HardSwish": "hard_swish", "Mish": "mish",
          "Softplus": "softplus"}


@reads(*_BINARY)
def read_binary(node, ops):
    return getattr(ops, _BINARY[node.op_type])(*_operands(node))


@reads(*_UNARY)
def read_unary(node, ops):
    return getattr(ops, _UNARY[node.op_type])(node.tensor(0))


@reads("Div")
def read_div(node, ops):
    x, y = _operands(node)
    return ops.divide(x, y) if dtypes.is_floating(x.dtype) else ops.trunc_divide(x, y)


@reads("Mod")
def read_mod(node, ops):
    x, y = _operands(node)
    return ops.fmod(x, y) if node.int("fmod", 0) else ops.remainder(x, y)


@reads("Pow")
def read_pow(node, ops):
    x, y = _operands(node)
    if x.dtype == y.dtype:
        return ops.pow(x, y)
    if dtypes.is_floating(x.dtype):
        return ops.pow(x, y.astype(x.dtype))
    if dtypes.is_floating(y.dtype):
        wide = dtypes.float64 if x.dtype.itemsize > 2 else dtypes.float32
        return ops.pow(x.astype(wide), y.astype(wide)).astype(x.dtype)
    return ops.pow(x.astype(dtypes.int64), y.astype(dtypes.int64)).astype(x.dtype)


def _folded(function, tensors):
    result = tensors[0]
    for other in tensors[1:]:
        result = function(result, other)
    return result


@reads("Max", "Min", "Sum")
def read_variadic(node, ops):
    return _folded({"Max": ops.maximum, "Min": ops.minimum, "Sum": ops.add}[node.op_type], node.tensors())


@reads("Mean")
def read_mean(node, ops):
    return _folded(ops.add, node.tensors()) / float(len(node.inputs))


@reads("BitShift")
def read_bit_shift(node, ops):
    x, y = node.tensor(0), node.tensor(1)
    return ops.left_shift(x, y) if node.text("direction") == "LEFT" else ops.right_shift(x, y)


@reads("IsInf")
def read_isinf(node, ops):
    x = node.tensor(0)
    if node.int("detect_positive", 1) and node.int("detect_negative", 1):
        return ops.isinf(x)
    if not node.int("detect_positive", 1) and not node.int("detect_negative", 1):
        return ops.logical_and(ops.isinf(x), False)
    return x == (np.inf if node.int("detect_positive", 1) else -np.inf)


@reads("Where")
def read_where(node, ops):
    return ops.where(node.tensor(0), node.tensor(1), node.tensor(2))


@reads("Identity")
def read_identity(node, ops):
    return node.value(0)


@reads("Cast")
def read_cast(node, ops):
    if node.version < 6:
        from onnx import TensorProto

        return node.tensor(0).astype(element_dtype(TensorProto.DataType.Value(node.text("to")), "the attribute 'to'"))
    return _converted(node, node.int("to"))


@reads("CastLike")
def read_cast_like(node, ops):
    like = node.value(1)
    return _converted(node, ELEMENT_TYPES[like.dtype] if like.narrow is None else like.narrow)


def _converted(node, number: int):
    """Input 0 in an ONNX element type."""
    value = node.value(0)
    if number == value.narrow:
        return value
    if number in NARROW:
        return narrowed(widened(value) if value.narrow is not None else value.tensor, number, bool(node.int("saturate", 1)), node.text("round_mode", "up"))
    dtype = element_dtype(number, "the attribute 'to'")
    return widened(value, dtype) if value.narrow is not None else node.tensor(0).astype(dtype)


@reads("BitCast")
def read_bit_cast(node, ops):
    x, dtype = node.tensor(0), node.dtype_attribute("to")
    return x.astype(dtype) if dtypes.bool_ in (x.dtype, dtype) else ops.bitcast(x, dtype=dtype)


@reads("Clip", since=11)
def read_clip(node, ops):
    x = node.tensor(0)
    x = ops.maximum(x, node.tensor(1)) if node.has(1) else x
    return ops.minimum(x, node.tensor(2)) if node.has(2) else x


@reads("Clip")
def read_clip_attributes(node, ops):
    x, low, high = node.tensor(0), node.float("min"), node.float("max")
    x = x if low is None else ops.maximum(x, low)
    return x if high is None else ops.minimum(x, high)


@reads("Dropout")
def read_dropout(node, ops):
    """Nothing in inference; training with a ratio above 0 is random and is refused."""
    training = node.array(2) if node.has(2) else False
    ratio = float(node.array(1)) if node.has(1) and training else 0.5
    if training and ratio:
        node.refuse("dropout in training mode is random")
    x = node.tensor(0)
    if not node.wants(1):
        return node.value(0)
    return node.value(0), ops.equal(x, x) if x.dtype not in dtypes.FLOATING else ops.logical_or(ops.equal(x, x), True)
