"""Ops of the indexing family that order, select and find elements: sort, topk, nonzero, unique, searchsorted.

NaN is greater than every number and equal to itself, as in numpy's sort. Equal elements keep their order.
"""
from __future__ import annotations

import numpy as np

from ...errors import ShapeError
from .. import dtypes
from ..attributes import Axis, Optional, Shape
from ..declare import AnyDType, Attr, Composite, Numeric, Op, Operand, Pure, Result
from ..shapes import policy, require_less_equal, show, TensorType
from .elementwise import wide


def stable_order(x: np.ndarray, axis: int, descending: bool) -> np.ndarray:
    """Indices that sort x along an axis, equal elements in their order."""
    x = wide(x)  # numpy's sort of bf16 does not put NaN last
    if not descending:
        return np.argsort(x, axis=axis, kind="stable")
    backwards = np.argsort(np.flip(x, axis), axis=axis, kind="stable")
    return np.flip(x.shape[axis] - 1 - backwards, axis)


class Sort(Op):
    """x sorted along one axis, stable; NaN last, or first when descending. Source: array API, ``sort``."""

    x: Operand[AnyDType]
    axis: Attr[Axis] = -1
    descending: Attr[bool] = False
    result: Result["x"]

    def reference(x, axis, descending):
        return np.take_along_axis(x, stable_order(x, axis, descending), axis)


class Argsort(Op):
    """The indices (i64) that sort x along one axis, stable; NaN last, or first when descending. Source: array API, ``argsort``."""

    x: Operand[AnyDType]
    axis: Attr[Axis] = -1
    descending: Attr[bool] = False
    result: Result

    def infer(x, axis, descending):
        return x.with_dtype(dtypes.int64)

    def reference(x, axis, descending):
        return stable_order(x, axis, descending)


class Topk(Op):
    """The k largest (or smallest) elements along one axis, in order, and their indices (i64); of equal ones those of lower index.

    k: one size, symbolic allowed, at most the axis. sorted: False allows any order. NaN counts as largest. Source: torch.topk; ONNX TopK.
    """

    x: Operand[AnyDType]
    k: Attr[Shape]
    axis: Attr[Axis] = -1
    largest: Attr[bool] = True
    sorted: Attr[bool] = True
    values: Result
    indices: Result

    def infer(x, k, axis, largest, sorted):
        if len(k) != 1:
            raise ShapeError(f"topk: k must be one size, found {show(k)}")
        require_less_equal(k[0], x.shape[axis], f"topk: k is {k[0]} but axis {axis} of x {show(x.shape)} has {x.shape[axis]} elements")
        shape = x.shape[:axis] + k + x.shape[axis + 1:]
        return x.with_shape(shape), TensorType(shape, dtypes.int64)

    def reference(x, k, axis, largest, sorted):
        order = np.take(stable_order(x, axis, largest), np.arange(k[0]), axis=axis)
        return np.take_along_axis(x, order, axis), order


class Nonzero(Op, public=False):
    """The places of the elements that are not zero, in row-major order: (rank, count), i64. count depends on the data. Source: ONNX NonZero."""

    x: Operand[AnyDType]
    result: Result

    def infer(x):
        if x.rank == 0:
            raise ShapeError("nonzero: a rank-0 tensor has no axes to name; reshape it to (1,)")
        return TensorType((x.rank, policy().fresh("nonzero")), dtypes.int64)

    def reference(x):
        return np.stack(np.nonzero(x))


class Unique(Op, public=False):
    """The distinct elements of x, or its distinct slices along `axis`, and where they are.

    Results: values (count along `axis`, or flat), indices of first occurrences (count), inverse (for each element or slice its place in
    values), counts (count); the last three i64, flat. sorted: ascending, else in order of first occurrence. Each NaN is distinct.
    count depends on the data. Source: ONNX Unique; array API, ``unique_all``.
    """

    x: Operand[AnyDType]
    axis: Attr[Optional(Axis())] = None
    sorted: Attr[bool] = True
    values: Result
    indices: Result
    inverse: Result
    counts: Result

    def infer(x, axis, sorted):
        from ..symbolic import product

        count = policy().fresh("unique")
        shape = (count,) if axis is None else x.shape[:axis] + (count,) + x.shape[axis + 1:]
        total = product(x.shape) if axis is None else x.shape[axis]
        found = TensorType((count,), dtypes.int64)
        return x.with_shape(shape), found, TensorType((total,), dtypes.int64), found

    def reference(x, axis, sorted):
        values, indices, inverse, counts = np.unique(x, return_index=True, return_inverse=True, return_counts=True, axis=axis, equal_nan=False)
        inverse = inverse.reshape(-1)
        if sorted:
            return values, indices, inverse, counts
        order = np.argsort(indices, kind="stable")
        places = np.empty_like(order)
        places[order] = np.arange(order.size)
        return np.take(values, order, axis=axis or 0), indices[order], places[inverse], counts[order]


class Searchsorted(Op):
    """For each v the place in the ascending rank-1 tensor `sorted` where it belongs (i64): how many elements are < v, or <= v with right.

    Source: array API, ``searchsorted``; numpy's side="left" and "right".
    """

    sorted: Operand[Numeric, "T"]
    v: Operand[Numeric, "T"]
    right: Attr[bool] = False
    result: Result
    traits = (Pure, Composite)

    def infer(sorted, v, right):
        if sorted.rank != 1:
            raise ShapeError(f"searchsorted: the sorted tensor must have rank 1, found shape {show(sorted.shape)}")
        return v.with_dtype(dtypes.int64)

    def reference(sorted, v, right):
        return np.asarray(np.searchsorted(sorted, v, side="right" if right else "left"))


OPS = (Sort, Argsort, Topk, Nonzero, Unique, Searchsorted)
