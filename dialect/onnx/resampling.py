"""Writers of resizing and grid sampling."""
from __future__ import annotations

import numpy as np

from ..ops import resampling as om
from .graph import Graph
from .registry import Unwritable, writes
from .written_op import WrittenOp


@writes(om.Resize)
def write_resize(graph: Graph, op: WrittenOp):
    if op.coordinate_mode == "half_pixel_symmetric" and graph.opset < 19:
        raise Unwritable(f"half_pixel_symmetric needs opset 19, found {graph.opset}")
    crop = op.coordinate_mode == "tf_crop_and_resize"
    roi = np.array(op.roi, np.float32) if crop else None
    scales = None if op.scales is None or _by_sizes(op) else np.array(op.scales, np.float32)
    return graph.Resize(
        op.x, roi, scales, graph.vector(op.sizes) if scales is None else None, mode=op.mode, coordinate_transformation_mode=op.coordinate_mode,
        nearest_mode=op.nearest_mode if op.mode == "nearest" else None, cubic_coeff_a=op.cubic_coeff_a if op.mode == "cubic" else None,
        exclude_outside=op.exclude_outside or None, antialias=op.antialias or None, extrapolation_value=op.extrapolation_value if crop else None)


def _by_sizes(op: WrittenOp) -> bool:
    """Whether the scales say no more than the sizes. Unwritable when they contradict each other."""
    pairs = list(zip(op.x.shape, op.type.shape, op.scales))
    if not all(isinstance(old, int) and isinstance(new, int) for old, new, _ in pairs):
        return False
    if all(old and np.float32(new) / np.float32(old) == np.float32(scale) for old, new, scale in pairs):
        return True
    if any(new != int(np.floor(np.float32(old) * np.float32(scale))) for old, new, scale in pairs):
        raise Unwritable(f"ONNX's Resize computes its sizes from scales {op.scales}, which are not {op.type.shape}")
    return all(new == old * scale for old, new, scale in pairs)


@writes(om.GridSample, since=20)
def write_grid_sample(graph: Graph, op: WrittenOp):
    return graph.GridSample(op.x, op.grid, mode=op.mode, padding_mode=op.padding_mode, align_corners=op.align_corners)
