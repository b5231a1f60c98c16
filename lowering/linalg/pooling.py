"""Lowerings of pooling: reductions over windows of an explicitly padded input.

Iteration space: (*lead, *out, *kernel). A tensor of the kernel's shape, never read, gives the extents of the window's loops.
"""
from __future__ import annotations

import math
from dataclasses import replace
from typing import Sequence

from mlir import ir
from mlir.dialects import arith, linalg

from ...dialect import dtypes, symbolic
from ...dialect.ops import pooling as om
from ...dialect.shapes import TensorType
from ..kernels.pool import PoolShape
from .builder import compute_dtype, PARALLEL, REDUCTION
from .layouts import channels_first, channels_last, comes_in_nhwc, goes_on_in_nhwc, last_axes
from .reduction import converted
from .registry import lowers, TensorValue
from .scalar import cast, Scalar

MOST_TAPS = 64
"""Of a mean's window that a kernel sums, since it does not loop over them."""


@lowers(om.MaxPool)
def max_pool(build, op):
    if has_kernel(op):
        return kernel_pool(build, op, op.x, pool_shape(op))
    scalar = Scalar(build, op.x.dtype)
    lowest = build.narrow(scalar.lowest(), op.x.dtype)
    window = Window(build, op, op.x, lowest)
    widen = lambda v: build.widen(v, op.x.dtype)
    return window.reduce([op.result], [lowest], lambda x, best: [build.narrow(scalar.maximum(widen(x), widen(best)), op.x.dtype)])[0]


def pool_shape(op) -> PoolShape:
    size = (size if isinstance(size, int) else None for size in op.x.shape[2:])
    return PoolShape(*(tuple(values) for values in (size, op.kernel_size, op.stride, op.padding)))


def has_kernel(op) -> bool:
    """Whether a kernel computes a pooling: two or three axes of floats, neighbouring taps, no window of padding alone."""
    rank = len(op.kernel_size)
    if rank not in (2, 3) or op.x.rank != 2 + rank or 0 in (*op.x.shape[2:], *op.result.shape[2:]):
        return False
    if not dtypes.is_floating(op.x.dtype) or set(op.dilation) != {1}:
        return False
    shape, size = pool_shape(op), op.result.shape[2:]
    if op.ceil_mode and None in shape.size and any(shape.pads[:rank]):
        return False
    return shape.has_kernel(size) or in_nhwc(op) and shape.covers(size)


def in_nhwc(op) -> bool:
    return comes_in_nhwc(op.operation) or goes_on_in_nhwc(op.operation)


def kernel_pool(build, op, x: TensorValue, shape: PoolShape) -> ir.Value:
    """Iteration space (n, c, *out, *taps). Where a tap lies outside of the image, the nearest pixel is read, which is in the window too; a
    mean reads 0."""
    scalar, dtype = Scalar(build, x.dtype), x.dtype
    rank = len(shape.size)
    loops = 2 + 2 * rank
    dims = [ir.AffineExpr.get_dim(i) for i in range(loops)]
    nhwc = in_nhwc(op)
    x = channels_last(build, x) if nhwc else x
    order = last_axes(2 + rank) if nhwc else range(2 + rank)
    sizes = op.x.shape[2:]

    def body(_, folded):
        n, channel, *places = (linalg.IndexOp(i).result for i in range(loops))
        places = [_tap(build, shape, axis, places[axis], places[rank + axis]) for axis in range(rank)]
        at = [n, channel, *(_nearest(build, place, size) for place, size in zip(places, sizes))]
        element = build.read(x, [at[axis] for axis in order])
        if shape.divisor is None:
            return build.narrow(scalar.maximum(build.widen(element, dtype), build.widen(folded, dtype)), dtype)
        if not shape.inside:
            element = scalar.select(_all_inside(build, places, sizes), element, scalar.const(0))
        return scalar.sum(folded, arith.DivFOp(element, scalar.const(shape.divisor)).result)
    extents = build.empty(TensorType(shape.kernel, dtype))
    result = op.result.with_dtype(dtype).with_shape(op.result.shape[axis] for axis in order)
    kernel = {"name": "pool", "kernel": shape.kernel, "strides": shape.strides, "pads": shape.pads, "layout": "nhwc" if nhwc else "nchw",
              "divisor": shape.divisor or 0, "inside": shape.inside}
    start = build.narrow(scalar.lowest(), dtype) if shape.divisor is None else scalar.const(0)
    y = build.generic([extents], [ir.AffineMap.get(loops, 0, dims[2 + rank:])], result, body, init=build.filled(result, start),
                      output_map=ir.AffineMap.get(loops, 0, [dims[axis] for axis in order]),
                      iterators=[PARALLEL] * (2 + rank) + [REDUCTION] * rank, kernel=kernel)
    return channels_first(build, TensorValue(y, result)).value if nhwc else y


def _tap(build, shape: PoolShape, axis: int, place: ir.Value, tap: ir.Value) -> ir.Value:
    """Where a tap of the window at a place lies along an axis of the image."""
    start = arith.MulIOp(place, build.const_index(shape.strides[axis])).result
    return arith.SubIOp(arith.AddIOp(start, tap).result, build.const_index(shape.pads[axis])).result


def _nearest(build, place: ir.Value, size) -> ir.Value:
    return arith.MinSIOp(arith.MaxSIOp(place, build.const_index(0)).result, build.size(size - 1)).result


def _all_inside(build, places: Sequence[ir.Value], sizes: Sequence) -> ir.Value:
    inside = build.constant(1, dtypes.bool_)
    for place, size in zip(places, sizes):
        inside = arith.AndIOp(inside, arith.CmpIOp(arith.CmpIPredicate.ult, place, build.size(size)).result).result
    return inside


@lowers(om.MaxPoolWithIndices)
def max_pool_with_indices(build, op):
    scalar, number = Scalar(build, op.x.dtype), Scalar(build, dtypes.int64)
    lowest, nowhere = build.narrow(scalar.lowest(), op.x.dtype), number.const(-1)
    window = Window(build, op, op.x, lowest)

    def body(x, best, place):
        new, old = build.widen(x, op.x.dtype), build.widen(best, op.x.dtype)
        inside, here = window.position()
        larger = scalar.compare("gt", new, old)
        if scalar.floating:
            old_is_number = arith.XOrIOp(scalar.isnan(old), build.constant(1, dtypes.bool_)).result
            larger = arith.OrIOp(larger, arith.AndIOp(scalar.isnan(new), old_is_number).result).result
        first = number.compare("eq", place, nowhere)
        take = arith.AndIOp(inside, arith.OrIOp(larger, first).result).result
        return [scalar.select(take, x, best), scalar.select(take, here, place)]
    return tuple(window.reduce(list(op.results), [lowest, nowhere], body))


@lowers(om.AvgPool)
def avg_pool(build, op):
    wide = compute_dtype(op.x.dtype)
    scalar, type = Scalar(build, wide), op.result.with_dtype(wide)
    if has_kernel(op) and math.prod(op.kernel_size) <= MOST_TAPS:
        return kernel_avg_pool(build, op, wide)
    window = Window(build, op, converted(build, op.x, wide), scalar.const(0))
    total = TensorValue(window.reduce([type], [scalar.const(0)], lambda x, total: [scalar.sum(total, x)])[0], type)
    return converted(build, _means(build, op, window, total), op.result.dtype).value


def kernel_avg_pool(build, op, wide) -> ir.Value:
    """Means by a kernel, which divides by a count that all windows share."""
    count = _common_count(op)
    shape = replace(pool_shape(op), divisor=count or 1, inside=_all_taps_inside(op))
    type = op.result.with_dtype(wide)
    total = TensorValue(kernel_pool(build, op, converted(build, op.x, wide), shape), type)
    y = total if count else _means(build, op, Window(build, op, op.x), total)
    return converted(build, y, op.result.dtype).value


def _common_count(op) -> int | None:
    """What the sum of each window is divided by; None where windows differ."""
    if op.divisor is not None:
        return op.divisor
    same = _all_taps_inside(op) or op.count_include_pad and not op.ceil_mode
    return math.prod(op.kernel_size) if same else None


def _all_taps_inside(op) -> bool:
    """Whether all taps of all windows are known to be pixels."""
    axes = zip(op.result.shape[2:], op.stride, op.kernel_size, op.x.shape[2:])
    fits = lambda count, step, taps, size: isinstance(count, int) and isinstance(size, int) and (count - 1) * step + taps <= size
    return not any(op.padding) and (not op.ceil_mode or all(fits(*axis) for axis in axes))


def _means(build, op, window: "Window", total: TensorValue) -> TensorValue:
    """The sums divided by how many taps of each window count."""
    wide, scalar = total.dtype, Scalar(build, total.dtype)

    def mean(value):
        if op.divisor is not None:
            return arith.DivFOp(value, scalar.const(op.divisor)).result
        return arith.DivFOp(value, cast(build, window.count(op.count_include_pad), dtypes.int64, wide)).result
    return TensorValue(build.elementwise([total], total.type, mean), total.type)


class Window:
    """The windows of one pooling op over x, padded with `fill` where they are reduced."""

    def __init__(self, build, op, x: TensorValue, fill: ir.Value | None = None):
        self.build, self.op, self.x = build, op, x
        self.rank = len(op.kernel_size)
        self.lead = x.rank - self.rank
        self.low, self.high = op.padding[:self.rank], op.padding[self.rank:]
        self.fill = fill

    def _padded(self) -> ir.Value:
        type = self.x.type.with_shape((*self.x.shape[:self.lead], *map(self._padded_size, range(self.rank))))
        return self.build.pad(self.x, (*(0,) * self.lead, *self.low), type, self.fill)

    def _padded_size(self, i: int):
        """Long enough for the input and for the last window, which may reach beyond the padding."""
        needed = (self.op.result.shape[self.lead + i] - 1) * self.op.stride[i] + self.op.dilation[i] * (self.op.kernel_size[i] - 1) + 1
        return symbolic.maximum(self.x.shape[self.lead + i] + self.low[i] + self.high[i], needed)

    def reduce(self, results: Sequence[TensorType], starts: Sequence[ir.Value], body) -> list[ir.Value]:
        """Fold `body(element, *accumulators)` over the windows."""
        build, loops, padded = self.build, self.lead + 2 * self.rank, self._padded()
        dims = [ir.AffineExpr.get_dim(i) for i in range(loops)]
        out, taps = dims[self.lead:self.lead + self.rank], dims[self.lead + self.rank:]
        window = [p * s + k * d for p, s, k, d in zip(out, self.op.stride, taps, self.op.dilation)]
        maps = [ir.AffineMap.get(loops, 0, [*dims[:self.lead], *window]), ir.AffineMap.get(loops, 0, taps)]
        extents = build.empty(TensorType(tuple(self.op.kernel_size), results[0].dtype))
        inits = [build.filled(type, start) for type, start in zip(results, starts)]
        outputs = [ir.AffineMap.get(loops, 0, dims[:self.lead + self.rank])] * len(results)
        iterators = [PARALLEL] * (self.lead + self.rank) + [REDUCTION] * self.rank
        return build.generic_many([padded, extents], maps, inits, outputs, lambda x, _, *carried: body(x, *carried), iterators)

    def position(self) -> tuple[ir.Value, ir.Value]:
        """Within the body of `reduce`: whether the element lies in x, and its row-major position within the pooled axes (i64)."""
        build = self.build
        inside, position = build.constant(1, dtypes.bool_), build.const_index(0)
        for i in range(self.rank):
            start = arith.MulIOp(linalg.IndexOp(self.lead + i).result, build.const_index(self.op.stride[i])).result
            tap = arith.MulIOp(linalg.IndexOp(self.lead + self.rank + i).result, build.const_index(self.op.dilation[i])).result
            place = arith.SubIOp(arith.AddIOp(start, tap).result, build.const_index(self.low[i])).result
            extent = build.extent(self.x.shape[self.lead + i])
            inside = arith.AndIOp(inside, arith.CmpIOp(arith.CmpIPredicate.ult, place, extent).result).result
            position = arith.AddIOp(arith.MulIOp(position, extent).result, place).result
        return inside, arith.IndexCastOp(ir.IntegerType.get_signless(64), position).result

    def count(self, include_pad: bool) -> ir.Value:
        """Within a body over the result: how many taps of the window are counted (i64)."""
        total = self.build.const_index(1)
        for i in range(self.rank):
            total = arith.MulIOp(total, self._axis_count(i, include_pad)).result
        return arith.IndexCastOp(ir.IntegerType.get_signless(64), total).result

    def _axis_count(self, i: int, include_pad: bool) -> ir.Value:
        """Taps t in 0 .. kernel with first <= p * stride - low + t * dilation < last."""
        build, kernel = self.build, self.op.kernel_size[i]
        size = self.x.shape[self.lead + i]
        first, last = (-self.low[i], size + self.high[i]) if include_pad else (0, size)
        start = arith.SubIOp(arith.MulIOp(linalg.IndexOp(self.lead + i).result, build.const_index(self.op.stride[i])).result,
                             build.const_index(self.low[i])).result

        def taps_below(bound):
            """ceil((bound - start) / dilation), within 0 and the kernel's size."""
            distance = arith.SubIOp(build.size(bound), start).result
            taps = arith.CeilDivSIOp(distance, build.const_index(self.op.dilation[i])).result
            return arith.MinSIOp(arith.MaxSIOp(taps, build.const_index(0)).result, build.const_index(kernel)).result
        return arith.SubIOp(taps_below(last), taps_below(first)).result
