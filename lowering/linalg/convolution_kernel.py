"""One- and two-dimensional f32 convolution in the form that the kernels take over: no padded copy of the input, the filter packed.

Iteration space (n, channel out, h, w, channel in, ky, kx). The body reads x at its place in the window, zero outside of it; so the op means
what it says also where no kernel computes it. One axis is two of which the first has size 1, and so is a column of pixels: the kernels' tiles
are pieces of rows.
"""
from __future__ import annotations

import os
from dataclasses import dataclass, replace

from mlir import ir
from mlir.dialects import arith, linalg

from ...dialect import dtypes
from ...dialect.ops.convolution import ConvTranspose
from ...dialect.shapes import TensorType
from ..kernels import conv_strategy, ConvShape, packed_filter_shape, scratch_shape, winograd_size
from ..targets import host
from .builder import element_type, PARALLEL, REDUCTION
from .layouts import channels_first, channels_last, comes_in_nhwc, goes_on_in_nhwc
from .packing import pack_filter
from .registry import TensorValue
from .scalar import Scalar


def takes(op) -> bool:
    """Whether an op has a kernel: one or two spatial axes, f32, channels and filter of fixed size."""
    fixed = all(isinstance(s, int) and s > 0 for s in (op.x.shape[1], *op.weight.shape))
    return len(op.stride) in (1, 2) and op.result.dtype == dtypes.float32 and fixed


def allows_winograd() -> bool:
    """Whether Winograd's method may be used where it pays: unless the environment variable ONEMLIR_WINOGRAD is 0.

    It rounds more (up to 1e-5 of the largest output where the plain sum has 1e-6), and an infinity makes NaN of the tile around it.
    """
    return os.environ.get("ONEMLIR_WINOGRAD", "1") != "0"


@dataclass(frozen=True)
class Problem:
    """A two-dimensional convolution: weight [f, c, h, w] (or [c, f, h, w] of a transposed one), and x and the result in the shape's layouts."""

    x: TensorValue
    weight: TensorValue
    result: TensorType
    shape: ConvShape


def kernel_conv(build, op) -> ir.Value:
    """The convolution, or its transpose, and its bias."""
    shape = conv_shape(op)
    x = channels_last(build, op.x) if shape.layout_in == "nhwc" else op.x
    column = is_column(op)
    weight = two_axes(build, op.weight, 2, column)
    result = op.result.with_shape((op.result.shape[0], *op.result.shape[2:], op.result.shape[1])) if shape.layout_out == "nhwc" else op.result
    flat = result.with_shape(_with_two_axes(result.shape, axis_of(shape.layout_out), column))
    problem = Problem(two_axes(build, x, axis_of(shape.layout_in), column), weight, flat, shape)
    y = _with_bias(build, windows(build, problem), op.bias, flat, shape)
    y = TensorValue(build.reshape(y, flat, result), result)
    return channels_first(build, y).value if shape.layout_out == "nhwc" else y.value


def axis_of(layout: str) -> int:
    """The first spatial axis."""
    return 1 if layout == "nhwc" else 2


def is_column(op) -> bool:
    """Whether the images, the windows and the result are one pixel wide."""
    if len(op.stride) != 2:
        return False
    return op.x.shape[3] == op.weight.shape[3] == op.result.shape[3] == 1 and op.padding[1] == op.padding[3] == 0 and op.x.shape[2] != 1


def two_axes(build, x: TensorValue, axis: int, column: bool) -> TensorValue:
    """x with two spatial axes, from `axis` on; those of a column are exchanged."""
    type = x.type.with_shape(_with_two_axes(x.shape, axis, column))
    return TensorValue(build.reshape(x.value, x.type, type), type, x.constant)


def _with_two_axes(shape, axis: int, column: bool) -> tuple:
    if column:
        return (*shape[:axis], shape[axis + 1], shape[axis], *shape[axis + 2:])
    return tuple(shape) if len(shape) == 4 else (*shape[:axis], 1, *shape[axis:])


def conv_shape(op) -> ConvShape:
    """What the kernel is asked to compute; sizes known only at run time are None."""
    one, column = len(op.stride) == 1, is_column(op)
    pair = lambda values, first: (first, *values) if one else tuple(values)[::-1 if column else 1]
    height, width = (s if isinstance(s, int) else None for s in pair(op.x.shape[2:], 1))
    transposed = op.declaration is ConvTranspose
    added = op.output_padding if transposed else (0,) * len(op.stride)
    low, high = pair(op.padding[:len(op.stride)], 0), pair([pad - more for pad, more in zip(op.padding[len(op.stride):], added)], 0)
    filters = op.weight.shape[1] * op.groups if transposed else op.weight.shape[0]
    shape = ConvShape(op.x.shape[1], filters, height, width, pair(op.weight.shape[2:], 1), pair(op.stride, 1), (*low, *high), pair(op.dilation, 1),
                      op.groups, transposed=transposed)
    return with_layouts(op, shape)


def with_layouts(op, shape: ConvShape) -> ConvShape:
    """The shape with the layouts of its ends, and with Winograd's method where it pays.

    A kernel that takes both layouts serves the border of a chain. Where the fast kernel takes NHWC alone, the op's ends are transposed.
    """
    last = replace(shape, layout_in="nhwc", layout_out="nhwc")
    images = op.x.shape[0] if isinstance(op.x.shape[0], int) else None
    if op.weight.constant and allows_winograd():
        last = replace(last, winograd=winograd_size(last, images))
    inside, outside = comes_in_nhwc(op.operation), goes_on_in_nhwc(op.operation)
    only_last = last.winograd or (conv_strategy(last, host()) == "grouped" and (inside or outside or not shape.depthwise))
    if only_last or (inside and outside) or (shape.pointwise and (shape.height, shape.width) == (1, 1)):
        return last
    return replace(shape, layout_in="nhwc" if inside else "nchw", layout_out="nhwc" if outside or shape.transposed else "nchw")


def windows(build, problem: Problem) -> ir.Value:
    """The sums over windows, without a bias."""
    shape, scalar = problem.shape, Scalar(build, dtypes.float32)
    dims = [ir.AffineExpr.get_dim(i) for i in range(7)]
    nowhere = lambda value: ir.AffineMap.get(7, 0, [ir.AffineExpr.get_constant(0)] * ir.RankedTensorType(value.type).rank)
    extents = build.empty(TensorType((shape.channels // shape.groups, *shape.kernel), dtypes.float32))
    inputs, maps = [extents], [ir.AffineMap.get(7, 0, dims[4:])]
    axis = axis_of(shape.layout_out)
    packed, scratch = pack_filter(build, problem.weight, shape), scratch_shape(shape, problem.x.shape[0], problem.result.shape[axis:axis + 2])
    others = [packed] + ([build.empty(TensorType(scratch, dtypes.float32))] if scratch else [])
    kernel = {"name": "conv2d", "strides": shape.strides, "pads": shape.pads, "dilations": shape.dilations, "groups": shape.groups,
              "kernel": shape.kernel, "layout_in": shape.layout_in, "layout_out": shape.layout_out, "winograd": shape.winograd,
              "transposed": shape.transposed}
    element = lambda *scalars: scalar.sum(scalars[-1], _product(build, problem, scalar))
    order = [0, 2, 3, 1] if shape.layout_out == "nhwc" else [0, 1, 2, 3]
    return build.generic(inputs + others, maps + [nowhere(v) for v in others], problem.result, element,
                         init=build.filled(problem.result, scalar.const(0)), output_map=ir.AffineMap.get(7, 0, [dims[i] for i in order]),
                         iterators=[PARALLEL] * 4 + [REDUCTION] * 3, kernel=kernel)


def _product(build, problem: Problem, scalar: Scalar) -> ir.Value:
    """x at the current place of the window, 0 in the padding, times the weight."""
    shape = problem.shape
    n, channel, row, column, inner, ky, kx = (linalg.IndexOp(i).result for i in range(7))
    inside, places = build.constant(1, dtypes.bool_), []
    for axis, (place, tap) in enumerate(((row, ky), (column, kx))):
        extent = build.size(problem.x.shape[axis_of(shape.layout_in) + axis])
        there, at = _source(build, shape, axis, place, tap, extent)
        inside = arith.AndIOp(inside, there).result
        places.append(at)
    group = arith.DivUIOp(channel, build.const_index(shape.per_group)).result
    source = arith.AddIOp(arith.MulIOp(group, build.const_index(shape.channels // shape.groups)).result, inner).result
    at = [n, *places, source] if shape.layout_in == "nhwc" else [n, source, *places]
    x = arith.SelectOp(inside, build.read(problem.x, at), build.constant(0, dtypes.float32)).result
    filter = [source, arith.RemUIOp(channel, build.const_index(shape.per_group)).result] if shape.transposed else [channel, inner]
    return scalar.product(build.read(problem.weight, [*filter, ky, kx]), x)


def _source(build, shape: ConvShape, axis: int, place: ir.Value, tap: ir.Value, extent: ir.Value) -> tuple[ir.Value, ir.Value]:
    """Whether a tap lies inside along one axis, and where."""
    offset = arith.MulIOp(tap, build.const_index(shape.dilations[axis])).result
    pad, step = build.const_index(shape.pads[axis]), build.const_index(shape.strides[axis])
    zero = build.const_index(0)
    if shape.transposed:
        spread = arith.SubIOp(arith.AddIOp(place, pad).result, offset).result
        at = arith.FloorDivSIOp(spread, step).result
        exact = arith.CmpIOp(arith.CmpIPredicate.eq, arith.MulIOp(at, step).result, spread).result
    else:
        at = arith.SubIOp(arith.AddIOp(arith.MulIOp(place, step).result, offset).result, pad).result
        exact = build.constant(1, dtypes.bool_)
    below = arith.CmpIOp(arith.CmpIPredicate.ult, at, extent).result  # unsigned: negative places are above the extent
    there = arith.AndIOp(below, exact).result
    return there, arith.SelectOp(there, at, zero).result


def _with_bias(build, y: ir.Value, bias: TensorValue | None, result: TensorType, shape: ConvShape) -> ir.Value:
    if bias is None:
        return y
    channel = ir.AffineMap.get(4, 0, [ir.AffineExpr.get_dim(3 if shape.layout_out == "nhwc" else 1)])
    scalar = Scalar(build, dtypes.float32)
    return build.generic([y, bias.value], [ir.AffineMap.get_identity(4), channel], result, lambda a, b, _: scalar.add(a, b))
