"""Resizing and sampling."""
from __future__ import annotations

from ...dialect import dtypes, symbolic
from ...dialect.shapes import normalize_axis
from ...errors import FormatError
from .crop import cropped_and_resized
from .registry import reads


@reads("Resize", since=11)
def read_resize(node, ops):
    return _resized(node, ops, 1, 2, 3)


@reads("Resize")
def read_resize_10(node, ops):
    return _scaled(node, ops, [float(v) for v in node.array(1)], node.text("mode", "nearest"))


@reads("Upsample")
def read_upsample(node, ops):
    scales = [float(v) for v in node.array(1)] if node.has(1) else list(node.floats("scales"))
    return _scaled(node, ops, scales, node.text("mode", "nearest"))


def _scaled(node, ops, scales, mode: str):
    """Up to version 10: places are i / scale, rounded down."""
    sizes = tuple(_size(n, s) for n, s in zip(node.shape(0), scales))
    return ops.resize(node.tensor(0), sizes=sizes, scales=tuple(scales), mode="linear" if mode == "bilinear" else mode, coordinate_mode="asymmetric",
                      nearest_mode="floor")


def _size(size, scale: float):
    """floor(size * scale)."""
    if isinstance(size, int):
        return int(size * scale)
    numerator, denominator = float(scale).as_integer_ratio()
    return symbolic.floordiv(size * numerator, denominator)


def _resized(node, ops, roi_at: int, scales_at: int, sizes_at: int):
    x, shape = node.tensor(0), node.shape(0)
    rank = x.ndim
    axes = [normalize_axis(a, rank) for a in node.ints_attribute("axes", range(rank))]
    given = node.array(scales_at).tolist() if _filled(node, scales_at) else None
    if given is not None:
        scales = _spread(given, axes, [1.0] * rank)
        sizes = tuple(_size(n, s) for n, s in zip(shape, scales))
    elif node.has(sizes_at):
        stretched = node.text("keep_aspect_ratio_policy", "stretch") == "stretch"
        sizes, scales = _by_sizes(node, node.sizes(sizes_at) if stretched else node.ints(sizes_at), axes, shape)
    else:
        raise FormatError("neither scales nor sizes are given")
    mode = node.text("mode", "nearest")
    options = {"coordinate_mode": node.text("coordinate_transformation_mode", "half_pixel"), "nearest_mode": node.text("nearest_mode", "round_prefer_floor"),
               "cubic_coeff_a": node.float("cubic_coeff_a", -0.75), "exclude_outside": bool(node.int("exclude_outside", 0)),
               "antialias": bool(node.int("antialias", 0)), "extrapolation_value": node.float("extrapolation_value", 0.0)}
    if options["coordinate_mode"] == "tf_crop_and_resize":
        if node.value(roi_at).array is None:
            return cropped_and_resized(node, x, node.tensor(roi_at), axes, sizes)
        roi = node.array(roi_at).astype(float).tolist()
        options["roi"] = tuple(_spread(roi[:len(axes)], axes, [0.0] * rank) + _spread(roi[len(axes):], axes, [1.0] * rank))
    return ops.resize(x, sizes=sizes, scales=None if scales is None else tuple(scales), mode=mode, **options)


def _filled(node, number: int) -> bool:
    return node.has(number) and node.shape(number) != (0,)


def _spread(values, axes, default: list) -> list:
    result = list(default)
    for axis, value in zip(axes, values):
        result[axis] = value
    return result


def _by_sizes(node, given, axes, shape):
    """Sizes and scales; with a policy one scale serves all the axes."""
    policy = node.text("keep_aspect_ratio_policy", "stretch")
    if policy == "stretch":
        sizes = tuple(_spread(given, axes, list(shape)))
        fixed = all(isinstance(v, int) and v for v in (*sizes, *shape))
        return sizes, [v / n for v, n in zip(sizes, shape)] if fixed else None  # onnxruntime divides by these, so scales they are
    if not all(isinstance(v, int) for v in (*given, *shape)):
        node.refuse("keep_aspect_ratio_policy needs fixed sizes")
    ratios = [v / shape[a] for v, a in zip(given, axes)]
    scale = min(ratios) if policy == "not_larger" else max(ratios)
    sizes = _spread([int(scale * shape[a] + 0.5) for a in axes], axes, list(shape))
    return tuple(sizes), _spread([scale] * len(axes), axes, [1.0] * len(shape))


_MODES = {"bilinear": "linear", "bicubic": "cubic"}


@reads("GridSample")
def read_grid_sample(node, ops):
    mode = node.text("mode", "linear" if node.version >= 20 else "bilinear")
    x, grid = node.tensor(0), node.with_sizes(1, {node.rank(1) - 1: node.rank(0) - 2})
    y = ops.grid_sample(x, grid.astype(x.dtype), mode=_MODES.get(mode, mode), padding_mode=node.text("padding_mode", "zeros"),
                        align_corners=bool(node.int("align_corners", 0)))
    return y


__all__ = ["dtypes"]
