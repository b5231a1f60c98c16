"""Factors of small matrices, in batches: loops of reflections and rotations.

QR by Householder's reflections, signs as LAPACK's. Singular values by one-sided Jacobi rotations (Hestenes 1958; Demmel and Veselic 1992), a fixed number
of sweeps over all pairs of columns; eigenvalues of a symmetric matrix from those of the matrix made positive. Vectors may have other signs than torch's.
"""
from __future__ import annotations

import collections

import numpy as np

from ... import ops
from ...tensor import Tensor
from ..registry import handles
from .linear_systems import _batch, _solved, _turned
from .values import as_dtype, promoted

SWEEPS = 12
QR = collections.namedtuple("QR", ("Q", "R"))
SVD = collections.namedtuple("SVD", ("U", "S", "Vh"))
Eigen = collections.namedtuple("Eigen", ("eigenvalues", "eigenvectors"))
LeastSquares = collections.namedtuple("LeastSquares", ("solution", "residuals", "rank", "singular_values"))


@handles("linalg_qr", "qr")
def qr(A, mode="reduced"):
    """A = Q R, R upper triangular; mode "complete" gives a square Q, "r" an empty one."""
    rows, columns = A.shape[-2:]
    if not all(isinstance(s, int) for s in (rows, columns)) or not isinstance(mode, str):
        return NotImplemented
    places = ops.arange(rows)
    start = _batch(A)
    unit = ops.broadcast_to(ops.eye(rows, dtype=A.dtype), shape=(start.shape[0], rows, rows))

    def step(k, carried):
        Q, R = carried
        x = ops.where(places >= k, ops.gather(R, k, axis=2), as_dtype(0, A.dtype))
        head = ops.sum(ops.where(places == k, x, as_dtype(0, A.dtype)), axis=1, keepdims=True)
        rest = ops.sum(ops.where(places > k, x * x, as_dtype(0, A.dtype)), axis=1, keepdims=True)
        v = x + ops.where(places == k, ops.copysign(ops.sqrt(head * head + rest), head), as_dtype(0, A.dtype))
        size = ops.sum(v * v, axis=1, keepdims=True)
        factor = ops.where(rest == 0, as_dtype(0, A.dtype), 2.0 / ops.where(rest == 0, as_dtype(1, A.dtype), size))  # no reflection of what is done
        column, row = ops.expand_dims(v * factor, 2), ops.expand_dims(v, 1)
        return Q - ops.matmul(Q, column) * row, R - column * ops.matmul(row, R)

    Q, R = ops.fori_loop(0, min(rows, columns), step, (unit, start))
    R = ops.triu(R)
    count = rows if mode == "complete" else min(rows, columns)
    Q = ops.zeros((0,), A.dtype) if mode == "r" else ops.reshape(Q[:, :, :count], shape=(*A.shape[:-2], rows, count))
    return QR(Q, ops.reshape(R[:, :count], shape=(*A.shape[:-2], count, columns)))


def _rotated(A: Tensor):
    """A V with orthogonal columns and V, both in batches, of (batch, m, n) with m >= n."""
    size = A.shape[-1]
    first, second = (Tensor._wrap(i.astype(np.int64)) for i in np.triu_indices(size, 1))
    pairs, places, one = size * (size - 1) // 2, ops.arange(size), as_dtype(1, A.dtype)
    V = ops.broadcast_to(ops.eye(size, dtype=A.dtype), shape=(A.shape[0], size, size))

    def step(k, carried):
        p, q = (ops.gather(i, ops.remainder(k, as_dtype(pairs, k.dtype)), axis=0) for i in (first, second))
        a, b = (ops.gather(carried[0], i, axis=2) for i in (p, q))
        product = ops.sum(a * b, axis=1, keepdims=True)
        ratio = (ops.sum(b * b, axis=1, keepdims=True) - ops.sum(a * a, axis=1, keepdims=True)) / ops.where(product == 0, one, product * 2.0)
        tangent = ops.where(ratio >= 0, one, -one) / (ops.abs(ratio) + ops.sqrt(ratio * ratio + 1.0))
        tangent = ops.where(product == 0, as_dtype(0, A.dtype), tangent)
        cosine = 1.0 / ops.sqrt(tangent * tangent + 1.0)
        return tuple(_turn(x, p, q, places, ops.expand_dims(cosine, 2), ops.expand_dims(cosine * tangent, 2)) for x in carried)

    return ops.fori_loop(0, SWEEPS * pairs, step, (A, V)) if pairs else (A, V)


def _turn(x, p, q, places, cosine, sine):
    """Columns p and q turned in their plane."""
    a, b = (ops.expand_dims(ops.gather(x, i, axis=2), 2) for i in (p, q))
    return ops.where(places == p, cosine * a - sine * b, ops.where(places == q, sine * a + cosine * b, x))


def _decomposed(A: Tensor):
    """U, the singular values from the largest on, and V, of matrices of fixed size; None for a symbolic one."""
    if not all(isinstance(s, int) for s in A.shape[-2:]):
        return None
    x = _batch(A)
    wide = A.shape[-2] < A.shape[-1]
    columns, V = _rotated(_turned(x) if wide else x)
    values = ops.sqrt(ops.sum(columns * columns, axis=1))
    order = ops.expand_dims(ops.argsort(values, axis=1, descending=True), 1)
    values, columns, V = (ops.take_along_axis(t, ops.broadcast_to(order, shape=t.shape), -1) for t in (ops.expand_dims(values, 1), columns, V))
    U = columns / ops.where(values == 0, as_dtype(1, A.dtype), values)
    shaped = lambda t: ops.reshape(t, shape=(*A.shape[:-2], *t.shape[1:]))
    U, V = (V, U) if wide else (U, V)
    return shaped(U), ops.reshape(values, shape=(*A.shape[:-2], values.shape[-1])), shaped(V)


@handles("linalg_svdvals")
def svdvals(A, driver=None):
    found = _decomposed(A)
    return NotImplemented if found is None else found[1]


@handles("linalg_svd")
def svd(A, full_matrices=True, driver=None):
    """U S Vh; of matrices that are not square with full_matrices=False alone."""
    if full_matrices and not (isinstance(A.shape[-1], int) and A.shape[-1] == A.shape[-2]):
        return NotImplemented
    found = _decomposed(A)
    return NotImplemented if found is None else SVD(found[0], found[1], _turned(found[2]))


@handles("_linalg_svd")
def aten_svd(A, full_matrices=False, compute_uv=True, driver=None):
    """What torch's functions in C++ ask for; without vectors for U and Vh nothing."""
    if compute_uv:
        return svd(A, full_matrices)
    values, nothing = svdvals(A), ops.zeros((0,), A.dtype)
    return values if values is NotImplemented else SVD(nothing, values, nothing)


@handles("linalg_pinv", "pinverse")
def pinv(A, rcond=None, hermitian=False, atol=None, rtol=None):
    """The pseudo-inverse; singular values below rtol times the largest, by default the larger size times the precision, count as 0."""
    found = _decomposed(A)
    if found is None or atol is not None or isinstance(rtol, Tensor) or isinstance(rcond, Tensor):
        return NotImplemented
    U, S, V = found
    least = next((r for r in (rcond, rtol) if r is not None), max(A.shape[-2:]) * float(np.finfo(A.dtype).eps))
    kept = S > S[..., :1] * float(least)
    inverse = ops.where(kept, 1.0 / ops.where(kept, S, as_dtype(1, S.dtype)), as_dtype(0, S.dtype))
    return ops.matmul(V * ops.expand_dims(inverse, -2), _turned(U))


@handles("linalg_eigh")
def eigh(A, UPLO="L"):
    """Eigenvalues of a symmetric matrix, from the smallest on, and eigenvectors; of the triangle that UPLO says."""
    if not all(isinstance(s, int) for s in A.shape[-2:]):
        return NotImplemented
    half = (ops.tril if UPLO == "L" else ops.triu)(A)
    diagonal = half * ops.eye(A.shape[-1], dtype=A.dtype)
    A = half + _turned(half) - diagonal
    shift = ops.sqrt(ops.sum(A * A, axis=(-2, -1), keepdims=True))
    _, values, vectors = _decomposed(A + ops.eye(A.shape[-1], dtype=A.dtype) * shift)
    return Eigen(ops.flip(values, (-1,)) - ops.squeeze(shift, -1), ops.flip(vectors, (-1,)))


@handles("linalg_eigvalsh")
def eigvalsh(A, UPLO="L"):
    found = eigh(A, UPLO)
    return found if found is NotImplemented else found[0]


@handles("linalg_lstsq")
def lstsq(A, B, rcond=None, driver=None):
    """The X of least |A X - B| for A of full rank with at least as many rows as columns; NaN where the rank is less. The solution alone is given."""
    A, B = promoted(A, B)
    factors = qr(A)
    if factors is NotImplemented or A.shape[-2] < A.shape[-1] or B.ndim != A.ndim:
        return NotImplemented
    return LeastSquares(_solved(factors.R, ops.matmul(_turned(factors.Q), B)), *(ops.zeros((0,), A.dtype) for _ in range(3)))
