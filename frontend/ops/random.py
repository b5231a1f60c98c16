"""Seeded random numbers, eager alone: `manual_seed` fixes the sequence. In a recording each is a TraceError, for its numbers would be frozen."""
from __future__ import annotations

from typing import Callable, Sequence

import numpy as np

from ...dialect import dtypes
from ...dialect.attributes import Int, Shape
from ...errors import DTypeError, OnemlirError
from ..dispatch import current_recorder, training_allowed
from ..random import generator
from ..tensor import Tensor
from .declared import as_tensor

__all__ = ["bernoulli", "dropout", "normal", "rand", "rand_like", "randint", "randn", "randn_like", "randperm", "uniform"]

_ADVICE = "these random numbers would be constants of the recording: draw them outside and make them an input, or use ops.random_* with a key"
_DROPOUT_ADVICE = ("in training it is random: record in evaluation mode, as Module.trace does, or pass training=False; om.jit and om.grad draw "
                   "new numbers at each call")


def rand(*shape, dtype=dtypes.float32) -> Tensor:
    """Uniform numbers in [0, 1). shape: sizes, or one sequence of them."""
    return _uniform("rand", _shape(shape), dtype)


def randn(*shape, dtype=dtypes.float32) -> Tensor:
    """Numbers of the standard normal distribution. shape: sizes, or one sequence of them."""
    return _normal("randn", _shape(shape), dtype)


def rand_like(x, dtype=None) -> Tensor:
    """Uniform numbers in [0, 1) of x's shape, and dtype unless given."""
    return _uniform("rand_like", _shape((x.shape,)), x.dtype if dtype is None else dtype)


def randn_like(x, dtype=None) -> Tensor:
    """Standard normal numbers of x's shape, and dtype unless given."""
    return _normal("randn_like", _shape((x.shape,)), x.dtype if dtype is None else dtype)


def uniform(low: float = 0.0, high: float = 1.0, shape: Sequence[int] = (), dtype=dtypes.float32) -> Tensor:
    """Uniform numbers between low and high."""
    return _uniform("uniform", _shape((shape,)), dtype) * (high - low) + low


def normal(mean: float = 0.0, std: float = 1.0, shape: Sequence[int] = (), dtype=dtypes.float32) -> Tensor:
    """Normal numbers of the given mean and standard deviation."""
    if std < 0:
        raise OnemlirError(f"normal: std must not be negative, found {std}")
    return _normal("normal", _shape((shape,)), dtype) * std + mean


def randint(low: int, high: int | None = None, shape: Sequence[int] = (), dtype=dtypes.int64) -> Tensor:
    """Uniform integers in [low, high), or in [0, low) when high is None. Source: numpy."""
    low, high = (0, low) if high is None else (low, high)
    low, high = Int().check(low, "low", ()), Int().check(high, "high", ())
    if low >= high:
        raise OnemlirError(f"randint: there is no integer in [{low}, {high})")
    dtype = dtypes.dtype_of(dtype)
    if dtype not in dtypes.INTEGER:
        raise DTypeError(f"randint: dtype must be an integer dtype, found {dtype}")
    if low < np.iinfo(dtype).min or high - 1 > np.iinfo(dtype).max:
        raise DTypeError(f"randint: [{low}, {high}) does not fit {dtype}")
    size = _shape((shape,))
    return _drawn("randint", lambda draw: np.asarray(draw.integers(low, high, size, dtype)))


def bernoulli(p, dtype=None) -> Tensor:
    """1 with probability p, else 0, elementwise; dtype of p unless given. OnemlirError for p outside [0, 1]. Source: torch."""
    p = as_tensor(p)
    chance = None if p.is_recorded else p._array
    if chance is not None and not np.all((chance >= 0) & (chance <= 1)):
        raise OnemlirError("bernoulli: probabilities must lie in [0, 1]")
    size = _shape((p.shape,))
    drawn = _drawn("bernoulli", lambda draw: np.asarray(draw.random(size)))
    return (drawn < p).astype(p.dtype if dtype is None else dtype)


def randperm(n: int, dtype=dtypes.int64) -> Tensor:
    """The numbers 0 to n - 1 in a random order."""
    dtype = dtypes.dtype_of(dtype)
    return _drawn("randperm", lambda draw: draw.permutation(n).astype(dtype))


def dropout(x, p: float = 0.5, training: bool = True) -> Tensor:
    """x with each element set to 0 with probability p and the others divided by 1 - p; x itself when not training.

    OnemlirError for p outside [0, 1]; TraceError in a recording with training and p > 0. Source: Srivastava et al. 2014.
    """
    if not 0 <= p <= 1:
        raise OnemlirError(f"dropout: p must lie in [0, 1], found {p}")
    x = as_tensor(x)
    if not training or p == 0:
        return x
    size = _shape((x.shape,)) if training_allowed() else ()
    kept = _drawn("dropout", lambda draw: np.asarray(draw.random(size, np.float32) >= p).astype(x.dtype), _DROPOUT_ADVICE)
    return x * (kept * (1 / (1 - p) if p < 1 else 0.0))


def _drawn(name: str, make: Callable[[np.random.Generator], np.ndarray], advice: str = _ADVICE) -> Tensor:
    """What `make` draws; in a compiled function that may be random, an input that is drawn at each call."""
    recorder = current_recorder()
    if recorder is None:
        return Tensor._wrap(make(generator()))
    if not hasattr(recorder, "drawn"):
        recorder.refuse(name, advice)
    return recorder.drawn(make)


def _shape(shape) -> tuple[int, ...]:
    """Sizes as ints. OnemlirError for what is none, ShapeError for a negative one."""
    sizes = shape[0] if len(shape) == 1 and not hasattr(shape[0], "__index__") else shape
    sizes = tuple(s.__index__() if hasattr(s, "symbolic_size") else s for s in sizes) if isinstance(sizes, (tuple, list)) else sizes
    return Shape().check(sizes, "shape", ())


def _uniform(name: str, shape, dtype) -> Tensor:
    """Numbers in [0, 1) with as many random bits as the dtype has: rounding wider ones could give 1."""
    dtype = _floating(name, dtype)
    if dtype.itemsize > 2:
        return _drawn(name, lambda draw: np.asarray(draw.random(shape, dtype)))
    bits = 11 if dtype == dtypes.float16 else 8
    return _drawn(name, lambda draw: np.asarray(draw.integers(0, 2**bits, shape) / 2**bits).astype(dtype))


def _normal(name: str, shape, dtype) -> Tensor:
    dtype = _floating(name, dtype)
    wide = dtypes.float64 if dtype == dtypes.float64 else dtypes.float32
    return _drawn(name, lambda draw: np.asarray(draw.standard_normal(shape, wide)).astype(dtype))


def _floating(name: str, dtype) -> np.dtype:
    dtype = dtypes.dtype_of(dtype)
    if not dtypes.is_floating(dtype):
        raise DTypeError(f"{name}: dtype must be a floating dtype, found {dtype}")
    return dtype
