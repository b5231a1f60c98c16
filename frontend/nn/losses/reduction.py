"""What all losses share: reductions, arguments, and that they belong to training."""
from __future__ import annotations

import functools

import numpy as np

from ... import ops
from ....errors import OnemlirError, ShapeError
from ...tensor import Tensor
from ..parameter import refuse_in_recording


def loss(function):
    """A loss: tensors or arrays are taken for its tensor arguments, and inside a recording it is a TraceError."""
    @functools.wraps(function)
    def call(*args, **kwargs):
        refuse_in_recording(function.__name__, "a loss belongs to training: record the model without it")
        return function(*map(as_tensor, args), **{name: as_tensor(value) for name, value in kwargs.items()})
    return call


def as_tensor(value):
    """Arrays and lists as tensors; anything else as it is."""
    if isinstance(value, Tensor) or not (isinstance(value, (np.ndarray, list)) or hasattr(value, "__dlpack__")):
        return value
    return Tensor(value)


def reduce_loss(values: Tensor, reduction: str) -> Tensor:
    """The elements themselves ("none"), their "sum" or their "mean"."""
    check_reduction(reduction)
    return values if reduction == "none" else (ops.sum if reduction == "sum" else ops.mean)(values)


def check_reduction(reduction: str, *more: str) -> None:
    allowed = ("none", "mean", "sum", *more)
    if reduction not in allowed:
        raise OnemlirError(f"reduction must be one of {', '.join(map(repr, allowed))}, found {reduction!r}")


def need_same_shape(what: str, input: Tensor, target: Tensor) -> None:
    if input.shape != target.shape:
        raise ShapeError(f"{what}: input has shape {input.shape} but target {target.shape}")


def positive_part(values: Tensor) -> Tensor:
    """max(values, 0) whose gradient at 0 is 1, as that of torch's clamp_min: a margin that is just reached still counts."""
    return ops.where(values < 0, 0.0, values)
