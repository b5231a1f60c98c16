"""Triangles and diagonals of matrices: functions of the shape family composed of comparisons, where and gather."""
from __future__ import annotations

from ...dialect.shapes import normalize_axis
from ...errors import ShapeError
from ..symbolic_int import size_of
from ..tensor import Tensor
from .creation import arange, zeros
from .declared import as_tensor, declared
from .shape import moveaxis

__all__ = ["tri", "tril", "triu", "diagonal", "diag", "trace"]


def _below(x: Tensor, k: int) -> Tensor:
    """Where the elements of matrices on and below the k-th diagonal are: (rows, columns), bool."""
    if x.ndim < 2:
        raise ShapeError(f"a triangle needs a matrix, found shape {x.shape}")
    rows, columns = x.shape[-2:]
    return arange(columns) <= arange(rows).reshape((-1, 1)) + k


def tri(rows, columns=None, k: int = 0, dtype="float32") -> Tensor:
    """Ones on and below the k-th diagonal, zeros elsewhere."""
    columns = rows if columns is None else columns
    return (arange(columns) <= arange(rows).reshape((-1, 1)) + k).astype(dtype)


def tril(x: Tensor, k: int = 0) -> Tensor:
    """x with zeros above the k-th diagonal of its last two axes."""
    x = as_tensor(x)
    return declared.where(_below(x, k), x, x.dtype.type(0))


def triu(x: Tensor, k: int = 0) -> Tensor:
    """x with zeros below the k-th diagonal of its last two axes."""
    x = as_tensor(x)
    return declared.where(_below(x, k - 1), x.dtype.type(0), x)


def diagonal(x: Tensor, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Tensor:
    """The elements x[i, i + offset] over two axes, which become one, the last: numpy's diagonal."""
    x = as_tensor(x)
    first, second = normalize_axis(axis1, x.ndim, "axis1"), normalize_axis(axis2, x.ndim, "axis2")
    if first == second:
        raise ShapeError(f"diagonal: axis1 and axis2 are both axis {first}")
    x = moveaxis(x, (first, second), (-2, -1))
    rows, columns = (size_of(s) for s in x.shape[-2:])
    from ...dialect import symbolic

    count = symbolic.minimum(rows, columns - offset) if offset >= 0 else symbolic.minimum(rows + offset, columns)
    count = symbolic.maximum(count, 0)
    flat = declared.reshape(x, shape=(*map(size_of, x.shape[:-2]), rows * columns))
    start = offset if offset >= 0 else -offset * columns
    places = declared.iota(size=(count,)) * _number(columns + 1, x) + _number(start, x)
    return declared.gather(flat, places, axis=flat.ndim - 1)


def _number(size, x: Tensor):
    """A size as something to compute with tensors."""
    from ..symbolic_int import wrap

    return size if isinstance(size, int) else wrap(size, x._node.builder)


def diag(x: Tensor, k: int = 0) -> Tensor:
    """The k-th diagonal of a matrix, or the matrix that has a vector on its k-th diagonal: numpy's diag."""
    x = as_tensor(x)
    if x.ndim == 2:
        return diagonal(x, k)
    if x.ndim != 1:
        raise ShapeError(f"diag: x must be a vector or a matrix, found shape {x.shape}")
    n = x.shape[0] + abs(k)
    i, j = arange(n).reshape((-1, 1)), arange(n)
    padded = declared.concat([zeros((abs(k),), x.dtype), x] if k > 0 else [x, zeros((abs(k),), x.dtype)], axis=0) if k else x
    return declared.where(i + k == j, padded if k >= 0 else padded.reshape((1, -1)), x.dtype.type(0))


def trace(x: Tensor, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Tensor:
    """The sum of a diagonal."""
    return declared.sum(diagonal(x, offset, axis1, axis2), axis=(-1,))
