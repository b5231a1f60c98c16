"""Seeded random numbers, eager alone: `manual_seed` fixes the sequence. In a recording each is a TraceError, for its numbers would be frozen."""
from __future__ import annotations

from typing import Sequence

import numpy as np

from ...dialect import dtypes
from ...errors import DTypeError, OnemlirError
from ..dispatch import current_recorder
from ..random import generator
from ..tensor import Tensor
from .declared import as_tensor

__all__ = ["bernoulli", "dropout", "normal", "rand", "rand_like", "randint", "randn", "randn_like", "randperm", "uniform"]

_ADVICE = "random numbers have no place in a recording: draw them outside and make them an input"


def rand(*shape, dtype=dtypes.float32) -> Tensor:
    """Uniform numbers in [0, 1). shape: sizes, or one sequence of them."""
    return Tensor._wrap(_uniform("rand", _shape(shape), dtype))


def randn(*shape, dtype=dtypes.float32) -> Tensor:
    """Numbers of the standard normal distribution. shape: sizes, or one sequence of them."""
    return Tensor._wrap(_normal("randn", _shape(shape), dtype))


def rand_like(x, dtype=None) -> Tensor:
    """Uniform numbers in [0, 1) of x's shape, and dtype unless given."""
    return Tensor._wrap(_uniform("rand_like", x.shape, x.dtype if dtype is None else dtype))


def randn_like(x, dtype=None) -> Tensor:
    """Standard normal numbers of x's shape, and dtype unless given."""
    return Tensor._wrap(_normal("randn_like", x.shape, x.dtype if dtype is None else dtype))


def uniform(low: float = 0.0, high: float = 1.0, shape: Sequence[int] = (), dtype=dtypes.float32) -> Tensor:
    """Uniform numbers between low and high."""
    return Tensor._wrap(_uniform("uniform", _shape((shape,)), dtype)) * (high - low) + low


def normal(mean: float = 0.0, std: float = 1.0, shape: Sequence[int] = (), dtype=dtypes.float32) -> Tensor:
    """Normal numbers of the given mean and standard deviation."""
    if std < 0:
        raise OnemlirError(f"normal: std must not be negative, found {std}")
    return Tensor._wrap(_normal("normal", _shape((shape,)), dtype)) * std + mean


def randint(low: int, high: int | None = None, shape: Sequence[int] = (), dtype=dtypes.int64) -> Tensor:
    """Uniform integers in [low, high), or in [0, low) when high is None. Source: numpy."""
    low, high = (0, low) if high is None else (low, high)
    if low >= high:
        raise OnemlirError(f"randint: there is no integer in [{low}, {high})")
    dtype = dtypes.dtype_of(dtype)
    if dtype not in dtypes.INTEGER:
        raise DTypeError(f"randint: dtype must be an integer dtype, found {dtype}")
    return Tensor._wrap(np.asarray(_generator("randint").integers(low, high, _shape((shape,)), dtype)))


def bernoulli(p, dtype=None) -> Tensor:
    """1 with probability p, else 0, elementwise; dtype of p unless given. OnemlirError for p outside [0, 1]. Source: torch."""
    draw = _generator("bernoulli")
    p = as_tensor(p)
    if not np.all((p._array >= 0) & (p._array <= 1)):
        raise OnemlirError("bernoulli: probabilities must lie in [0, 1]")
    return Tensor._wrap(np.asarray(draw.random(p.shape) < p._array)).astype(p.dtype if dtype is None else dtype)


def randperm(n: int, dtype=dtypes.int64) -> Tensor:
    """The numbers 0 to n - 1 in a random order."""
    return Tensor._wrap(_generator("randperm").permutation(n).astype(dtypes.dtype_of(dtype)))


def dropout(x, p: float = 0.5, training: bool = True) -> Tensor:
    """x with each element set to 0 with probability p and the others divided by 1 - p; x itself when not training.

    OnemlirError for p outside [0, 1]; TraceError in a recording with training and p > 0. Source: Srivastava et al. 2014.
    """
    if not 0 <= p <= 1:
        raise OnemlirError(f"dropout: p must lie in [0, 1], found {p}")
    x = as_tensor(x)
    if not training or p == 0:
        return x
    draw = _generator("dropout", "in training it is random: record in evaluation mode, as Module.trace does, or pass training=False")
    factor = np.asarray(draw.random(x.shape, np.float32) >= p) * (1 / (1 - p) if p < 1 else 0.0)
    return x * Tensor._wrap(factor.astype(x.dtype))


def _generator(name: str, advice: str = _ADVICE) -> np.random.Generator:
    recorder = current_recorder()
    if recorder is not None:
        recorder.refuse(name, advice)
    return generator()


def _shape(shape) -> tuple[int, ...]:
    sizes = shape[0] if len(shape) == 1 and not hasattr(shape[0], "__index__") else shape
    return tuple(size.__index__() for size in sizes)


def _uniform(name: str, shape, dtype) -> np.ndarray:
    """Numbers in [0, 1) with as many random bits as the dtype has: rounding wider ones could give 1."""
    draw, dtype = _generator(name), _floating(name, dtype)
    if dtype.itemsize > 2:
        return np.asarray(draw.random(shape, dtype))
    bits = 11 if dtype == dtypes.float16 else 8
    return np.asarray(draw.integers(0, 2**bits, shape) / 2**bits).astype(dtype)


def _normal(name: str, shape, dtype) -> np.ndarray:
    draw, dtype = _generator(name), _floating(name, dtype)
    return np.asarray(draw.standard_normal(shape, dtypes.float64 if dtype == dtypes.float64 else dtypes.float32)).astype(dtype)


def _floating(name: str, dtype) -> np.dtype:
    dtype = dtypes.dtype_of(dtype)
    if not dtypes.is_floating(dtype):
        raise DTypeError(f"{name}: dtype must be a floating dtype, found {dtype}")
    return dtype
