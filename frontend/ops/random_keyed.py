"""Random numbers from a key: a counter-based generator made of integer ops, so that eager, recorded and compiled runs agree bit for bit.

The generator is SplitMix64 (Steele, Lea, Flood 2014): element i of a tensor is the i-th number of the sequence that the key starts.
The same key gives the same numbers: derive others with `random_split`. A key is an int, or an integer tensor of one element, which may
be an input of the model.
"""
from __future__ import annotations

import math
from typing import Sequence

import numpy as np

from ...dialect import dtypes, symbolic
from ...dialect.attributes import Shape
from ...errors import DTypeError, OnemlirError
from ..symbolic_int import size_of
from ..tensor import Tensor
from .creation import zeros_like
from .declared import as_tensor, ops

__all__ = ["random_bits", "random_split", "random_uniform", "random_normal", "random_randint", "random_bernoulli"]

GAMMA, FIRST, SECOND = 0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9, 0x94D049BB133111EB
# Wichura 1988, algorithm AS 241: the inverse of the normal distribution, highest powers first.
CENTRAL = ((2509.0809287301226727, 33430.575583588128105, 67265.770927008700853, 45921.953931549871457, 13731.693765509461125,
            1971.5909503065514427, 133.14166789178437745, 3.387132872796366608),
           (5226.495278852545925, 28729.085735721942674, 39307.89580009271061, 21213.794301586595867, 5394.1960214247511077,
            687.1870074920579083, 42.313330701600911252, 1.0))  # fmt: skip
MIDDLE = ((7.7454501427834140764e-4, .0227238449892691845833, .24178072517745061177, 1.27045825245236838258, 3.64784832476320460504,
           5.7694972214606914055, 4.6303378461565452959, 1.42343711074968357734),
          (1.05075007164441684324e-9, 5.475938084995344946e-4, .0151986665636164571966, .14810397642748007459, .68976733498510000455,
           1.6763848301838038494, 2.05319162663775882187, 1.0))  # fmt: skip
OUTER = ((2.01033439929228813265e-7, 2.71155556874348757815e-5, .0012426609473880784386, .026532189526576123093, .29656057182850489123,
          1.7848265399172913358, 5.4637849111641143699, 6.6579046435011037772),
         (2.04426310338993978564e-15, 1.4215117583164458887e-7, 1.8463183175100546818e-5, 7.868691311456132591e-4, .0148753612908506148525,
          .13692988092273580531, .59983220655588793769, 1.0))  # fmt: skip


def random_bits(key, shape: Sequence[int] = ()) -> Tensor:
    """Uniform u64 numbers. shape: sizes, which may be symbolic."""
    shape = Shape().check([size_of(s) if size_of(s) is not None else s for s in ((shape,) if size_of(shape) is not None else shape)], "shape", ())
    count = symbolic.product(shape)
    places = ops.iota(size=(count,), dtype=dtypes.uint64)
    state = _key(key) + (places + _u64(1)) * _u64(GAMMA)
    return ops.reshape(_mixed(state), shape=shape)


def random_split(key, num: int = 2) -> Tensor:
    """`num` new keys (i64) from one."""
    return random_bits(_mixed(_key(key) ^ _u64(SECOND)), (num,)).astype(dtypes.int64)


def random_uniform(key, shape: Sequence[int] = (), low: float = 0.0, high: float = 1.0, dtype=dtypes.float32) -> Tensor:
    """Uniform numbers in [low, high), with as many random bits as the dtype has."""
    dtype = _floating("random_uniform", dtype)
    bits = {dtypes.float64: 53, dtypes.float32: 24, dtypes.float16: 11, dtypes.bfloat16: 8}[dtype]
    unit = (random_bits(key, shape) >> _u64(64 - bits)).astype(dtype) * np.asarray(2.0**-bits, dtype)
    return unit if (low, high) == (0.0, 1.0) else unit * np.asarray(high - low, dtype) + np.asarray(low, dtype)


def random_normal(key, shape: Sequence[int] = (), mean: float = 0.0, std: float = 1.0, dtype=dtypes.float32) -> Tensor:
    """Normal numbers: the inverse of the distribution at uniform numbers of 53 bits (Wichura 1988), computed in f64 and rounded."""
    dtype = _floating("random_normal", dtype)
    unit = ((random_bits(key, shape) >> _u64(11)).astype(dtypes.float64) + 0.5) * 2.0**-53
    numbers = normal_quantile(unit) * std + mean
    return numbers.astype(dtype) if dtype.itemsize > 2 else numbers.astype(dtypes.float32).astype(dtype)  # the narrow ones are rounded from f32


def normal_quantile(p: Tensor) -> Tensor:
    q = p - 0.5
    r = 0.180625 - q * q
    tail = ops.sqrt(ops.negative(_log(ops.minimum(p, 1.0 - p))))
    outer = ops.where(tail <= 5.0, _ratio(MIDDLE, tail - 1.6), _ratio(OUTER, tail - 5.0))
    return ops.where(ops.abs(q) <= 0.425, q * _ratio(CENTRAL, r), ops.where(q < 0.0, ops.negative(outer), outer))


def _log(x: Tensor) -> Tensor:
    """The logarithm of numbers in [2**-54, 1], of additions, multiplications and one division alone, which round alike everywhere.

    x = 2**e * m with m near 1; log(m) = 2 atanh(f) with f = (m - 1) / (m + 1).
    """
    e = zeros_like(x)
    for k in (32, 16, 8, 4, 2, 1, 0.5):
        small = x < 2.0**-k
        x, e = ops.where(small, x * 2.0 ** math.ceil(k), x), ops.where(small, e - math.ceil(k), e)
    f = (x - 1.0) / (x + 1.0)
    square = f * f
    series = square * (1.0 / 25) + 1.0 / 23
    for n in range(21, 0, -2):
        series = series * square + 1.0 / n
    return e * math.log(2) + f * 2.0 * series


def _ratio(coefficients, x: Tensor) -> Tensor:
    above, below = (_polynomial(powers, x) for powers in coefficients)
    return above / below


def _polynomial(powers: Sequence[float], x: Tensor) -> Tensor:
    result = x * powers[0] + powers[1]
    for coefficient in powers[2:]:
        result = result * x + coefficient
    return result


def random_randint(key, shape: Sequence[int], low: int, high: int, dtype=dtypes.int64) -> Tensor:
    """Uniform integers in [low, high): remainders of 64 random bits, whose bias is below (high - low) / 2**64."""
    if low >= high:
        raise OnemlirError(f"random_randint: there is no integer in [{low}, {high})")
    dtype = dtypes.dtype_of(dtype)
    if dtype not in dtypes.INTEGER:
        raise DTypeError(f"random_randint: dtype must be an integer dtype, found {dtype}")
    return ((random_bits(key, shape) % _u64(high - low)).astype(dtypes.int64) + low).astype(dtype)


def random_bernoulli(key, p, shape: Sequence[int] | None = None) -> Tensor:
    """True with probability p, elementwise. shape: that of p unless given."""
    p = as_tensor(p)
    shape = p.shape if shape is None else shape
    return ops.less(random_uniform(key, shape, dtype=p.dtype if dtypes.is_floating(p.dtype) else dtypes.float32), p)


def _key(key) -> Tensor:
    if isinstance(key, int) and not isinstance(key, bool):
        key = Tensor(np.asarray(key % 2**64, np.uint64))
    key = as_tensor(key)
    if key.dtype not in dtypes.INTEGER or key.ndim:
        raise OnemlirError(f"a key is an int or an integer tensor of one element and rank 0, found {key.dtype}{list(key.shape)}")
    return key.astype(dtypes.uint64)


def _u64(value: int) -> np.ndarray:
    return np.asarray(value, np.uint64)


def _mixed(z: Tensor) -> Tensor:
    """SplitMix64's finalizer."""
    z = (z ^ (z >> _u64(30))) * _u64(FIRST)
    z = (z ^ (z >> _u64(27))) * _u64(SECOND)
    return z ^ (z >> _u64(31))


def _floating(name: str, dtype) -> np.dtype:
    dtype = dtypes.dtype_of(dtype)
    if not dtypes.is_floating(dtype):
        raise DTypeError(f"{name}: dtype must be a floating dtype, found {dtype}")
    return dtype
