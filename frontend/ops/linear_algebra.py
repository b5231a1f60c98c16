"""Products of vectors and tensors, composed of ops."""
from __future__ import annotations

import math
from typing import Sequence

from ...dialect.shapes import normalize_axis
from ...errors import ShapeError
from ..tensor import Tensor
from .declared import as_tensor, declared as om
from .einsum import einsum

__all__ = ["dot", "einsum", "inner", "outer", "tensordot", "vecdot"]


def outer(x, y) -> Tensor:
    """result[i, j] = x[i] * y[j]; tensors of other ranks are flattened. Source: numpy, ``outer``."""
    x, y = as_tensor(x), as_tensor(y)
    return om.reshape(x, shape=(math.prod(x.shape), 1)) * om.reshape(y, shape=(1, math.prod(y.shape)))


def vecdot(x, y, axis: int = -1) -> Tensor:
    """sum(x * y) along one axis of both; the other axes broadcast. Integers keep their width. Source: array API, ``vecdot``."""
    x, y = as_tensor(x), as_tensor(y)
    product = _axis_last(x, axis) * _axis_last(y, axis)
    return om.sum(product, axis=-1).astype(product.dtype)


def _axis_last(x: Tensor, axis: int) -> Tensor:
    axis = normalize_axis(axis, x.ndim)
    return om.transpose(x, axes=(*(i for i in range(x.ndim) if i != axis), axis))


def dot(x, y) -> Tensor:
    """The product of scalars, of vectors, of matrices; of higher ranks over the last axis of x and the last but one of y. Source: numpy."""
    x, y = as_tensor(x), as_tensor(y)
    if x.ndim == 0 or y.ndim == 0:
        return x * y
    if y.ndim <= 2:
        return om.matmul(x, y)
    return tensordot(x, y, axes=((x.ndim - 1,), (y.ndim - 2,)))


def inner(x, y) -> Tensor:
    """Sums of products over the last axis of both. Source: numpy, ``inner``."""
    x, y = as_tensor(x), as_tensor(y)
    return x * y if x.ndim == 0 or y.ndim == 0 else tensordot(x, y, axes=((-1,), (-1,)))


def tensordot(x, y, axes: int | tuple[Sequence[int], Sequence[int]] = 2) -> Tensor:
    """Sums of products over axes of x and as many of y; an int n means the last n of x and the first n of y. Source: array API.

    The result has the other axes of x, then those of y. ShapeError for sizes that differ.
    """
    x, y = as_tensor(x), as_tensor(y)
    if hasattr(axes, "__index__"):
        if not 0 <= axes <= min(x.ndim, y.ndim):
            raise ShapeError(f"tensordot: axes must lie between 0 and the smaller rank {min(x.ndim, y.ndim)}, found {axes}")
        axes = tuple(range(x.ndim - axes, x.ndim)), tuple(range(axes))
    pairs = [[normalize_axis(a, rank) for a in ((side,) if hasattr(side, "__index__") else side)] for side, rank in zip(axes, (x.ndim, y.ndim))]
    if len(pairs[0]) != len(pairs[1]):
        raise ShapeError(f"tensordot: as many axes of x as of y are needed, found {axes}")
    labels_x, labels_y = list(range(x.ndim)), list(range(x.ndim, x.ndim + y.ndim))
    for a, b in zip(*pairs):
        if not (isinstance(x.shape[a], int) and isinstance(y.shape[b], int)) or x.shape[a] == y.shape[b]:
            labels_y[b] = a
            continue
        raise ShapeError(f"tensordot: axis {a} of x {x.shape} is {x.shape[a]} but axis {b} of y {y.shape} is {y.shape[b]}")
    rest = [label for label in labels_x if label not in pairs[0]] + [label for label in labels_y if label >= x.ndim]
    return einsum(x, labels_x, y, labels_y, rest)
