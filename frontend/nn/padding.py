"""Padding of the spatial axes. Settings are in torch's order: (left, right, top, bottom, front, back), the last axis first."""
from __future__ import annotations

from .. import ops
from ...errors import OnemlirError, ShapeError
from .module import Module
from .spatial import Sizes

_MODES = {"constant": "constant", "zeros": "constant", "reflect": "reflect", "replicate": "edge", "circular": "wrap"}


def pad_spatial(x, low, high, mode: str = "constant", value: float = 0.0):
    """x with `low` elements before and `high` after each of its last axes; modes by torch's names."""
    lead = ((0, 0),) * (x.ndim - len(low))
    widths = (*lead, *zip(low, high))
    return ops.pad(x, widths, mode=_MODES[mode], constant_values=value)


class PaddingLayer(Module):
    """Base of the padding layers: how many axes, and what is padded with."""

    spatial = 1
    mode = "constant"

    def __init__(self, padding: Sizes):
        super().__init__()
        self.padding = tuple(padding) if isinstance(padding, (tuple, list)) else (padding,) * (2 * self.spatial)
        if len(self.padding) != 2 * self.spatial:
            raise OnemlirError(f"'padding' must be one number or {2 * self.spatial}, found {padding!r}")

    def forward(self, x):
        low, high = self.padding[0::2][::-1], self.padding[1::2][::-1]
        self._check(x, low, high)
        return pad_spatial(x, low, high, self.mode, getattr(self, "value", 0.0))

    def _check(self, x, low, high) -> None:
        """ShapeError where torch has no definition: mirroring or wrapping further than the input is long."""
        if x.ndim < self.spatial:
            raise ShapeError(f"{type(self).__name__} needs {self.spatial} axes or more, found shape {x.shape}")
        room = {"reflect": -1, "circular": 0}.get(self.mode)
        for size, before, after in zip(x.shape[-self.spatial:], low, high):
            if room is not None and isinstance(size, int) and max(before, after) > size + room:
                raise ShapeError(f"{type(self).__name__}: padding {self.padding} reaches further than shape {x.shape} allows")

    def extra_repr(self) -> str:
        return f"padding={self.padding}"


class ConstantPad1d(PaddingLayer):
    """Pads the last axis with `value`."""

    def __init__(self, padding: Sizes, value: float):
        super().__init__(padding)
        self.value = value

    def extra_repr(self) -> str:
        return f"padding={self.padding}, value={self.value}"


class ConstantPad2d(ConstantPad1d):
    """Pads the last two axes with `value`."""

    spatial = 2


class ConstantPad3d(ConstantPad1d):
    """Pads the last three axes with `value`."""

    spatial = 3


class ZeroPad1d(PaddingLayer):
    """Pads the last axis with zeros."""


class ZeroPad2d(PaddingLayer):
    """Pads the last two axes with zeros."""

    spatial = 2


class ZeroPad3d(PaddingLayer):
    """Pads the last three axes with zeros."""

    spatial = 3


class ReflectionPad1d(PaddingLayer):
    """Pads the last axis with its mirror image, the edge element not repeated."""

    mode = "reflect"


class ReflectionPad2d(ReflectionPad1d):
    """Pads the last two axes with their mirror image."""

    spatial = 2


class ReflectionPad3d(ReflectionPad1d):
    """Pads the last three axes with their mirror image."""

    spatial = 3


class ReplicationPad1d(PaddingLayer):
    """Pads the last axis with its edge elements."""

    mode = "replicate"


class ReplicationPad2d(ReplicationPad1d):
    """Pads the last two axes with their edge elements."""

    spatial = 2


class ReplicationPad3d(ReplicationPad1d):
    """Pads the last three axes with their edge elements."""

    spatial = 3


class CircularPad1d(PaddingLayer):
    """Pads the last axis with what is at its other end."""

    mode = "circular"


class CircularPad2d(CircularPad1d):
    """Pads the last two axes with what is at their other ends."""

    spatial = 2


class CircularPad3d(CircularPad1d):
    """Pads the last three axes with what is at their other ends."""

    spatial = 3
