"""Resampling: resizing by interpolation along axes, and sampling at points that a grid names."""
from __future__ import annotations

import numpy as np

from ...errors import DTypeError, OnemlirError, ShapeError
from .. import dtypes
from ..attributes import Choice, Floats, Optional, Shape
from ..declare import AnyDType, Attr, Composite, Floating, Op, Operand, Pure, Result
from ..shapes import require_equal, show

COORDINATE_MODES = ("half_pixel", "half_pixel_symmetric", "pytorch_half_pixel", "align_corners", "asymmetric", "tf_crop_and_resize")
NEAREST_MODES = ("round_prefer_floor", "round_prefer_ceil", "floor", "ceil")


class Resize(Op):
    """x resized to `sizes` by interpolation along each axis in turn.

    scales: one factor per axis, None for sizes / x.shape; they place the samples. coordinate_mode maps a place i of the result to one of
    x (s: the factor): half_pixel (i + 0.5) / s - 0.5; pytorch_half_pixel the same, 0 where the result has one element;
    half_pixel_symmetric the same about the centre of x; asymmetric i / s; align_corners i * (in - 1) / (out - 1); tf_crop_and_resize
    within `roi` (all starts, then all ends), outside of x `extrapolation_value`.
    mode: nearest (rounding by nearest_mode), linear, cubic (Keys' kernel with cubic_coeff_a). antialias widens the linear and cubic
    kernels when shrinking. Beyond the edge the edge element counts; exclude_outside renormalizes over the taps inside x (cubic, antialias).
    Result: `sizes`, the dtype of x; integers are interpolated in f32 and truncated. Source: ONNX Resize; torch's interpolate.
    """

    x: Operand[AnyDType]
    sizes: Attr[Shape]
    scales: Attr[Optional(Floats())] = None
    mode: Attr[Choice("nearest", "linear", "cubic")] = "nearest"
    coordinate_mode: Attr[Choice(*COORDINATE_MODES)] = "half_pixel"
    nearest_mode: Attr[Choice(*NEAREST_MODES)] = "round_prefer_floor"
    cubic_coeff_a: Attr[float] = -0.75
    exclude_outside: Attr[bool] = False
    antialias: Attr[bool] = False
    roi: Attr[Optional(Floats())] = None
    extrapolation_value: Attr[float] = 0.0
    result: Result
    traits = (Pure, Composite)

    def verify(x, sizes, scales, mode, coordinate_mode, roi, **_):
        for name, values, count in (("sizes", sizes, x.rank), ("scales", scales, x.rank), ("roi", roi, 2 * x.rank)):
            if values is not None and len(values) != count:
                raise ShapeError(f"resize: '{name}' must have {count} entries for x {show(x.shape)}, found {len(values)}")
        if scales is not None and any(not 0 < s < np.inf for s in scales):
            raise OnemlirError(f"resize: 'scales' must be positive, found {scales}")
        if coordinate_mode == "tf_crop_and_resize" and roi is None:
            raise OnemlirError("resize: tf_crop_and_resize needs 'roi'")
        if mode != "nearest" and x.dtype == dtypes.bool_:
            raise DTypeError(f"resize: bool has no {mode} interpolation, use mode 'nearest'")
        for axis, (old, new) in enumerate(zip(x.shape, sizes)):
            if old == 0 and new != 0:
                raise ShapeError(f"resize: axis {axis} of x {show(x.shape)} is empty and cannot become {new}")

    def infer(x, sizes, **_):
        return x.with_shape(sizes)

    def reference(x, sizes, scales, mode, antialias, **options):
        y = x if mode == "nearest" or x.dtype.itemsize > 4 and dtypes.is_floating(x.dtype) else x.astype(np.float32)
        for axis, (old, new) in enumerate(zip(x.shape, sizes)):
            scale = new / old if scales is None and old else 1.0 if scales is None else scales[axis]
            if changes(old, new, scale, axis, options["coordinate_mode"], options["roi"]) and y.size:
                y = _resize_axis(y, axis, new, scale, scales is None, mode, antialias, **options)
        with np.errstate(all="ignore"):
            return np.broadcast_to(y, sizes).astype(x.dtype)


def changes(old, new, scale, axis: int, coordinate_mode: str, roi) -> bool:
    """Whether anything is interpolated along an axis."""
    if coordinate_mode == "tf_crop_and_resize":
        return new != old or (roi[axis], roi[axis + len(roi) // 2]) != (0.0, 1.0)
    return new != old or scale != 1


def _resize_axis(x, axis, new, scale, by_sizes, mode, antialias, coordinate_mode, nearest_mode, cubic_coeff_a, exclude_outside, roi,
                 extrapolation_value):
    old = x.shape[axis]
    places = _coordinates(np.arange(new, dtype=np.float32), old, new, np.float32(scale), by_sizes, coordinate_mode, axis, roi)
    if mode == "nearest":
        y = np.take(x, np.clip(_round(places, nearest_mode), 0, old - 1).astype(np.int64), axis=axis)
    elif antialias:
        weights = _dense_weights(places, old, scale, mode, cubic_coeff_a, exclude_outside).astype(x.dtype)
        y = np.moveaxis(np.tensordot(x, weights, ([axis], [1])), -1, axis)
    else:
        y = 0
        for index, weight in _taps(places, old, mode, cubic_coeff_a, exclude_outside):
            weight = weight.astype(x.dtype).reshape([-1 if i == axis else 1 for i in range(x.ndim)])
            y = y + np.take(x, np.clip(index, 0, old - 1).astype(np.int64), axis=axis) * weight
    if coordinate_mode == "tf_crop_and_resize":
        outside = ((places < 0) | (places > old - 1)).reshape([-1 if i == axis else 1 for i in range(x.ndim)])
        y = np.where(outside, y.dtype.type(extrapolation_value), y)
    return y


def _coordinates(i, old, new, scale, by_sizes, mode, axis, roi):
    """Places of x for the places i of the result, in f32. Sizes give a ratio to multiply by (torch), scales a divisor (ONNX)."""
    f = np.float32
    source = (lambda place: place * (f(old) / f(new))) if by_sizes else (lambda place: place / scale)
    if mode == "align_corners":
        return i * (f(old - 1) / f(new - 1)) if new > 1 else i * f(0)
    if mode == "asymmetric":
        return source(i)
    if mode == "tf_crop_and_resize":
        start, end = f(roi[axis]), f(roi[axis + len(roi) // 2])
        return start * (old - 1) + i * ((end - start) * (old - 1) / f(new - 1)) if new > 1 else i * 0 + f(0.5) * (start + end) * (old - 1)
    if mode == "pytorch_half_pixel" and new <= 1:
        return i * f(0)
    shift = f(old) / 2 * (1 - f(new) / (scale * f(old))) if mode == "half_pixel_symmetric" else f(0)
    return shift + source(i + f(0.5)) - f(0.5)


def _round(places, mode):
    half = np.float32(0.5)
    return {"floor": lambda: np.floor(places), "ceil": lambda: np.ceil(places), "round_prefer_floor": lambda: np.ceil(places - half),
            "round_prefer_ceil": lambda: np.floor(places + half)}[mode]()


def _cubic(distance, a):
    """Keys' cubic convolution kernel; 0 from distance 2."""
    d = np.abs(distance)
    near = ((a + 2) * d - (a + 3)) * d * d + 1
    far = ((a * d - 5 * a) * d + 8 * a) * d - 4 * a
    return np.where(d <= 1, near, np.where(d < 2, far, 0))


def _taps(places, old, mode, a, exclude_outside):
    """Pairs of indices and weights, one pair for each tap."""
    if mode == "linear":
        places = np.clip(places, 0, old - 1)
        low = np.floor(places)
        return [(low, 1 - (places - low)), (low + 1, places - low)]
    low = np.floor(places)
    taps = [(low + k, _cubic(places - low - k, np.float32(a))) for k in (-1, 0, 1, 2)]
    if exclude_outside:
        taps = [(index, np.where((index >= 0) & (index < old), weight, 0)) for index, weight in taps]
        total = sum(weight for _, weight in taps)
        taps = [(index, weight / total) for index, weight in taps]
    return taps


def _dense_weights(places, old, scale, mode, a, exclude_outside):
    """Weights (result, x) of a kernel widened by 1 / scale when shrinking; each row sums to 1."""
    factor = min(np.float32(scale), np.float32(1))
    beyond = 0 if exclude_outside else reach(mode, float(factor))
    distance = (np.arange(-beyond, old + beyond, dtype=np.float32) - places[:, None]) * factor
    taps = np.maximum(1 - np.abs(distance), 0) if mode == "linear" else _cubic(distance, np.float32(a))
    weights = taps[:, beyond:beyond + old].copy()
    weights[:, 0] += taps[:, :beyond].sum(1)
    weights[:, -1] += taps[:, beyond + old:].sum(1)
    return weights / weights.sum(1, keepdims=True)


def reach(mode: str, factor: float) -> int:
    """How far beyond the edge a kernel reaches that is widened by 1 / factor."""
    return int(np.ceil((1 if mode == "linear" else 2) / factor)) + 1


class GridSample(Op):
    """x sampled at the points of `grid`, whose last axis holds coordinates in [-1, 1], the last axis of x first (x, y, z).

    x: (n, c, *spatial), 2 or 3 spatial axes. grid: (n, *out, axes). Result: (n, c, *out). mode: linear, nearest (halves to even), cubic
    (2 axes, coefficient -0.75). padding_mode: what is beyond the edge: zeros, border (the nearest element), reflection. align_corners:
    -1 and 1 are the centres of the edge elements, else their outer edges. NaN is outside (zeros) or place 0.
    Source: torch's grid_sample; ONNX GridSample.
    """

    x: Operand[Floating, "T"]
    grid: Operand[Floating, "T"]
    mode: Attr[Choice("linear", "nearest", "cubic")] = "linear"
    padding_mode: Attr[Choice("zeros", "border", "reflection")] = "zeros"
    align_corners: Attr[bool] = False
    result: Result
    traits = (Pure, Composite)

    def infer(x, grid, mode, padding_mode, align_corners):
        axes = x.rank - 2
        if axes not in (2, 3) or grid.rank != x.rank or grid.shape[-1] != axes:
            raise ShapeError(f"grid_sample: x must be (n, c, *spatial) with 2 or 3 spatial axes and grid (n, *out, axes), found {show(x.shape)} and {show(grid.shape)}")
        if mode == "cubic" and axes != 2:
            raise OnemlirError(f"grid_sample: mode 'cubic' takes 2 spatial axes, found x {show(x.shape)}")
        if 0 in x.shape[2:]:
            raise ShapeError(f"grid_sample: the spatial axes of x {show(x.shape)} must not be empty")
        require_equal(x.shape[0], grid.shape[0], f"grid_sample: x has {x.shape[0]} images but grid {grid.shape[0]}: {show(x.shape)} and {show(grid.shape)}")
        return x.with_shape(x.shape[:2] + grid.shape[1:-1])

    def reference(x, grid, mode, padding_mode, align_corners):
        sizes = x.shape[2:]
        compute = np.float64 if x.dtype == np.float64 else np.float32
        axes = [_unnormalize(grid[..., len(sizes) - 1 - i].astype(compute), size, align_corners) for i, size in enumerate(sizes)]
        if mode != "cubic":
            axes = [_inside(place, size, padding_mode, align_corners) for place, size in zip(axes, sizes)]
        pairs = [_point_taps(place, mode) for place in axes]
        total = np.zeros(x.shape[:2] + grid.shape[1:-1], compute)
        for taps in np.ndindex(*map(len, pairs)):
            index = [pair[t][0] for pair, t in zip(pairs, taps)]
            weight = np.prod(np.stack([pair[t][1] for pair, t in zip(pairs, taps)]), axis=0)
            if mode == "cubic":
                index = [_inside(place, size, padding_mode, align_corners) for place, size in zip(index, sizes)]
            total += _fetch(x.astype(compute), index, weight)
        return total.astype(x.dtype)


def _unnormalize(place, size, align_corners):
    return (place + 1) / 2 * (size - 1) if align_corners else ((place + 1) * size - 1) / 2


def _inside(place, size, padding_mode, align_corners):
    """A place clamped to, or reflected into, the axis; zeros leaves it outside."""
    with np.errstate(all="ignore"):
        if padding_mode == "zeros":
            return place
        if padding_mode == "reflection":
            low, span = (0.0, size - 1) if align_corners else (-0.5, size)
            offset = np.abs(place - low)
            turns, rest = (np.floor(offset / span), np.fmod(offset, span)) if span else (offset * 0, offset * 0)
            place = np.where(np.remainder(turns, 2) == 0, rest, span - rest).astype(place.dtype) + place.dtype.type(low)
        return np.where(place > 0, np.minimum(place, size - 1), 0).astype(place.dtype)  # NaN goes to 0


def _point_taps(place, mode):
    if mode == "nearest":
        return [(np.rint(place), np.ones_like(place))]
    low = np.floor(place)
    if mode == "linear":
        return [(low, 1 - (place - low)), (low + 1, place - low)]
    return [(low + k, _cubic(place - low - k, place.dtype.type(-0.75))) for k in (-1, 0, 1, 2)]


def _fetch(x, index, weight):
    """x at the given places times the weight, 0 where a place is outside."""
    with np.errstate(all="ignore"):
        valid = np.ones(weight.shape, bool)
        places = []
        for place, size in zip(index, x.shape[2:]):
            valid &= (place >= 0) & (place < size)
            places.append(np.where((place >= 0) & (place < size), place, 0).astype(np.int64))
        batch = np.arange(x.shape[0]).reshape(-1, *[1] * (weight.ndim - 1))
        found = np.moveaxis(x[(batch, slice(None), *places)], -1, 1)
        return np.where(valid[:, None], found * weight[:, None], 0)


OPS = (Resize, GridSample)
