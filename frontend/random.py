"""Seeded random numbers, eager: initialisation, dropout and data come from one generator for each thread."""
from __future__ import annotations

import threading

import numpy as np

from ..dialect import dtypes
from .dispatch import current_recorder
from .tensor import Tensor

__all__ = ["manual_seed", "generator", "get_state", "set_state", "rand", "randn", "uniform", "normal", "randint", "permutation", "bernoulli"]

_state = threading.local()


def generator() -> np.random.Generator:
    """This thread's random generator; `manual_seed` starts it anew."""
    if not hasattr(_state, "generator"):
        _state.generator = np.random.default_rng()
    return _state.generator


def manual_seed(seed: int) -> None:
    """Start this thread's generator from `seed`: the same seed gives the same numbers."""
    _state.generator = np.random.default_rng(seed)


def get_state() -> dict:
    """Where this thread's generator stands, for `set_state`."""
    return generator().bit_generator.state


def set_state(state: dict) -> None:
    """Put this thread's generator where it stood when `get_state` gave `state`."""
    generator().bit_generator.state = state


def uniform(low: float = 0.0, high: float = 1.0, shape=(), dtype=dtypes.float32) -> Tensor:
    """Numbers drawn uniformly from [low, high)."""
    return _eager("uniform", lambda g: g.uniform(low, high, shape), dtype)


def normal(mean: float = 0.0, std: float = 1.0, shape=(), dtype=dtypes.float32) -> Tensor:
    """Numbers drawn from the normal distribution N(mean, std^2)."""
    return _eager("normal", lambda g: g.normal(mean, std, shape), dtype)


def rand(*shape: int, dtype=dtypes.float32) -> Tensor:
    """Numbers drawn uniformly from [0, 1): ``rand(2, 3)`` or ``rand((2, 3))``."""
    return _eager("rand", lambda g: g.random(_sizes(shape)), dtype)


def randn(*shape: int, dtype=dtypes.float32) -> Tensor:
    """Numbers drawn from N(0, 1): ``randn(2, 3)`` or ``randn((2, 3))``."""
    return _eager("randn", lambda g: g.standard_normal(_sizes(shape)), dtype)


def randint(low: int, high: int, shape=(), dtype=dtypes.int64) -> Tensor:
    """Integers drawn uniformly from [low, high)."""
    return _eager("randint", lambda g: g.integers(low, high, shape), dtype)


def permutation(count: int) -> Tensor:
    """0 to count - 1 in random order, i64."""
    return _eager("permutation", lambda g: g.permutation(count), dtypes.int64)


def bernoulli(probability: float, shape=(), dtype=dtypes.float32) -> Tensor:
    """1 with the given probability, else 0."""
    return _eager("bernoulli", lambda g: g.random(shape) < probability, dtype)


def _sizes(shape: tuple) -> tuple:
    return tuple(shape[0]) if len(shape) == 1 and isinstance(shape[0], (tuple, list)) else shape


def _eager(name: str, draw, dtype) -> Tensor:
    if current_recorder() is not None:
        current_recorder().refuse(name, "random numbers would be frozen: draw them outside and give them to the model as an input")
    return Tensor._wrap(np.asarray(draw(generator())).astype(dtypes.dtype_of(dtype)))
