"""Interpolation and sampling."""
from __future__ import annotations

from ... import ops
from ..registry import handles


@handles("F.interpolate", "F.upsample")
def interpolate(input, size=None, scale_factor=None, mode="nearest", align_corners=None, recompute_scale_factor=None, antialias=False):
    return ops.interpolate(input, size, scale_factor, mode, align_corners, recompute_scale_factor, antialias)


def _upsample(mode: str, corners: bool, antialias: bool = False):
    def handler(input, output_size=None, *rest, align_corners=None, scale_factors=None, **scales):
        if corners:
            align_corners, *rest = rest or (align_corners,)
        scale_factors = next((r for r in rest if r is not None), scale_factors)
        given = {"size": output_size} if output_size is not None else {"scale_factor": tuple(scale_factors)}
        return ops.interpolate(input, **given, mode=mode, align_corners=align_corners if corners else None, antialias=antialias)
    return handler


for _name, _mode in {"nearest1d": "nearest", "nearest2d": "nearest", "nearest3d": "nearest", "_nearest_exact2d": "nearest-exact", "linear1d": "linear",
                     "bilinear2d": "bilinear", "bicubic2d": "bicubic", "trilinear3d": "trilinear"}.items():
    handles(f"upsample_{_name}", f"F.upsample_{_name}")(_upsample(_mode, "nearest" not in _mode))


@handles("F.grid_sample")
def grid_sample(input, grid, mode="bilinear", padding_mode="zeros", align_corners=None):
    return ops.grid_sample(input, grid, mode={"bilinear": "linear", "bicubic": "cubic"}.get(mode, mode), padding_mode=padding_mode,
                           align_corners=bool(align_corners))


@handles("grid_sampler", "grid_sampler_2d", "grid_sampler_3d")
def grid_sampler(input, grid, interpolation_mode, padding_mode, align_corners):
    return grid_sample(input, grid, ("bilinear", "nearest", "bicubic")[interpolation_mode], ("zeros", "border", "reflection")[padding_mode], align_corners)


@handles("F.affine_grid", "affine_grid_generator")
def affine_grid(theta, size, align_corners=None):
    return ops.affine_grid(theta, tuple(size), bool(align_corners))
