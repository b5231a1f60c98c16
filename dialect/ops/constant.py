"""Where values come from: literals, weights, sizes of axes."""
from __future__ import annotations

import numpy as np

from ...errors import ShapeError
from .. import dtypes
from ..attributes import Array, Axis, DType, Shape
from ..declare import Attr, Integer, Op, Operand, Result, AnyDType
from ..shapes import show, TensorType


class Constant(Op, public=False):
    """A small literal array."""

    value: Attr[Array]
    result: Result

    def infer(value):
        return TensorType(tuple(value.shape), value.dtype)

    def reference(value):
        return value


class Parameter(Op, public=False):
    """A weight of the model by its name, such as ``layers.0.weight``. The arrays are held beside the IR."""

    name: Attr[str]
    result: Result
    typed_by_ir = True


class Full(Op):
    """A tensor of the given shape in which every element is `value`.

    value: rank 0. shape: sizes, symbolic ones allowed. Result: that shape, dtype of `value`.
    """

    value: Operand[AnyDType]
    shape: Attr[Shape]
    result: Result

    def verify(value, shape):
        if value.rank:
            raise ShapeError(f"full: the value must have rank 0, found shape {show(value.shape)}")

    def infer(value, shape):
        return TensorType(shape, value.dtype)

    def reference(value, shape):
        return np.full(shape, value)


class Iota(Op, public=False):
    """0, 1, 2, … along one axis: numpy's arange of a size.

    size: one size, symbolic allowed. Result: rank 1 of that size.
    """

    size: Attr[Shape]
    dtype: Attr[DType] = np.dtype("int64")
    result: Result

    def infer(size, dtype):
        return TensorType(size, dtype)

    def reference(size, dtype):
        return np.arange(size[0]).astype(dtype)


class Dim(Op, public=False):
    """The size of one axis of a tensor, as an index."""

    x: Operand[AnyDType]
    axis: Attr[Axis]
    result: Result
    result_base = "index"
    typed_by_ir = True


class FromSize(Op, public=False):
    """A size (index) as a rank-0 i64 tensor, so that it can take part in the computation."""

    result: Result
    index_operands = ("size",)

    def infer():
        return TensorType((), dtypes.int64)


class ToSize(Op, public=False):
    """A rank-0 integer tensor as a size (index). Negative values become 0."""

    x: Operand[Integer]
    result: Result
    result_base = "index"
    typed_by_ir = True


class SizeMod(Op, public=False):
    """Remainder of two sizes with the sign of the divisor, as Python's ``%``."""

    result: Result
    index_operands = ("left", "right")
    result_base = "index"
    typed_by_ir = True


class SizeBroadcast(Op, public=False):
    """The size that two sizes broadcast to: `right` where `left` is 1, else `left`."""

    result: Result
    index_operands = ("left", "right")
    result_base = "index"
    typed_by_ir = True


OPS = (Constant, Parameter, Full, Iota, Dim, FromSize, ToSize, SizeMod, SizeBroadcast)
