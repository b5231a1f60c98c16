"""Writers of division, remainder, powers, shifts and bit operations, whose results for integers ONNX leaves partly undefined.

ONNX truncates when it divides integers and leaves zero divisors (and the smallest number by -1) undefined; the dialect gives 0 (and
wraps). Literal divisors need no such care.
"""
from __future__ import annotations

import numpy as np

from .. import dtypes
from ..ops import elementwise as om
from .control_flow import loop
from .elementwise import same, truncated
from .graph import Graph, Value
from .registry import writes
from .written_op import WrittenOp


def harmless(y: Value) -> bool:
    """Whether a divisor is known to be neither 0 nor -1."""
    return y.array is not None and not np.isin(y.array.astype(np.int64), (0, -1)).any()


def safe_divisor(graph: Graph, y: Value) -> Value:
    """The divisor with 1 in place of 0 and -1."""
    if harmless(y):
        return y
    unsafe = graph.Equal(y, 0)
    if not dtypes.is_unsigned(y.dtype):
        unsafe = graph.Or(unsafe, graph.Equal(y, -1))
    return graph.Where(unsafe, 1, y)


def _repaired(graph: Graph, quotient: Value, x: Value, y: Value) -> Value:
    """The quotient where the divisor is 0 or -1: 0, and -x, which wraps."""
    if harmless(y):
        return quotient
    if not dtypes.is_unsigned(y.dtype):
        quotient = graph.Where(graph.Equal(y, -1), graph.Sub(0, x), quotient)
    return graph.Where(graph.Equal(y, 0), 0, quotient)


def floor_divide(graph: Graph, x: Value, y: Value) -> Value:
    """floor(x / y) of integers."""
    divisor = safe_divisor(graph, y)
    quotient = graph.Div(x, divisor)
    if not dtypes.is_unsigned(x.dtype):
        inexact = graph.Not(graph.Equal(graph.Mod(x, divisor), 0))
        apart = graph.Xor(graph.Less(x, 0), graph.Less(divisor, 0))
        quotient = graph.Sub(quotient, graph.Cast(graph.And(inexact, apart), to=x.dtype))
    return _repaired(graph, quotient, x, y)


def _float_remainder(graph: Graph, x: Value, y: Value) -> Value:
    """The remainder with the sign of y."""
    rest = graph.Mod(x, y, fmod=1)
    apart = graph.And(graph.Not(graph.Equal(rest, 0)), graph.Xor(graph.Less(rest, 0), graph.Less(y, 0)))
    return graph.Where(apart, graph.Add(rest, y), rest)


@writes(om.FloorDivide)
def write_floor_divide(graph: Graph, op: WrittenOp):
    if op.dtype in dtypes.INTEGER:
        return floor_divide(graph, op.x, op.y)
    exact = graph.Div(graph.Sub(op.x, _float_remainder(graph, op.x, op.y)), op.y)
    below = graph.Floor(exact)  # the division may fall just short of an integer
    near = graph.Where(graph.Greater(graph.Sub(exact, below), 0.5), graph.Add(below, 1.0), below)
    return graph.Where(graph.Equal(op.y, 0), graph.Div(op.x, op.y), near)


@writes(om.Remainder)
def write_remainder(graph: Graph, op: WrittenOp):
    if op.dtype in dtypes.INTEGER:
        return _integer_remainder(graph, op, 0)
    return _float_remainder(graph, op.x, op.y)


@writes(om.Fmod)
def write_fmod(graph: Graph, op: WrittenOp):
    return _integer_remainder(graph, op, 1) if op.dtype in dtypes.INTEGER else graph.Mod(op.x, op.y, fmod=1)


def _integer_remainder(graph: Graph, op: WrittenOp, fmod: int) -> Value:
    return graph.Mod(op.x, safe_divisor(graph, op.y), fmod=fmod)  # by 1 the remainder is 0, as it is to be by 0 and -1


@writes(om.TruncDivide)
def write_trunc_divide(graph: Graph, op: WrittenOp):
    if op.dtype in dtypes.INTEGER:
        return _repaired(graph, graph.Div(op.x, safe_divisor(graph, op.y)), op.x, op.y)
    return truncated(graph, graph.Div(op.x, op.y))


@writes(om.Pow)
def write_pow(graph: Graph, op: WrittenOp):
    if op.dtype not in dtypes.INTEGER:
        return graph.Pow(op.x, op.y)
    if op.y.array is not None and op.y.array.size == 1 and 0 <= int(op.y.array.reshape(())) < 64:
        return _small_power(graph, graph.Add(op.x, op.y) if op.y.rank > op.x.rank else op.x, int(op.y.array.reshape(())))
    power = _power_loop(graph, op.x, op.y)
    return power if dtypes.is_unsigned(op.dtype) else graph.Where(graph.Less(op.y, 0), _unit_power(graph, op.x, op.y), power)


def _small_power(graph: Graph, x: Value, exponent: int) -> Value:
    """By squaring; integers wrap, where ONNX's Pow may go through floats."""
    result = None
    while exponent:
        if exponent & 1:
            result = x if result is None else graph.Mul(result, x)
        exponent >>= 1
        x = graph.Mul(x, x) if exponent else x
    return graph.Add(graph.Mul(x, 0), 1) if result is None else result


def _power_loop(graph: Graph, x: Value, y: Value) -> Value:
    """x ** max(y, 0) by squaring, one bit of y a step."""
    zero = graph.Mul(graph.Add(x, y), 0)  # of the broadcast shape

    def step(body: Graph, iteration: Value, carried):
        result, base, exponent = carried
        odd = body.Equal(body.Mod(exponent, 2), 1)
        return None, [body.Where(odd, body.Mul(result, base), result), body.Mul(base, base), body.Div(exponent, 2)]

    bits = x.dtype.itemsize * 8
    start = [graph.Add(zero, 1), graph.Add(zero, x), graph.Add(zero, graph.Max(y, 0))]
    return loop(graph, graph.constant(bits, np.int64), None, start, step)[0]


def _unit_power(graph: Graph, x: Value, y: Value) -> Value:
    """x ** y for negative y: 1 for 1, the sign for -1, else 0."""
    sign = graph.Where(graph.Equal(graph.Mod(y, 2), 0), 1, graph.constant(-1, x.dtype))
    return graph.Where(graph.Equal(x, 1), 1, graph.Where(graph.Equal(x, -1), sign, 0))


def _bitwise(op_type: str, logical: str):
    return lambda graph, op: same(logical if op.dtype == dtypes.bool_ else op_type)(graph, op)


for _op, _op_type, _logical in ((om.BitwiseAnd, "BitwiseAnd", "And"), (om.BitwiseOr, "BitwiseOr", "Or"), (om.BitwiseXor, "BitwiseXor", "Xor"),
                                (om.BitwiseNot, "BitwiseNot", "Not")):
    writes(_op)(_bitwise(_op_type, _logical))


def _shift_table(dtype: np.dtype, last: int) -> np.ndarray:
    """2 ** n for n below the width, wrapped, and what stands for shifts out of range."""
    width = dtype.itemsize * 8
    return np.array([*(np.uint64(1) << np.arange(width, dtype=np.uint64)), last], np.uint64).astype(dtype)


def _in_range(graph: Graph, y: Value) -> Value:
    """Whether a shift is at least 0 and below the width."""
    below = graph.Less(y, y.dtype.itemsize * 8)
    return below if dtypes.is_unsigned(y.dtype) else graph.And(below, graph.GreaterOrEqual(y, 0))


@writes(om.LeftShift)
def write_left_shift(graph: Graph, op: WrittenOp):
    """A product with a power of two, 0 for shifts out of range: BitShift takes unsigned integers alone."""
    place = graph.Where(_in_range(graph, op.y), op.y, op.dtype.itemsize * 8)
    return graph.Mul(op.x, graph.Gather(_shift_table(op.dtype, 0), graph.cast(place, np.int64)))


@writes(om.RightShift)
def write_right_shift(graph: Graph, op: WrittenOp):
    valid = _in_range(graph, op.y)
    place = graph.Where(valid, op.y, 0)
    if dtypes.is_unsigned(op.dtype):
        return graph.Where(valid, graph.BitShift(op.x, place, direction="RIGHT"), 0)
    last = op.dtype.itemsize * 8 - 1
    divisor = graph.Gather(_shift_table(op.dtype, 0), graph.cast(graph.Min(place, last - 1), np.int64))
    quotient = graph.Div(op.x, divisor)  # a floor division by a positive number
    negative = graph.Less(op.x, 0)
    inexact = graph.And(negative, graph.Not(graph.Equal(graph.Mod(op.x, divisor), 0)))
    shifted = graph.Sub(quotient, graph.Cast(inexact, to=op.dtype))
    signs = graph.Sub(0, graph.Cast(negative, to=op.dtype))
    return graph.Where(graph.And(valid, graph.Less(op.y, last)), shifted, signs)
