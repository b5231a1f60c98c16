"""Gradients of resampling."""
from __future__ import annotations

import itertools

import numpy as np

from ...dialect.ops import resampling as om
from ...errors import UnsupportedOpError
from ..ops.declared import declared as ops
from ..ops.shape import sizes
from .broadcasting import move
from .composed import composed_gradient


@composed_gradient(om.Resize)
def resize(call, x):
    """Along each axis a product with the matrix of the interpolation, which is what resizing the unit vectors gives."""
    if not all(isinstance(size, int) for size in (*sizes(x), *call.sizes)):
        raise UnsupportedOpError(f"the gradient of resize needs fixed sizes, found x {x.shape}")
    for axis in range(x.ndim):
        matrix = _matrix(call, axis, x.shape[axis], x.ndim)
        if matrix.shape[0] != matrix.shape[1] or not np.array_equal(matrix, np.eye(len(matrix))):
            x = move(ops.matmul(move(x, axis, x.ndim - 1), matrix.astype(x.dtype)), x.ndim - 1, axis)
    return x


def _matrix(call, axis: int, old: int, rank: int) -> np.ndarray:
    """(old, new): the share of each element in each sample along one axis."""
    new = call.sizes[axis]
    scales = None if call.scales is None else (1.0, call.scales[axis])
    roi = None if call.roi is None else (0.0, call.roi[axis], 1.0, call.roi[axis + rank])
    options = {name: getattr(call, name) for name in ("mode", "coordinate_mode", "nearest_mode", "cubic_coeff_a", "exclude_outside", "antialias")}
    return om.Resize.reference(np.eye(old), sizes=(old, new), scales=scales, roi=roi, extrapolation_value=0.0, **options)


@composed_gradient(om.GridSample)
def grid_sample(call, x, grid):
    """The sum over the taps of each point: the elements there, read from x with its spatial axes as one, times their weights."""
    spatial, (n, *out) = sizes(x)[2:], sizes(grid)[:-1]
    if not all(isinstance(size, int) for size in (*spatial, *out)):
        raise UnsupportedOpError(f"the gradient of grid_sample needs fixed sizes, found x {x.shape} and grid {grid.shape}")
    points = int(np.prod(out))
    rows = ops.transpose(ops.reshape(x, shape=(n, sizes(x)[1], int(np.prod(spatial)))), axes=(0, 2, 1))
    places = [_unnormalized(_component(grid, len(spatial) - 1 - i, (n, points)), size, call.align_corners) for i, size in enumerate(spatial)]
    if call.mode != "cubic":
        places = [_inside(call, place, size) for place, size in zip(places, spatial)]
    taps = [_point_taps(place, call.mode) for place in places]
    total = 0.0
    for chosen in itertools.product(*taps):
        index = [place for place, _ in chosen]
        index = [_inside(call, place, size) for place, size in zip(index, spatial)] if call.mode == "cubic" else index
        total = total + _fetched(rows, index, [weight for _, weight in chosen], spatial)
    return ops.reshape(ops.transpose(total, axes=(0, 2, 1)), shape=(n, sizes(x)[1], *out))


def _component(grid, number: int, shape: tuple):
    """One coordinate of all points of the grid."""
    part = ops.slice(grid, starts=(*(0,) * (grid.ndim - 1), number), shape=(*sizes(grid)[:-1], 1), steps=(1,) * grid.ndim)
    return ops.reshape(part, shape=shape)


def _unnormalized(place, size: int, align_corners: bool):
    return (place + 1) * ((size - 1) / 2) if align_corners else ((place + 1) * size - 1) * 0.5


def _inside(call, place, size: int):
    """A place clamped to, or reflected into, the axis; with zeros it may be outside."""
    if call.padding_mode == "zeros":
        return place
    if call.padding_mode == "reflection":
        low, span = (0.0, size - 1) if call.align_corners else (-0.5, size)
        offset = ops.abs(place - low)
        rest = ops.fmod(offset, float(span)) if span else offset * 0.0
        turns = ops.remainder(ops.floor(offset / float(span)), 2.0) if span else offset * 0.0
        place = ops.where(turns == 0, rest, span - rest) + low
    return ops.where(place > 0, ops.minimum(place, float(size - 1)), 0.0)


def _point_taps(place, mode: str) -> list:
    """Pairs of the place of an element and its weight along one axis."""
    if mode == "nearest":
        return [(ops.round(place), 1.0)]
    low = ops.floor(place)
    if mode == "linear":
        return [(low, 1 - (place - low)), (low + 1, place - low)]
    return [(low + k, _cubic(ops.abs(place - low - k))) for k in (-1, 0, 1, 2)]


def _cubic(d, a: float = -0.75):
    """Keys' kernel; 0 from distance 2."""
    near = (d * (a + 2) - (a + 3)) * d * d + 1
    return ops.where(d <= 1, near, ops.where(d < 2, ((d * a - 5 * a) * d + 8 * a) * d - 4 * a, 0.0))


def _fetched(rows, index: list, weights: list, spatial):
    """The elements (n, points, channels) at the places, times the weights; 0 outside."""
    flat, valid, weight = 0, None, 1.0
    for place, factor, size in zip(index, weights, spatial):
        here = (place >= 0) & (place <= size - 1)
        valid = here if valid is None else valid & here
        flat = flat * size + ops.cast(ops.where(here, place, 0.0), dtype="int64")
        weight = factor * weight
    found = ops.gather_nd(rows, ops.reshape(flat, shape=(*sizes(flat), 1)), batch_dims=1)
    weight = ops.where(valid, weight, ops.cast(0.0, dtype=rows.dtype))
    return found * ops.reshape(weight, shape=(*sizes(weight), 1))
