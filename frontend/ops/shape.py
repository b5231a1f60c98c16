"""Rearranging tensors: functions composed of reshape, transpose, slice and concat."""
from __future__ import annotations

from typing import Sequence

from ...dialect.declare import REGISTRY
from ...dialect.shapes import normalize_axis
from ..dispatch import apply
from ..tensor import Tensor

__all__ = ["expand_dims", "stack"]


def expand_dims(x: Tensor, axis: int = 0) -> Tensor:
    """x with a new axis of size 1 at `axis`."""
    axis = normalize_axis(axis, x.ndim + 1)
    return apply(REGISTRY["om.reshape"], [x], {"shape": x.shape[:axis] + (1,) + x.shape[axis:]})


def stack(xs: Sequence[Tensor], axis: int = 0) -> Tensor:
    """Tensors of one shape joined along a new axis."""
    return apply(REGISTRY["om.concat"], [expand_dims(x, axis) for x in xs], {"axis": axis})
