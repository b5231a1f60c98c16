"""Discrete Fourier transforms of one axis, on real and imaginary parts apart: products with matrices of cosines and sines.

Long axes are taken apart into two shorter ones (Cooley and Tukey 1965; in the form of Bailey 1990: columns, twiddle factors, rows).
X[k] = scale * sum over n of x[n] * exp(-2 pi i k n / length), with + for the inverse; a factor `scale` is the caller's.
"""
from __future__ import annotations

import functools
import math

import numpy as np

from ...dialect import symbolic
from ...dialect.shapes import require_less_equal
from ...errors import UnsupportedOpError
from ..symbolic_int import size_of
from ..tensor import Tensor
from .declared import as_tensor, declared as om
from .joining import concatenate
from .shape import moveaxis, sizes, slice_along, squeeze, swapaxes

LONGEST_MATRIX = 500  # a transform of more points is taken apart
LARGEST_PRIME = 4096  # one that cannot be needs a matrix of that many rows and columns

Parts = tuple  # of the real part and the imaginary one, None where it is zero


def transform(parts: Parts, axis: int, length=None, inverse: bool = False, count=None, scale=1.0, window: Tensor | None = None) -> Parts:
    """The first `count` of `length` frequencies of x along an axis; x is cut or filled with zeros to `length`.

    window: a factor of each point, (length,). Sizes may be symbolic: the matrices are then made when the model runs.
    UnsupportedOpError for a length with a prime factor above LARGEST_PRIME.
    """
    rows = [None if p is None else moveaxis(p, axis, -1) for p in parts]
    length = size_of(rows[0].shape[-1] if length is None else length)
    rows = [None if p is None else fitted(p, length) for p in rows]
    count = length if count is None else size_of(count)
    if isinstance(length, int) and length > LONGEST_MATRIX and divisor(length) > 1:
        if window is not None:
            rows = [None if p is None else p * window for p in rows]
        found = [slice_along(p, -1, 0, count) for p in _taken_apart(rows, length, inverse, scale)]
    else:
        cosine, sine = _matrices(length, length, count, inverse, scale, rows[0].dtype)
        if window is not None:
            cosine, sine = (om.multiply(m, om.reshape(window, shape=(length, 1))) for m in (cosine, sine))
        found = _product(rows, cosine, sine, om.matmul)
    return tuple(moveaxis(p, -1, axis) for p in found)


def real_inverse(parts: Parts, axis: int, length, scale=1.0, window: Tensor | None = None) -> Tensor:
    """The real signal of `length` points whose first half of frequencies is given: each but the first and the middle one counts twice.

    The imaginary parts of the first and the middle frequency count for nothing. window: a factor of each point of the result, (length,).
    """
    length = size_of(length)
    half = symbolic.add(symbolic.floordiv(length, 2), 1)
    real, imaginary = (fitted(moveaxis(p, axis, -1), half) for p in parts)
    if isinstance(length, int) and length > LONGEST_MATRIX and divisor(length) > 1:
        y = _taken_apart(_both_halves(real, imaginary, length), length, True, scale)[0]
        y = y if window is None else y * window
    else:
        cosine, sine = _matrices(length, half, length, True, scale, real.dtype, doubled=True)
        if window is not None:
            cosine, sine = om.multiply(cosine, window), om.multiply(sine, window)
        y = om.matmul(real, cosine) - om.matmul(imaginary, sine)
    return moveaxis(y, -1, axis)


def frames(x: Tensor, length: int, step: int) -> Tensor:
    """Pieces of the last axis, `step` apart: (..., time) gives (..., frames, length). ShapeError for an axis shorter than `length`."""
    from .creation import arange

    size = sizes(x)[-1]
    require_less_equal(length, size, f"frames of {length} points of a signal of {size}")
    count = symbolic.add(symbolic.floordiv(symbolic.add(size, -length), step), 1)
    return om.gather(x, om.reshape(arange(_counted(count)) * step, shape=(count, 1)) + np.arange(length), axis=x.ndim - 1)


def overlapped(x: Tensor, step: int) -> Tensor:
    """Frames added up at their places, `step` apart: (..., frames, length) gives (..., step * (frames - 1) + length)."""
    *lead, count, length = sizes(x)
    pieces = -(-length // step)
    x = om.reshape(fitted(x, pieces * step), shape=(*lead, count, pieces, step))
    total = symbolic.add(count, pieces - 1)
    y = None
    for piece in range(pieces):
        part = squeeze(slice_along(x, -2, piece, 1), -2)
        part = om.pad(part, low=(0,) * len(lead) + (piece, 0), high=(0,) * len(lead) + (pieces - 1 - piece, 0)) if pieces > 1 else part
        y = part if y is None else y + part
    y = om.reshape(y, shape=(*lead, symbolic.mul(total, step)))
    return slice_along(y, -1, 0, symbolic.add(symbolic.mul(symbolic.add(count, -1), step), length))


def part_of(length) -> float | Tensor:
    """1 / length, of a size that may be symbolic."""
    return 1 / length if isinstance(length, int) else 1.0 / as_tensor(_counted(length)).astype(np.float64)


def fitted(x: Tensor, length) -> Tensor:
    """The last axis cut, or filled with zeros, to `length`."""
    size = sizes(x)[-1]
    if size == length:
        return x
    more = symbolic.maximum(symbolic.add(length, symbolic.mul(size, -1)), 0)
    if more != 0:
        x = concatenate([x, om.broadcast_to(Tensor._wrap(np.zeros((), x.dtype)), shape=(*sizes(x)[:-1], more))], axis=-1)
    return slice_along(x, -1, 0, length)


def divisor(length: int) -> int:
    """The largest divisor that is not above the square root. UnsupportedOpError for a large prime."""
    found = next(d for d in range(math.isqrt(length), 0, -1) if length % d == 0)
    if found == 1 and length > LARGEST_PRIME:
        raise UnsupportedOpError(f"a Fourier transform of {length} points, a prime above {LARGEST_PRIME}, cannot be recorded\n"
                                 "  fill the signal with zeros to a length that has small factors")
    return found


def _product(parts: Parts, cosine, sine, matmul) -> Parts:
    real, imaginary = parts
    if imaginary is None:
        return matmul(real, cosine), matmul(real, sine)
    return matmul(real, cosine) - matmul(imaginary, sine), matmul(real, sine) + matmul(imaginary, cosine)


def _taken_apart(parts: Parts, length: int, inverse: bool, scale) -> Parts:
    """All frequencies of the last axis: its points as a matrix, transforms of the columns, then of the rows."""
    rows = divisor(length)
    columns = length // rows
    real, imaginary = (None if p is None else om.reshape(p, shape=(*sizes(p)[:-1], rows, columns)) for p in parts)
    dtype = real.dtype
    of_columns = _product((real, imaginary), *_matrices(rows, rows, rows, inverse, scale, dtype), lambda x, m: om.matmul(m, x))
    turned = _turned(of_columns, *_matrices(length, rows, columns, inverse, 1.0, dtype))
    real, imaginary = transform(turned, -1, inverse=inverse)
    return tuple(om.reshape(swapaxes(p, -1, -2), shape=(*sizes(p)[:-2], length)) for p in (real, imaginary))


def _turned(parts: Parts, cosine, sine) -> Parts:
    """Products of complex numbers."""
    real, imaginary = parts
    return real * cosine - imaginary * sine, real * sine + imaginary * cosine


def _both_halves(real: Tensor, imaginary: Tensor, length: int) -> Parts:
    """All frequencies of a real signal from its first half."""
    rest = length - length // 2 - 1
    edge = np.ones(length // 2 + 1, real.dtype)
    edge[0] = 0
    if length % 2 == 0:
        edge[-1] = 0
    imaginary = imaginary * Tensor._wrap(edge)
    mirrored = [slice_along(p, -1, rest, rest, -1) for p in (real, imaginary)]
    return concatenate([real, mirrored[0]], axis=-1), concatenate([imaginary, -mirrored[1]], axis=-1)


def _matrices(length, rows, columns, inverse: bool, scale, dtype, doubled: bool = False) -> Parts:
    """scale * cos and sin of 2 pi r c / length, (rows, columns); the sign of sin is that of the transform's direction.

    doubled: rows are frequencies of a real signal, which count twice, but once where one is its own mirror image.
    """
    if all(isinstance(s, int) for s in (length, rows, columns)) and isinstance(scale, (int, float)):
        return _known_matrices(length, rows, columns, inverse, float(scale), np.dtype(dtype), doubled)
    from .creation import arange

    points = as_tensor(_counted(length))
    row, column = om.reshape(arange(_counted(rows)), shape=(rows, 1)), arange(_counted(columns))
    angle = om.remainder(row * column, points).astype(dtype) * (2 * np.pi) / points.astype(dtype)
    factor = as_tensor(scale).astype(dtype)
    if doubled:
        factor = factor * om.where(om.logical_or(row == 0, row * 2 == points), np.ones((), dtype), np.full((), 2, dtype))
    return om.cos(angle) * factor, om.sin(angle) * (factor if inverse else -factor)


@functools.lru_cache(maxsize=32)
def _known_matrices(length: int, rows: int, columns: int, inverse: bool, scale: float, dtype: np.dtype, doubled: bool) -> Parts:
    angles = 2 * np.pi * (np.outer(np.arange(rows), np.arange(columns)) % length) / length
    factor = np.full((rows, 1), 2 * scale if doubled else scale)
    if doubled:
        factor[[0, length // 2] if length % 2 == 0 else 0] = scale
    return (np.cos(angles) * factor).astype(dtype), (np.sin(angles) * (factor if inverse else -factor)).astype(dtype)


def _counted(size):
    """A size as the functions of this package take it in a recording."""
    from ..dispatch import current_recorder
    from ..symbolic_int import wrap

    return size if isinstance(size, int) else wrap(size, current_recorder())
