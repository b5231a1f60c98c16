"""Fourier transforms and what belongs to them. A transform is a product with the matrix of cosines and sines."""
from __future__ import annotations

import numpy as np

from ...dialect import dtypes
from ...dialect.shapes import normalize_axis
from ..ops.declared import declared as om
from ..ops.joining import stack
from ..ops.shape import moveaxis, slice_along, squeeze
from ..tensor import Tensor
from .registry import reads
from .shape import sizes_of


def _matrices(length: int, count: int, inverse: bool, dtype) -> tuple[Tensor, Tensor]:
    """cos and sin of 2 pi k n / length, (length, count); the sign of sin is that of the transform's direction."""
    angles = 2 * np.pi * (np.outer(np.arange(length), np.arange(count)) % length) / length
    scale = 1 / length if inverse else 1
    sign = 1 if inverse else -1
    return tuple(Tensor._wrap(np.asarray(m * scale).astype(dtype)) for m in (np.cos(angles), sign * np.sin(angles)))


def transformed(node, x: Tensor, axis: int, length: int | None, inverse: bool, onesided: bool) -> Tensor:
    """The transform along one axis of x (..., 1 or 2), the last axis holding the real and imaginary parts; zeros or a cut make `length`."""
    size = sizes_of(x)[axis]
    length = size if length is None else length
    if not isinstance(length, int) or not isinstance(size, int):
        node.needs_size(0, f"the transformed axis must have a fixed size, found {size}")
    parts = sizes_of(x)[-1]
    real, imaginary = (moveaxis(squeeze(slice_along(x, x.ndim - 1, min(i, parts - 1), 1), -1), axis, -1) for i in range(2))
    node.steps(max(size, length), "the points of the transform")
    used = min(size, length)
    real_only = parts == 1
    if inverse and onesided:
        return _real_inverse(real, imaginary, length, axis)
    count = length // 2 + 1 if onesided else length
    cosine, sine = (slice_along(m, 0, 0, used) for m in _matrices(length, count, inverse, x.dtype))
    cut = lambda t: slice_along(t, t.ndim - 1, 0, used)
    real = cut(real)
    if real_only:
        results = om.matmul(real, cosine), om.matmul(real, sine)
    else:
        imaginary = cut(imaginary)
        results = om.matmul(real, cosine) - om.matmul(imaginary, sine), om.matmul(real, sine) + om.matmul(imaginary, cosine)
    return stack([moveaxis(r, -1, axis) for r in results], axis=-1)


def _real_inverse(real: Tensor, imaginary: Tensor, length: int, axis: int) -> Tensor:
    """The real signal whose first half of frequencies is given: each frequency but the first and the middle one counts twice."""
    count = sizes_of(real)[-1]
    used = min(count, length // 2 + 1)
    weights = np.full(used, 2.0)
    weights[0] = 1.0
    if length % 2 == 0 and used == length // 2 + 1:
        weights[-1] = 1.0
    angles = 2 * np.pi * np.outer(np.arange(used), np.arange(length)) / length
    cosine, sine = (Tensor._wrap((f(angles) * weights[:, None] / length).astype(real.dtype)) for f in (np.cos, np.sin))
    cut = lambda t: slice_along(t, t.ndim - 1, 0, used)
    y = om.matmul(cut(real), cosine) - om.matmul(cut(imaginary), sine)
    y = moveaxis(y, -1, axis)
    return om.reshape(y, shape=(*sizes_of(y), 1))


def _transform(node, axis: int) -> Tensor:
    x = node.tensor(0)
    length = node.ints(1)[0] if node.has(1) else None
    inverse, onesided = bool(node.int("inverse", 0)), bool(node.int("onesided", 0))
    if inverse and onesided and length is None:
        length = 2 * (sizes_of(x)[axis] - 1)
    return transformed(node, x, axis, length, inverse, onesided)


@reads("DFT", since=20)
def read_dft(node, ops):
    axis = node.ints(2)[0] if node.has(2) else -2
    return _transform(node, normalize_axis(axis, node.rank(0)))


@reads("DFT")
def read_dft_17(node, ops):
    return _transform(node, normalize_axis(node.int("axis", 1), node.rank(0)))


@reads("STFT")
def read_stft(node, ops):
    """The transforms of frames of the signal (batch, time), with or without an axis of 1 or 2 parts, `frame_step` apart: (batch, frames,
    frequencies, 2)."""
    x, step = node.tensor(0), node.ints(1)[0]
    window = node.optional(2)
    length = node.ints(3)[0] if node.has(3) else sizes_of(window)[0]
    x = ops.reshape(x, shape=(*sizes_of(x), 1)) if x.ndim == 2 else x
    size = sizes_of(x)[1]
    if not isinstance(size, int):
        node.needs_size(0, f"the signal must have a fixed length, found {size}")
    node.steps(len(range(0, size - length + 1, step)), "the frames of the signal")
    frames = [slice_along(x, 1, start, length) for start in range(0, size - length + 1, step)]
    framed = stack(frames, axis=1)
    if window is not None:
        framed = framed * ops.reshape(window, shape=(length, 1))
    return transformed(node, framed, 2, length, False, bool(node.int("onesided", 1)))


@reads("MelWeightMatrix")
def read_mel_weight_matrix(node, ops):
    """Triangles on the mel scale over the frequencies of a transform, all from constants."""
    bins, length, rate = (node.ints(i)[0] for i in range(3))
    low, high = (float(node.array(i).reshape(())) for i in (3, 4))
    mel = lambda hertz: 2595 * np.log10(1 + hertz / 700)
    places = mel(low) + np.arange(bins + 2) * (mel(high) - mel(low)) / (bins + 2)
    places = ((length + 1) * (700 * (10 ** (places / 2595) - 1)) // rate).astype(int)
    weights = np.zeros((length // 2 + 1, bins))
    for i, (left, centre, right) in enumerate(zip(places, places[1:], places[2:])):
        if left == centre:
            weights[centre, i] = 1
        else:
            weights[left:centre + 1, i] = (np.arange(left, centre + 1) - left) / (centre - left)
        if right > centre:
            weights[centre:right, i] = (right - np.arange(centre, right)) / (right - centre)
    return Tensor._wrap(weights.astype(node.dtype_attribute("output_datatype", dtypes.float32)))
