"""The seeded generator behind initialisation and eager random ops: one for each thread."""
from __future__ import annotations

import threading

import numpy as np

from ..errors import OnemlirError

_state = threading.local()


def generator() -> np.random.Generator:
    """This thread's random generator; `manual_seed` starts it anew."""
    if not hasattr(_state, "generator"):
        _state.generator = np.random.default_rng()
    return _state.generator


def manual_seed(seed: int) -> None:
    """Start this thread's generator from `seed`, a non-negative int: the same seed gives the same numbers."""
    if not hasattr(seed, "__index__") or seed.__index__() < 0:
        raise OnemlirError(f"manual_seed takes a non-negative int, found {seed!r:.60}")
    _state.generator = np.random.default_rng(seed)


def get_state() -> dict:
    """Where this thread's generator stands, for `set_state`."""
    return generator().bit_generator.state


def set_state(state: dict) -> None:
    """Put this thread's generator where it stood when `get_state` gave `state`."""
    generator().bit_generator.state = state
