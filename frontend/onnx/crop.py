"""Resize by tf_crop_and_resize where the region is data: each axis by itself is gathered at computed places."""
from __future__ import annotations

from typing import Sequence

from ...dialect import dtypes
from ..ops.declared import declared as om
from ..tensor import Tensor
from .shape import sizes_of
from .values import _scalar

_NEAREST = {"round_prefer_floor": lambda p: om.ceil(p - 0.5), "round_prefer_ceil": lambda p: om.floor(p + 0.5), "floor": om.floor, "ceil": om.ceil}


def cropped_and_resized(node, x: Tensor, roi: Tensor, axes: Sequence[int], sizes: Sequence) -> Tensor:
    """x within roi (the starts of `axes`, then their ends, as parts of the axes), resized to `sizes`; outside of x the extrapolation value."""
    mode = node.text("mode", "nearest")
    if mode not in ("nearest", "linear") or node.int("antialias", 0):
        node.refuse(f"a region that is data can be read for the modes nearest and linear without antialias, found {mode}")
    y = x if x.dtype in dtypes.FLOATING or mode == "nearest" else x.astype(dtypes.float32)
    roi, outside = roi.astype(dtypes.float32), None
    for number, axis in enumerate(axes):
        length = _number(sizes_of(x)[axis])
        place = _places(roi[number], roi[len(axes) + number], length, sizes[axis])
        y = _nearest(node, y, place, length, axis) if mode == "nearest" else _linear(y, place, length, axis)
        beyond = om.logical_or(place < 0.0, place > length - 1.0)
        beyond = om.reshape(beyond, shape=tuple(sizes[axis] if i == axis else 1 for i in range(x.ndim)))
        outside = beyond if outside is None else om.logical_or(outside, beyond)
    y = y.astype(x.dtype)
    return y if outside is None else om.where(outside, Tensor(node.float("extrapolation_value", 0.0), x.dtype), y)


def _number(size) -> Tensor:
    return _scalar(size).astype(dtypes.float32)


def _places(start: Tensor, end: Tensor, length: Tensor, count) -> Tensor:
    """Where the elements of the result lie on the axis; a single one in the middle of the region."""
    last = length - 1.0
    steps = om.iota(size=(count,)).astype(dtypes.float32)
    spread = start * last + steps * ((end - start) * last / om.maximum(_number(count) - 1.0, 1.0))
    return om.where(_number(count) > 1.0, spread, (start + end) * last * 0.5)


def _at(x: Tensor, place: Tensor, length: Tensor, axis: int) -> Tensor:
    """The elements of an axis at whole places, which are moved onto the axis."""
    return om.gather(x, om.minimum(om.maximum(place, 0.0), length - 1.0).astype(dtypes.int64), axis=axis)


def _nearest(node, x: Tensor, place: Tensor, length: Tensor, axis: int) -> Tensor:
    mode = node.text("nearest_mode", "round_prefer_floor")
    return _at(x, _NEAREST[mode](place), length, axis) if mode in _NEAREST else node.refuse(f"nearest_mode is one of {', '.join(_NEAREST)}, found {mode}")


def _linear(x: Tensor, place: Tensor, length: Tensor, axis: int) -> Tensor:
    low = om.floor(place)
    weight = om.reshape((place - low).astype(x.dtype), shape=tuple(sizes_of(place)[0] if i == axis else 1 for i in range(x.ndim)))
    return _at(x, low, length, axis) * (1.0 - weight) + _at(x, low + 1.0, length, axis) * weight
