"""Writers of elementwise ops on floats, comparisons, logic and selection; those of integers are in `integers`."""
from __future__ import annotations

import math
from functools import lru_cache

import numpy as np

from .. import dtypes
from ..ops import elementwise as om
from .graph import Graph, Value
from .registry import writes
from .written_op import WrittenOp

SAME = {  # ONNX has an operator of the same meaning
    om.Add: "Add", om.Subtract: "Sub", om.Multiply: "Mul", om.Divide: "Div", om.Maximum: "Max", om.Minimum: "Min",
    om.Equal: "Equal", om.Less: "Less", om.LessEqual: "LessOrEqual", om.Greater: "Greater", om.GreaterEqual: "GreaterOrEqual",
    om.LogicalAnd: "And", om.LogicalOr: "Or", om.LogicalXor: "Xor", om.LogicalNot: "Not",
    om.Abs: "Abs", om.Sign: "Sign", om.Reciprocal: "Reciprocal", om.Floor: "Floor", om.Ceil: "Ceil", om.Round: "Round", om.Sqrt: "Sqrt",
    om.Exp: "Exp", om.Log: "Log", om.Sin: "Sin", om.Cos: "Cos", om.Tan: "Tan", om.Asin: "Asin", om.Acos: "Acos", om.Atan: "Atan",
    om.Sinh: "Sinh", om.Cosh: "Cosh", om.Tanh: "Tanh", om.Asinh: "Asinh", om.Acosh: "Acosh", om.Atanh: "Atanh", om.Erf: "Erf",
}


def same(op_type: str):
    """A writer for an operator that takes the operands in the same order and no attributes."""
    return lambda graph, op: graph.node(op_type, [op.fields[spec.name] for spec in op.declaration.operands])


for _op, _op_type in SAME.items():
    writes(_op)(same(_op_type))


@writes(om.NotEqual)
def write_not_equal(graph: Graph, op: WrittenOp):
    return graph.Not(graph.Equal(op.x, op.y))


@writes(om.Where)
def write_where(graph: Graph, op: WrittenOp):
    return graph.Where(op.condition, op.x, op.y)


@writes(om.Square)
def write_square(graph: Graph, op: WrittenOp):
    return graph.Mul(op.x, op.x)


@writes(om.Rsqrt)
def write_rsqrt(graph: Graph, op: WrittenOp):
    return graph.Reciprocal(graph.Sqrt(op.x))


@writes(om.Negative)
def write_negative(graph: Graph, op: WrittenOp):
    return graph.Sub(0, op.x) if dtypes.is_unsigned(op.dtype) else graph.Neg(op.x)


@writes(om.Trunc)
def write_trunc(graph: Graph, op: WrittenOp):
    return truncated(graph, op.x)


def truncated(graph: Graph, x: Value) -> Value:
    """x without its fraction."""
    return graph.Where(graph.Less(x, 0), graph.Ceil(x), graph.Floor(x))


@writes(om.Exp2)
def write_exp2(graph: Graph, op: WrittenOp):
    return graph.Pow(np.array(2, op.dtype), op.x)


@writes(om.Log2)
def write_log2(graph: Graph, op: WrittenOp):
    return graph.Mul(graph.Log(op.x), 1 / math.log(2))


@writes(om.Log10)
def write_log10(graph: Graph, op: WrittenOp):
    return graph.Mul(graph.Log(op.x), 1 / math.log(10))


@writes(om.Expm1)
def write_expm1(graph: Graph, op: WrittenOp):
    """Near 0: 2 t / (1 - t) with t = tanh(x / 2)."""
    half = graph.Tanh(graph.Mul(op.x, 0.5))
    near = graph.Div(graph.Mul(half, 2.0), graph.Sub(1.0, half))
    return graph.Where(graph.Less(graph.Abs(op.x), 1.0), near, graph.Sub(graph.Exp(op.x), 1.0))


@writes(om.Log1p)
def write_log1p(graph: Graph, op: WrittenOp):
    """Near 0: 2 atanh(x / (2 + x))."""
    near = graph.Mul(graph.Atanh(graph.Div(op.x, graph.Add(op.x, 2.0))), 2.0)
    return graph.Where(graph.Less(graph.Abs(op.x), 0.5), near, graph.Log(graph.Add(op.x, 1.0)))


@lru_cache(maxsize=None)
def _erfc_coefficients() -> tuple:
    """Of a polynomial p in t = 1 / (1 + x / 2), highest power first, such that erfc(x) = t * exp(p(t) - x * x) for x >= 0."""
    t = 0.5 * (1 + 1 / 14) + 0.5 * (1 - 1 / 14) * np.cos(np.pi * (np.arange(400) + 0.5) / 400)
    x = 2 * (1 / t - 1)
    logs = np.array([math.log(math.erfc(v)) + v * v for v in x]) - np.log(t)
    return tuple(np.polynomial.Polynomial.fit(t, logs, 14).convert().coef[::-1])


@writes(om.Erfc)
def write_erfc(graph: Graph, op: WrittenOp):
    """By a polynomial, since 1 - erf(x) has no digits left where it is near 0."""
    size = graph.Abs(op.x)
    t = graph.Reciprocal(graph.Add(graph.Mul(size, 0.5), 1.0))
    first, *rest = _erfc_coefficients()
    p = graph.Add(graph.Mul(t, first), rest[0])
    for coefficient in rest[1:]:
        p = graph.Add(graph.Mul(p, t), coefficient)
    tail = graph.Mul(t, graph.Exp(graph.Sub(p, graph.Mul(size, size))))
    tail = graph.Where(graph.Greater(size, 26.0), 0.0, tail)
    return graph.Where(graph.Less(op.x, 0), graph.Sub(2.0, tail), tail)


def sign_bit(graph: Graph, x: Value) -> Value:
    """Whether x is negative, -0 included."""
    return graph.Or(graph.Less(x, 0), graph.And(graph.Equal(x, 0), graph.Less(graph.Reciprocal(x), 0)))


@writes(om.Copysign)
def write_copysign(graph: Graph, op: WrittenOp):
    size = graph.Abs(op.x)
    return graph.Where(sign_bit(graph, op.y), graph.Neg(size), size)


@writes(om.Atan2)
def write_atan2(graph: Graph, op: WrittenOp):
    """The angle in the first quadrant, then mirrored by the signs; 0/0 is angle 0, inf/inf is pi/4."""
    high, wide = graph.Abs(op.x), graph.Abs(op.y)
    ratio = graph.Where(graph.Equal(high, wide), graph.Cast(graph.Greater(high, 0), to=op.dtype), graph.Div(high, wide))
    angle = graph.Atan(ratio)
    angle = graph.Where(sign_bit(graph, op.y), graph.Sub(math.pi, angle), angle)
    return graph.Where(sign_bit(graph, op.x), graph.Neg(angle), angle)


@writes(om.Isnan)
def write_isnan(graph: Graph, op: WrittenOp):
    return graph.IsNaN(op.x) if dtypes.is_floating(op.x.dtype) else graph.Not(graph.Equal(op.x, op.x))


@writes(om.Isinf)
def write_isinf(graph: Graph, op: WrittenOp):
    return graph.IsInf(op.x) if dtypes.is_floating(op.x.dtype) else graph.Not(graph.Equal(op.x, op.x))


@writes(om.Isfinite)
def write_isfinite(graph: Graph, op: WrittenOp):
    return graph.Less(graph.Abs(op.x), np.inf) if dtypes.is_floating(op.x.dtype) else graph.Equal(op.x, op.x)


@writes(om.Cast)
def write_cast(graph: Graph, op: WrittenOp):
    if dtypes.is_floating(op.x.dtype) and op.dtype in dtypes.INTEGER:
        return saturating_cast(graph, op.x, op.dtype)
    return graph.cast(op.x, op.dtype) if op.x.dtype != op.dtype else op.x


@writes(om.Bitcast, since=26)
def write_bitcast(graph: Graph, op: WrittenOp):
    return graph.BitCast(op.x, to=op.dtype)


def saturating_cast(graph: Graph, x: Value, dtype: np.dtype) -> Value:
    """Float to integer: ONNX leaves NaN and values out of range undefined; here NaN is 0 and the ends of the range hold."""
    info = np.iinfo(dtype)
    low, high = (np.array(v).astype(x.dtype) for v in (info.min, info.max))
    known = graph.Where(graph.IsNaN(x), 0, x)
    if float(low) == info.min and float(high) == info.max:  # f16 has infinity for both
        return graph.Cast(graph.Clip(known, low, high), to=dtype)
    above, below = graph.GreaterOrEqual(known, high), graph.LessOrEqual(known, low)
    inside = graph.Cast(graph.Where(graph.Or(above, below), 0, known), to=dtype)
    return graph.Where(above, info.max, graph.Where(below, info.min, inside))
