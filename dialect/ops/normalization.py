"""Normalizations over channels, layers, groups, instances."""
from __future__ import annotations

import numpy as np

from ...errors import ShapeError
from ..declare import Attr, Composite, Floating, Op, Operand, OptionalOperand, Pure, Result
from ..shapes import require_equal, show


class LayerNorm(Op):
    """(x - mean) / sqrt(var + eps) * weight + bias over the last axes, as many as `weight` has or `axes_count` says.

    Statistics are computed in f32 at least. Source: Ba, Kiros, Hinton 2016; torch's layer_norm.
    """

    x: Operand[Floating, "T"]
    weight: OptionalOperand[Floating, "T"]
    bias: OptionalOperand[Floating, "T"]
    axes_count: Attr[int] = 1
    eps: Attr[float] = 1e-5
    result: Result["x"]
    traits = (Pure, Composite)

    def verify(x, weight, bias, axes_count, eps):
        if not 1 <= axes_count <= x.rank:
            raise ShapeError(f"layer_norm: axes_count {axes_count} does not fit x of shape {show(x.shape)}")
        for name, operand in (("weight", weight), ("bias", bias)):
            if operand is not None:
                if operand.rank != axes_count:
                    raise ShapeError(f"layer_norm: {name} must have shape {show(x.shape[-axes_count:])}, found {show(operand.shape)}")
                for a, b in zip(operand.shape, x.shape[-axes_count:]):
                    require_equal(a, b, f"layer_norm: {name} {show(operand.shape)} does not fit x {show(x.shape)}")

    def reference(x, weight, bias, axes_count, eps):
        wide = x.astype(np.float64 if x.dtype == np.float64 else np.float32)
        axes = tuple(range(x.ndim - axes_count, x.ndim))
        mean = wide.mean(axes, keepdims=True)
        y = (wide - mean) / np.sqrt(((wide - mean) ** 2).mean(axes, keepdims=True) + wide.dtype.type(eps))
        y = y if weight is None else y * weight.astype(wide.dtype)
        return (y if bias is None else y + bias.astype(wide.dtype)).astype(x.dtype)


OPS = (LayerNorm,)
