"""Reductions over axes. `axis` None means all axes; `keepdims` leaves axes of size 1."""
from __future__ import annotations

import numpy as np

from ...errors import ShapeError
from .. import dtypes
from ..attributes import Axes
from ..declare import Attr, Floating, Numeric, Op, Operand, Result, AnyDType
from ..shapes import TensorType
from .elementwise import quiet


class Reduction(Op, abstract=True):
    """Base: one operand, axes to reduce over."""

    x: Operand[Numeric]
    axis: Attr[Axes] = None
    keepdims: Attr[bool] = False
    result: Result

    @classmethod
    def infer(cls, x, axis, keepdims):
        return TensorType(reduced_shape(x.shape, axis, keepdims), cls.result_dtype(x.dtype))

    @staticmethod
    def result_dtype(dtype):
        return dtype


def reduced_shape(shape, axes, keepdims: bool):
    """The shape after reducing over `axes` (non-negative)."""
    return tuple(1 if i in axes else size for i, size in enumerate(shape) if keepdims or i not in axes)


def wide(x):
    """f16 and bf16 as f32, in which reductions over them are computed."""
    return x.astype(np.float32) if dtypes.is_floating(x.dtype) and x.dtype.itemsize == 2 else x


class Sum(Reduction):
    """The sum; 0 of an empty axis. Integers widen to 64 bits, f16 and bf16 are summed in f32."""

    x: Operand[AnyDType]
    result_dtype = staticmethod(dtypes.sum_dtype)
    reference = staticmethod(quiet(lambda x, axis, keepdims: np.asarray(np.sum(wide(x), axis=axis, keepdims=keepdims)).astype(dtypes.sum_dtype(x.dtype))))


class Mean(Reduction):
    """The mean; NaN of an empty axis. Integers are converted to floating."""

    x: Operand[Floating]
    reference = staticmethod(quiet(lambda x, axis, keepdims: np.asarray(np.sum(wide(x), axis=axis, keepdims=keepdims) / wide(x).dtype.type(np.prod([x.shape[a] for a in axis], initial=1))).astype(x.dtype)))


class Max(Reduction):
    """The largest element; NaN when there is one. ShapeError for an empty axis."""

    reference = staticmethod(quiet(lambda x, axis, keepdims: np.max(x, axis=axis, keepdims=keepdims)))

    def verify(x, axis, keepdims):
        refuse_empty("max", x, axis)


class Min(Reduction):
    """The smallest element; NaN when there is one. ShapeError for an empty axis."""

    reference = staticmethod(quiet(lambda x, axis, keepdims: np.min(x, axis=axis, keepdims=keepdims)))

    def verify(x, axis, keepdims):
        refuse_empty("min", x, axis)


def refuse_empty(name: str, x: TensorType, axes) -> None:
    """ShapeError when one of the reduced axes is empty: the reduction has no neutral element."""
    for axis in axes:
        if x.shape[axis] == 0:
            raise ShapeError(f"{name} over axis {axis}, which is empty in shape {x.shape}: there is no result")


OPS = (Sum, Mean, Max, Min)
