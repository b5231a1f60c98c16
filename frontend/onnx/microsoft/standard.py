"""Operators that ai.onnx has too, or that are made of a few of its operators."""
from __future__ import annotations

import numpy as np

from ....dialect import dtypes
from ....dialect.shapes import normalize_axis
from ...ops.declared import declared as om
from ...ops.shape import expand_dims, slice_along
from ...regions import build_for
from ...symbolic_int import size_of
from ...tensor import Tensor
from ..attention import places
from ..registry import reader_of
from ..shape import sizes_of
from .domain import microsoft

SAME = {"GatherND": 13, "GridSample": 16, "Pad": 18, "Range": 11, "Trilu": 14}
"""Operators with the meaning that they have in a version of ai.onnx."""


@microsoft(*SAME)
def read_same(node, ops):
    node.version = SAME[node.op_type]
    return reader_of("", node.op_type, node.version)(node, ops)


@microsoft("Unique")
def read_unique(node, ops):
    """The values in the order in which they come, the place of each element among them, and their counts."""
    y, _, inverse, counts = ops.unique(node.tensor(0), axis=None, sorted=False)
    return y, inverse, counts


@microsoft("ExpandDims")
def read_expand_dims(node, ops):
    axis, = node.ints(1)
    return expand_dims(node.tensor(0), normalize_axis(axis, node.rank(0) + 1))


@microsoft("ConvTransposeWithDynamicPads")
def read_conv_transpose(node, ops):
    pads = node.ints(2) if node.has(2) else None
    return node.read_as("ConvTranspose", node.tensor(0), node.tensor(1), node.optional(3), pads=pads)


@microsoft("CDist")
def read_cdist(node, ops):
    """Distances of the rows of a to the rows of b."""
    a, b = node.tensor(0), node.tensor(1)
    difference = ops.reshape(a, shape=(sizes_of(a)[0], 1, sizes_of(a)[1])) - b
    squares = ops.sum(difference * difference, axis=-1)
    return squares if node.text("metric", "sqeuclidean") == "sqeuclidean" else ops.sqrt(squares)


@microsoft("Inverse")
def read_inverse(node, ops):
    """The inverses of matrices, by Gauss and Jordan's elimination with row exchange."""
    x = node.tensor(0)
    *batch, size, _ = sizes_of(x)
    wide = x.astype(dtypes.float64 if x.dtype == dtypes.float64 else dtypes.float32)
    row = places(size)
    one = (ops.reshape(row, shape=(size, 1)) == row).astype(wide.dtype)
    start = ops.concat([wide, ops.broadcast_to(one, shape=(*batch, size, size))], axis=-1)
    (end,), _ = build_for(node.recorder, size, [start], lambda index, carried: ([_eliminated(carried[0], size_of(index), row)], []))
    return slice_along(end, x.ndim - 1, size, size).astype(x.dtype)


def _eliminated(rows: Tensor, step, row: Tensor) -> Tensor:
    """One step: the row with the largest pivot takes the place of row `step`, is divided by it, and is subtracted from the others."""
    axis, number = rows.ndim - 2, om.iota(size=(1,)) + _scalar_of(step)
    column = slice_along(rows, rows.ndim - 1, step, 1)
    index = om.reshape(row, shape=(-1, 1))
    candidates = om.where(index >= number, om.abs(column), Tensor._wrap(np.asarray(-1, rows.dtype)))
    pivot = om.argmax(candidates, axis=axis, keepdims=True)
    order = om.where(index == number, pivot, om.where(index == pivot, number, index))
    swapped = om.take_along_axis(rows, om.broadcast_to(order, shape=sizes_of(rows)), axis=axis)
    top = slice_along(swapped, axis, step, 1)
    top = top / slice_along(top, rows.ndim - 1, step, 1)
    column = slice_along(swapped, rows.ndim - 1, step, 1)
    return om.where(index == number, top, swapped - column * top)


def _scalar_of(size) -> Tensor:
    from ..values import _scalar

    return _scalar(size)
