"""Resizing images and sampling at points: torch's functions on top of resize and grid_sample."""
from __future__ import annotations

from ...dialect import dtypes
from ...errors import OnemlirError, ShapeError
from ..symbolic_int import size_of
from ..tensor import Tensor
from .creation import arange
from .declared import as_tensor, declared

__all__ = ["interpolate", "upsample", "affine_grid"]

MODES = {"nearest": "nearest", "nearest-exact": "nearest", "linear": "linear", "bilinear": "linear", "trilinear": "linear", "bicubic": "cubic", "area": "area"}
RANKS = {"linear": 1, "bilinear": 2, "bicubic": 2, "trilinear": 3}


def interpolate(x: Tensor, size=None, scale_factor=None, mode: str = "nearest", align_corners: bool | None = None,
                recompute_scale_factor: bool | None = None, antialias: bool = False) -> Tensor:
    """x (n, channels, *spatial) resized to `size`, or by `scale_factor`: torch's interpolate with its modes and meanings.

    Raises OnemlirError for an unknown mode, or unless just one of size and scale_factor is given; ShapeError where a mode does not fit the rank.
    """
    x = as_tensor(x)
    spatial = x.ndim - 2
    if mode not in MODES:
        raise OnemlirError(f"interpolate: 'mode' must be one of {', '.join(MODES)}, found {mode!r}")
    if spatial < 1 or RANKS.get(mode, spatial) != spatial:
        raise ShapeError(f"interpolate: mode {mode!r} does not fit x of shape {x.shape}")
    if (size is None) == (scale_factor is None):
        raise OnemlirError("interpolate: give either 'size' or 'scale_factor'")
    if align_corners is not None and mode not in RANKS:
        raise OnemlirError(f"interpolate: 'align_corners' has no meaning in mode {mode!r}")
    sizes, scales = _target(x, size, scale_factor, spatial, recompute_scale_factor)
    if mode == "area":
        from .pooling import adaptive_avg_pool1d, adaptive_avg_pool2d, adaptive_avg_pool3d

        return (adaptive_avg_pool1d, adaptive_avg_pool2d, adaptive_avg_pool3d)[spatial - 1](x, sizes)
    return _resize(x, sizes, scales, mode, bool(align_corners), antialias)


def _target(x: Tensor, size, scale_factor, spatial: int, recompute) -> tuple[tuple, tuple | None]:
    """Sizes of the spatial axes, and the factors when they place the samples."""
    each = lambda value: tuple(value) if isinstance(value, (tuple, list)) else (value,) * spatial
    if size is not None:
        return tuple(size_of(s) for s in each(size)), None
    factors = tuple(float(f) for f in each(scale_factor))
    sizes = tuple(_scaled(size_of(s), f) for s, f in zip(x.shape[2:], factors))
    return sizes, None if recompute else factors


def _scaled(size, factor: float):
    if isinstance(size, int):
        return int(size * factor)
    from fractions import Fraction

    ratio = Fraction(factor).limit_denominator(1 << 16)
    return size * ratio.numerator // ratio.denominator


def _resize(x: Tensor, sizes, scales, mode: str, align_corners: bool, antialias: bool) -> Tensor:
    nearest = mode.startswith("nearest")
    if nearest:
        coordinates = "asymmetric" if mode == "nearest" else "half_pixel"
    else:
        coordinates = "align_corners" if align_corners else "half_pixel"
    rounding = "floor" if mode == "nearest" else "round_prefer_ceil"
    full = tuple(size_of(s) for s in x.shape[:2]) + tuple(sizes)
    return declared.resize(x, sizes=full, scales=None if scales is None else (1.0, 1.0, *scales), mode=MODES[mode], coordinate_mode=coordinates,
                           nearest_mode=rounding, cubic_coeff_a=-0.5 if antialias and MODES[mode] == "cubic" else -0.75,
                           antialias=antialias, exclude_outside=antialias)


def upsample(x: Tensor, size=None, scale_factor=None, mode: str = "nearest", align_corners: bool | None = None) -> Tensor:
    """`interpolate` by its older name."""
    return interpolate(x, size, scale_factor, mode, align_corners)


def affine_grid(theta: Tensor, size, align_corners: bool = False) -> Tensor:
    """Sampling points for grid_sample: theta (n, 2, 3) or (n, 3, 4) applied to the places of an output of `size` (n, c, *spatial).

    Result: (n, *spatial, 2 or 3), coordinates x, y(, z) in [-1, 1]. Source: torch's affine_grid.
    """
    theta = as_tensor(theta)
    spatial = tuple(size)[2:]
    if theta.ndim != 3 or tuple(theta.shape[1:]) != (len(spatial), len(spatial) + 1):
        raise ShapeError(f"affine_grid: theta must be (n, {len(spatial)}, {len(spatial) + 1}) for size {tuple(size)}, found {theta.shape}")
    axes = [_base(count, align_corners, theta.dtype) for count in spatial]
    rank = len(spatial)
    shaped = [a.reshape((1,) * i + (-1,) + (1,) * (rank - 1 - i) + (1,)) for i, a in enumerate(axes)]
    full = [declared.broadcast_to(a, shape=(*map(size_of, spatial), 1)) for a in reversed(shaped)]
    ones = declared.broadcast_to(as_tensor(theta.dtype.type(1)), shape=(*map(size_of, spatial), 1))
    points = declared.concat([*full, ones], axis=rank).reshape((1, -1, rank + 1))
    moved = declared.matmul(points, declared.transpose(theta, axes=(0, 2, 1)))
    return moved.reshape((size_of(theta.shape[0]), *map(size_of, spatial), rank))


def _base(count, align_corners: bool, dtype) -> Tensor:
    """Coordinates of the places along one axis."""
    places = arange(count).astype(dtype if dtype != dtypes.bool_ else dtypes.float32)
    if align_corners:
        return places * 2 / (count - 1) - 1 if not (isinstance(count, int) and count == 1) else places
    return (places * 2 + 1) / count - 1
