"""Systems of linear equations: elimination as a loop, for matrices of fixed or symbolic size, in batches."""
from __future__ import annotations

import collections
import math

from ... import ops
from ..registry import handles
from .values import as_dtype, promoted

SignAndLog = collections.namedtuple("SignAndLog", ("sign", "logabsdet"))


@handles("linalg_inv", "inverse")
def inverse(A):
    """The inverse; NaN for a singular matrix, where torch raises an error."""
    return _solved(A, ops.broadcast_to(ops.eye(A.shape[-1], dtype=A.dtype), shape=A.shape))


@handles("linalg_solve")
def solve(A, B, left=True):
    """X of A X = B, or of X A = B; B may be vectors. NaN for a singular matrix, where torch raises an error."""
    A, B = promoted(A, B)
    if B.ndim == 1 or B.ndim == A.ndim - 1 and all(a is b or a == b for a, b in zip(B.shape, A.shape)):
        return ops.squeeze(_solved(A, ops.expand_dims(B, -1)), -1)
    if not left:
        return _turned(_solved(_turned(A), _turned(B)))
    return _solved(A, B)


@handles("linalg_solve_triangular")
def solve_triangular(A, B, upper, left=True, unitriangular=False):
    A = (ops.triu if upper else ops.tril)(A)
    if unitriangular:
        unit = ops.eye(A.shape[-1], dtype=A.dtype)
        A = ops.where(unit == 1, unit, A)
    return solve(A, B, left)


@handles("cholesky_solve")
def cholesky_solve(B, L, upper=False):
    """X of (L L^T) X = B, or of (L^T L) X = B."""
    first, second = (_turned(L), L) if upper else (L, _turned(L))
    return _solved(second, _solved(first, B))


@handles("linalg_cholesky", "cholesky")
def cholesky(A, upper=False):
    """The lower factor, column by column; NaN for a matrix that is not positive definite, where torch raises an error."""
    size, matrices = A.shape[-1], _batch(A)
    places = ops.arange(size)

    def step(k, carried):
        rest, factor = carried
        column = ops.gather(rest, k, axis=2)
        column = ops.where(places >= k, column / ops.sqrt(_at(column, k)), as_dtype(0, A.dtype))
        factor = ops.where(places == k, ops.expand_dims(column, 2), factor)
        return rest - ops.expand_dims(column, 2) * ops.expand_dims(column, 1), factor

    _, factor = ops.fori_loop(0, size, step, (matrices, ops.zeros_like(matrices)))
    factor = ops.reshape(factor, shape=A.shape)
    return _turned(factor) if upper else factor


@handles("linalg_det", "det")
def det(A):
    sign, pivots = _eliminated(_batch(A), A.shape[-1])[1:]
    return ops.reshape(sign * ops.prod(pivots, axis=1), shape=A.shape[:-2])


@handles("linalg_slogdet", "slogdet")
def slogdet(A):
    sign, pivots = _eliminated(_batch(A), A.shape[-1])[1:]
    sign = sign * ops.prod(ops.sign(pivots), axis=1)
    return SignAndLog(*(ops.reshape(t, shape=A.shape[:-2]) for t in (sign, ops.sum(ops.log(ops.abs(pivots)), axis=1))))


@handles("logdet")
def logdet(A):
    """log of the determinant; NaN where it is negative."""
    sign, logarithm = slogdet(A)
    return ops.where(sign < 0, as_dtype(float("nan"), A.dtype), logarithm)


def _turned(x):
    return ops.swapaxes(x, -1, -2)


def _batch(x):
    """Matrices with one leading axis."""
    return ops.reshape(x, shape=(math.prod(x.shape[:-2]), *x.shape[-2:])) if x.ndim != 3 else x


def _at(rows, k):
    """Element k of each row, as a column."""
    return ops.expand_dims(ops.gather(rows, k, axis=1), 1)


def _solved(A, B):
    """X of A X = B for matrices."""
    lead = ops.broadcast_tensors(A[..., :1, :1], B[..., :1, :1])[0].shape[:-2]
    A, B = (ops.broadcast_to(t, shape=(*lead, *t.shape[-2:])) for t in (A, B))
    size = A.shape[-1]
    reduced, _, pivots = _eliminated(ops.concat([_batch(A), _batch(B)], axis=2), size)
    regular = ops.all(pivots != 0, axis=1)
    x = ops.where(ops.expand_dims(regular, (1, 2)), reduced[:, :, size:], as_dtype(float("nan"), B.dtype))
    return ops.reshape(x, shape=B.shape)


def _eliminated(rows, size):
    """Gauss-Jordan elimination of the first `size` columns with partial pivoting: what is left, the sign of the exchanges, the pivots."""
    places = ops.arange(size)

    def step(k, carried):
        rows, sign, pivots = carried
        candidates = ops.where(places >= k, ops.abs(ops.gather(rows, k, axis=2)), as_dtype(-1, rows.dtype))
        best = ops.argmax(candidates, axis=1, keepdims=True)
        order = ops.where(places == k, best, ops.where(places == best, k, places))
        rows = ops.take_along_axis(rows, ops.broadcast_to(ops.expand_dims(order, 2), shape=rows.shape), 1)
        row, column = ops.gather(rows, k, axis=1), ops.gather(rows, k, axis=2)
        pivot = _at(row, k)
        row = row / ops.where(pivot == 0, as_dtype(1, pivot.dtype), pivot)
        rest = rows - ops.expand_dims(column, 2) * ops.expand_dims(row, 1)
        rows = ops.where(ops.expand_dims(places == k, 1), ops.expand_dims(row, 1), rest)
        sign = ops.where(ops.squeeze(best, 1) == k, sign, -sign)
        return rows, sign, ops.where(places == k, pivot, pivots)

    ones = ops.ones((rows.shape[0], size), rows.dtype)
    sign = ops.ones((rows.shape[0],), rows.dtype)
    return ops.fori_loop(0, size, step, (rows, sign, ones)) if not isinstance(size, int) or size else (rows, sign, ones)
