"""Resizing images, and exchanging channels for pixels."""
from __future__ import annotations

from typing import Sequence

from .. import ops
from ...errors import OnemlirError, ShapeError
from .module import Module
from .spatial import Sizes


class Upsample(Module):
    """(N, C, *spatial) resized to `size`, or by `scale_factor`, through interpolation; see `onemlir.ops.interpolate`.

    mode: "nearest", "linear" (1 axis), "bilinear", "bicubic" (2 axes), "trilinear" (3 axes).
    """

    def __init__(self, size: Sizes | None = None, scale_factor: float | Sequence[float] | None = None, mode: str = "nearest",
                 align_corners: bool | None = None, recompute_scale_factor: bool | None = None):
        super().__init__()
        self.size, self.mode, self.align_corners = size, mode, align_corners
        self.scale_factor = tuple(map(float, scale_factor)) if isinstance(scale_factor, (tuple, list)) else scale_factor and float(scale_factor)
        self.recompute_scale_factor = recompute_scale_factor

    def forward(self, x):
        options = {"recompute_scale_factor": True} if self.recompute_scale_factor else {}
        return ops.interpolate(x, size=self.size, scale_factor=self.scale_factor, mode=self.mode, align_corners=self.align_corners, **options)

    def extra_repr(self) -> str:
        where = f"scale_factor={self.scale_factor}" if self.scale_factor is not None else f"size={self.size}"
        return f"{where}, mode={self.mode!r}"


class UpsamplingNearest2d(Upsample):
    """`Upsample` of two axes in mode "nearest"."""

    def __init__(self, size: Sizes | None = None, scale_factor: float | Sequence[float] | None = None):
        super().__init__(size, scale_factor)


class UpsamplingBilinear2d(Upsample):
    """`Upsample` of two axes in mode "bilinear" with align_corners."""

    def __init__(self, size: Sizes | None = None, scale_factor: float | Sequence[float] | None = None):
        super().__init__(size, scale_factor, "bilinear", True)


class PixelShuffle(Module):
    """(..., C * r^2, H, W) to (..., C, H * r, W * r). Source: Shi et al. 2016."""

    def __init__(self, upscale_factor: int):
        super().__init__()
        self.upscale_factor = _positive("upscale_factor", upscale_factor)

    def forward(self, x):
        _need_image(x)
        r = self.upscale_factor
        *lead, channels, height, width = x.shape
        count = len(lead)
        parts = ops.reshape(x, (*lead, channels // (r * r), r, r, height, width))
        order = (*range(count), count, count + 3, count + 1, count + 4, count + 2)
        return ops.reshape(ops.transpose(parts, order), (*lead, channels // (r * r), height * r, width * r))

    def extra_repr(self) -> str:
        return f"upscale_factor={self.upscale_factor}"


class PixelUnshuffle(Module):
    """(..., C, H * r, W * r) to (..., C * r^2, H, W): undoes `PixelShuffle`."""

    def __init__(self, downscale_factor: int):
        super().__init__()
        self.downscale_factor = _positive("downscale_factor", downscale_factor)

    def forward(self, x):
        _need_image(x)
        r = self.downscale_factor
        *lead, channels, height, width = x.shape
        count = len(lead)
        parts = ops.reshape(x, (*lead, channels, height // r, r, width // r, r))
        order = (*range(count), count, count + 2, count + 4, count + 1, count + 3)
        return ops.reshape(ops.transpose(parts, order), (*lead, channels * r * r, height // r, width // r))

    def extra_repr(self) -> str:
        return f"downscale_factor={self.downscale_factor}"


def _positive(name: str, value: int) -> int:
    if value < 1:
        raise OnemlirError(f"{name} must be positive, found {value}")
    return value


def _need_image(x) -> None:
    if x.ndim < 3:
        raise ShapeError(f"an image has 3 axes or more (channels, height, width), found shape {x.shape}")
