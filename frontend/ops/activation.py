"""Activations composed of ops, by torch's names."""
from __future__ import annotations

from ...dialect.shapes import normalize_axis
from ...errors import ShapeError
from ..tensor import Tensor
from .declared import as_tensor, declared as om
from .elementwise import clip

__all__ = ["glu", "hardshrink", "hardtanh", "logsigmoid", "prelu", "softmin", "softshrink", "tanhshrink", "threshold", "thresholded_relu"]


def prelu(x, weight) -> Tensor:
    """x where x > 0, else weight * x. weight: of one element, or (channels,) for axis 1 of x; other ranks broadcast to x's shape.

    Source: torch's prelu; ONNX's PRelu for the broadcast.
    """
    x, weight = as_tensor(x), as_tensor(weight)
    if weight.ndim == 1 and x.ndim > 1:
        weight = om.reshape(weight, shape=(weight.shape[0],) + (1,) * (x.ndim - 2))
    return om.prelu(x, weight)


def hardtanh(x, min_val: float = -1.0, max_val: float = 1.0) -> Tensor:
    """x limited to [min_val, max_val]."""
    return clip(x, min_val, max_val)


def thresholded_relu(x, alpha: float = 1.0) -> Tensor:
    """x where x > alpha, else 0. Source: ONNX, ``ThresholdedRelu``."""
    return threshold(x, alpha, 0.0)


def threshold(x, threshold: float, value: float) -> Tensor:
    """x where x > threshold, else value. NaN stays. Source: torch, ``threshold``."""
    x = as_tensor(x)
    return om.where(x <= threshold, value, x)


def logsigmoid(x) -> Tensor:
    """log(sigmoid(x)) = min(x, 0) - log(1 + exp(-|x|)), without overflow."""
    x = as_tensor(x)
    return om.minimum(x, 0.0) - om.log1p(om.exp(-om.abs(x)))


def glu(x, axis: int = -1) -> Tensor:
    """a * sigmoid(b), where a and b are the halves of x along an axis. ShapeError for an odd size. Source: Dauphin et al. 2017."""
    x = as_tensor(x)
    axis = normalize_axis(axis, x.ndim)
    size = x.shape[axis]
    if isinstance(size, int) and size % 2:
        raise ShapeError(f"glu: axis {axis} of shape {x.shape} must have an even size to be halved, found {size}")
    half = size // 2
    before, after = (0,) * axis, (0,) * (x.ndim - axis - 1)
    shape = (*x.shape[:axis], half, *x.shape[axis + 1:])
    first, second = (om.slice(x, starts=(*before, start, *after), shape=shape, steps=(1,) * x.ndim) for start in (0, half))
    return first * om.sigmoid(second)


def softmin(x, axis: int = -1) -> Tensor:
    """softmax(-x)."""
    return om.softmax(-as_tensor(x), axis=axis)


def tanhshrink(x) -> Tensor:
    """x - tanh(x)."""
    x = as_tensor(x)
    return x - om.tanh(x)


def hardshrink(x, lambd: float = 0.5) -> Tensor:
    """x where |x| > lambd, else 0. NaN stays."""
    x = as_tensor(x)
    return om.where(om.abs(x) <= lambd, 0.0, x)


def softshrink(x, lambd: float = 0.5) -> Tensor:
    """x moved by lambd towards 0, and 0 where |x| <= lambd. NaN stays."""
    x = as_tensor(x)
    return om.where(om.abs(x) <= lambd, 0.0, x - om.sign(x) * lambd)
