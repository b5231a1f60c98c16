"""Fourier transforms and what belongs to them."""
from __future__ import annotations

import numpy as np

from ...dialect import dtypes, symbolic
from ...dialect.shapes import normalize_axis
from ..ops import fourier
from ..ops.declared import declared as om
from ..ops.joining import stack
from ..ops.shape import moveaxis, slice_along, squeeze
from ..tensor import Tensor
from .registry import reads
from .shape import sizes_of


def transformed(node, x: Tensor, axis: int, length, inverse: bool, onesided: bool) -> Tensor:
    """The transform along one axis of x (..., 1 or 2), the last axis holding the real and imaginary parts; zeros or a cut make `length`."""
    size = sizes_of(x)[axis]
    length = size if length is None else length
    parts = sizes_of(x)[-1]
    if not isinstance(parts, int):
        node.needs_size(0, "the size of the last axis, the parts of a number, must be known when the model is read: give it with shapes={name: sizes}")
    real, imaginary = (squeeze(slice_along(x, x.ndim - 1, min(i, parts - 1), 1), -1) for i in range(2))
    if isinstance(length, int) and isinstance(size, int):
        node.steps(max(size, length), "the points of the transform", 2**22)
    scale = fourier.part_of(length) if inverse else 1.0
    if inverse and onesided:
        y = fourier.real_inverse((real, imaginary), axis, length, scale)
        return om.reshape(y, shape=(*sizes_of(y), 1))
    count = symbolic.floordiv(length, 2) + 1 if onesided else length
    return stack(fourier.transform((real, None if parts == 1 else imaginary), axis, length, inverse, count, scale), axis=-1)


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
    framed = moveaxis(fourier.frames(moveaxis(x, 1, -1), length, step), 1, -1)
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
