"""Indexing as in numpy: ``x[...]``."""
from __future__ import annotations

from ...dialect.declare import REGISTRY
from ..dispatch import apply
from ..tensor import Tensor


def getitem(x: Tensor, key) -> Tensor:
    """``x[key]`` for ints."""
    key = key if isinstance(key, tuple) else (key,)
    starts, shape, kept = [], [], []
    for axis, size in enumerate(x.shape):
        if axis < len(key) and isinstance(key[axis], int):
            starts.append(key[axis] % size if isinstance(size, int) else key[axis])
            shape.append(1)
        else:
            starts.append(0)
            shape.append(size)
            kept.append(size)
    picked = apply(REGISTRY["om.slice"], [x], {"starts": tuple(starts), "shape": tuple(shape), "steps": (1,) * x.ndim})
    return apply(REGISTRY["om.reshape"], [picked], {"shape": tuple(kept)})
