"""Gradients of resampling."""
from __future__ import annotations

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
        if not np.array_equal(matrix, np.eye(*matrix.shape)):
            x = move(ops.matmul(move(x, axis, x.ndim - 1), matrix.astype(x.dtype)), x.ndim - 1, axis)
    return x


def _matrix(call, axis: int, old: int, rank: int) -> np.ndarray:
    """(old, new): the share of each element in each sample along one axis."""
    new = call.sizes[axis]
    scales = None if call.scales is None else (1.0, call.scales[axis])
    roi = None if call.roi is None else (0.0, call.roi[axis], 1.0, call.roi[axis + rank])
    options = {name: getattr(call, name) for name in ("mode", "coordinate_mode", "nearest_mode", "cubic_coeff_a", "exclude_outside", "antialias")}
    return om.Resize.reference(np.eye(old), sizes=(old, new), scales=scales, roi=roi, extrapolation_value=0.0, **options)
