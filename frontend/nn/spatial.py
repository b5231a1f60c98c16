"""What layers over spatial axes share: settings per axis, and inputs without a batch axis."""
from __future__ import annotations

from typing import Callable, Sequence, Union

from .. import ops
from ...errors import OnemlirError, ShapeError

Sizes = Union[int, Sequence[int]]
"""A setting of a layer over spatial axes: one number for all, or one for each."""


def per_axis(value, rank: int, name: str) -> tuple:
    """A setting for each of `rank` axes; a single number stands for all of them."""
    values = tuple(value) if isinstance(value, (tuple, list)) else (value,) * rank
    if len(values) != rank:
        raise OnemlirError(f"'{name}' must be one number or {rank}, found {value!r}")
    return values


def batched(x, rank: int, function: Callable, what: str):
    """function(x) on (N, C, *spatial); (C, *spatial) gets a batch axis of size 1 that is taken away again."""
    if x.ndim == rank + 2:
        return function(x)
    if x.ndim != rank + 1:
        raise ShapeError(f"{what} takes {rank + 1} or {rank + 2} axes, found shape {x.shape}")
    return without_batch(function(ops.expand_dims(x, 0)))


def without_batch(result):
    """A result, or a tuple of them, without its first axis, whose size is 1."""
    if isinstance(result, tuple):
        return tuple(map(without_batch, result))
    return ops.reshape(result, result.shape[1:])
