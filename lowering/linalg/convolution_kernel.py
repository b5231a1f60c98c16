"""Convolution in the form that the kernels take over: no padded copy of the input, the filter packed.

Iteration space (n, channel out, *out, channel in, *taps). The body reads x at its place in the window, zero outside of it; so the op means
what it says also where no kernel computes it. Sums are in f32, or f64; the filter keeps its dtype. Kernels have two or three spatial axes:
`Arrangement` says which of the op's they are.
"""
from __future__ import annotations

import os
from dataclasses import dataclass, replace

from mlir import ir
from mlir.dialects import arith, linalg

from ...dialect import dtypes
from ...dialect.ops.convolution import ConvTranspose
from ...dialect.shapes import TensorType
from ...dialect.symbolic import product
from ..kernels import conv_strategy, ConvShape, scratch_shape, winograd_size
from ..kernels.pair_matmul import PAIR
from ..targets import host
from .builder import compute_dtype, PARALLEL, REDUCTION
from .layouts import channels_first, channels_last, comes_in_nhwc, goes_on_in_nhwc
from .packing import pack_filter
from .reduction import converted
from .registry import TensorValue
from .scalar import Scalar


LONG_ROW = 400
"""Taps along a row, and channels, from which the input of a lone convolution is transposed: its inner loops are then over channels."""


MANY_CHANNELS = 16
"""Channels from which the input of a lone convolution is transposed to be taken in pairs."""


def takes(op) -> bool:
    """Whether an op has a kernel: floats, channels and filter of fixed size."""
    fixed = all(isinstance(s, int) and s > 0 for s in (op.x.shape[1], *op.weight.shape))
    return dtypes.is_floating(op.result.dtype) and fixed


def allows_winograd() -> bool:
    """Whether Winograd's method may be used where it pays: unless the environment variable ONEMLIR_WINOGRAD is 0.

    It rounds more (up to 1e-5 of the largest output where the plain sum has 1e-6), and an infinity makes NaN of the tile around it.
    """
    return os.environ.get("ONEMLIR_WINOGRAD", "1") != "0"


@dataclass(frozen=True)
class Arrangement:
    """The op's spatial axes as those of a kernel: `axes[i]` are the op's that the kernel's axis i walks, one after the other, perhaps none.

    One axis is two of which the first has size 1. Of images, windows and results that are one pixel wide, the height is the width: the
    kernels' tiles are pieces of rows. Of three axes, neighbours along which each output has one tap, its own place, are one axis; or the
    first, where it is such an axis alone, counts `images`.
    """

    axes: tuple[tuple[int, ...], ...]
    images: bool = False

    def of_axes(self, values, default) -> tuple:
        """One entry for each of the kernel's axes."""
        return tuple(values[axes[0]] if axes else default for axes in self.axes)

    def of_sizes(self, sizes) -> tuple:
        return tuple(product(sizes[axis] for axis in axes) for axes in self.axes)

    def of_shape(self, shape, layout: str) -> tuple:
        """The kernel's shape of a tensor with the op's axes in this layout."""
        first, last = (1, -1) if layout == "nhwc" else (2, len(shape))
        images = shape[0] * shape[first] if self.images else shape[0]
        return (images, *shape[1:first], *self.of_sizes(shape[first:last]), *shape[last:])


def arrangement(op) -> Arrangement:
    """How a kernel takes the op's axes."""
    rank = len(op.stride)
    if rank == 1:
        return Arrangement(((), (0,)))
    if rank == 2:
        return Arrangement(((1,), (0,)) if is_column(op) else ((0,), (1,)))
    depth, height, width = (_has_one_tap(op, axis) for axis in range(3))
    known = [isinstance(size, int) for size in (op.x.shape[0], *op.x.shape[2:])]
    one_axis = lambda first: known[first] or known[first + 1]  # a size of which one factor is known is split again
    if depth and height and one_axis(1):
        return Arrangement(((0, 1), (2,)))
    if height and width and one_axis(2):
        return Arrangement(((0,), (1, 2)))
    if depth and one_axis(0):
        return Arrangement(((1,), (2,)), images=True)
    return Arrangement(((0,), (1,), (2,)))


def is_column(op) -> bool:
    """Whether images, windows and results of two axes are one pixel wide."""
    return op.x.shape[3] == op.weight.shape[3] == op.result.shape[3] == 1 and op.padding[1] == op.padding[3] == 0 and op.x.shape[2] != 1


def _has_one_tap(op, axis: int) -> bool:
    """Whether along an axis each output reads the input at its own place alone."""
    return op.weight.shape[2 + axis] == op.stride[axis] == 1 and op.x.shape[2 + axis] == op.result.shape[2 + axis] and not op.padding[axis]


@dataclass(frozen=True)
class Problem:
    """A convolution as the kernel sees it: weight [f, c, *taps] (or [c, f, *taps] of a transposed one), x and the result in the shape's
    layouts, the result with the dtype of the sums, and so x unless it is taken in pairs."""

    x: TensorValue
    weight: TensorValue
    result: TensorType
    shape: ConvShape

    @property
    def rank(self) -> int:
        """Spatial axes."""
        return len(self.shape.window)


def kernel_conv(build, op) -> ir.Value:
    """The convolution, or its transpose, and its bias."""
    arranged = arrangement(op)
    shape, wide = conv_shape(op, arranged), compute_dtype(op.result.dtype)
    x = op.x if shape.pairs else converted(build, op.x, wide)
    x = channels_last(build, x) if shape.layout_in == "nhwc" else x
    result = op.result.with_dtype(wide)
    if shape.layout_out == "nhwc":
        result = result.with_shape((result.shape[0], *result.shape[2:], result.shape[1]))
    flat = result.with_shape(arranged.of_shape(result.shape, shape.layout_out))
    weight = _reshaped(build, op.weight, (*op.weight.shape[:2], *shape.window))
    problem = Problem(_reshaped(build, x, arranged.of_shape(x.shape, shape.layout_in)), weight, flat, shape)
    bias = op.bias and converted(build, op.bias, wide)
    y = _with_bias(build, windows(build, problem), bias, flat, shape)
    y = TensorValue(build.reshape(y, flat, result), result)
    y = channels_first(build, y) if shape.layout_out == "nhwc" else y
    return converted(build, y, op.result.dtype).value


def _reshaped(build, x: TensorValue, shape) -> TensorValue:
    type = x.type.with_shape(shape)
    return TensorValue(build.reshape(x.value, x.type, type), type, x.constant)


def axis_of(layout: str) -> int:
    """The first spatial axis."""
    return 1 if layout == "nhwc" else 2


def may_take_pairs(op) -> bool:
    """Whether the processor sums products of two channels: of bf16 by a weight."""
    return host().pair_products and op.x.dtype == dtypes.bfloat16 and op.weight.constant and op.x.shape[1] // op.groups % PAIR == 0


def conv_shape(op, arranged: Arrangement) -> ConvShape:
    """What the kernel is asked to compute; sizes known only at run time are None."""
    rank = len(op.stride)
    size = (s if isinstance(s, int) else None for s in arranged.of_sizes(op.x.shape[2:]))
    transposed = op.declaration is ConvTranspose
    high = [pad - added for pad, added in zip(op.padding[rank:], op.output_padding)] if transposed else op.padding[rank:]
    pads = [*arranged.of_axes(op.padding[:rank], 0), *arranged.of_axes(high, 0)]
    kernel, strides, dilations = (arranged.of_axes(values, 1) for values in (op.weight.shape[2:], op.stride, op.dilation))
    filters = op.weight.shape[1] * op.groups if transposed else op.weight.shape[0]
    bits = 8 * compute_dtype(op.result.dtype).itemsize
    shape = ConvShape.of(op.x.shape[1], filters, tuple(size), kernel, strides, tuple(pads), dilations, groups=op.groups,
                         transposed=transposed, bits=bits)
    shape = with_layouts(op, shape, arranged)
    words = may_take_pairs(op) and shape.layout_in == "nhwc" and conv_strategy(shape, host()) in ("rows", "pixels")
    return replace(shape, pairs=words)


def with_layouts(op, shape: ConvShape, arranged: Arrangement) -> ConvShape:
    """The shape with the layouts of its ends, and with Winograd's method where it pays.

    A kernel that takes both layouts serves the border of a chain. Where the fast kernel takes NHWC alone, the op's ends are transposed.
    """
    last = replace(shape, layout_in="nhwc", layout_out="nhwc")
    images = op.x.shape[0] * (op.x.shape[2] if arranged.images else 1)
    if op.weight.constant and allows_winograd():
        size = winograd_size(last, images if isinstance(images, int) else None)
        last = replace(last, winograd=0 if size == 2 and may_take_pairs(op) else size)
    inside, outside = comes_in_nhwc(op.operation), goes_on_in_nhwc(op.operation)
    only_last = last.winograd or arranged.images or (
        conv_strategy(last, host()) == "grouped" and (inside or outside or shape.depth or not shape.depthwise))
    if only_last or (inside and outside) or (shape.pointwise and (shape.height, shape.width) == (1, 1)):
        return last
    channels = shape.channels // shape.groups
    reads_last = inside or shape.kernel[1] >= LONG_ROW and channels >= LONG_ROW or may_take_pairs(op) and channels >= MANY_CHANNELS
    writes_last = outside or shape.transposed or shape.depth is not None
    return replace(shape, layout_in="nhwc" if reads_last else "nchw", layout_out="nhwc" if writes_last else "nchw")


def windows(build, problem: Problem) -> ir.Value:
    """The sums over windows, without a bias."""
    shape, rank, scalar = problem.shape, problem.rank, Scalar(build, problem.result.dtype)
    loops = 3 + 2 * rank
    dims = [ir.AffineExpr.get_dim(i) for i in range(loops)]
    nowhere = lambda value: ir.AffineMap.get(loops, 0, [ir.AffineExpr.get_constant(0)] * ir.RankedTensorType(value.type).rank)
    extents = build.empty(TensorType((shape.channels // shape.groups, *shape.window), problem.result.dtype))
    inputs, maps = [extents], [ir.AffineMap.get(loops, 0, dims[2 + rank:])]
    axis = axis_of(shape.layout_out)
    packed, scratch = pack_filter(build, problem.weight, shape), scratch_shape(shape, problem.x.shape[0], problem.result.shape[axis:axis + 2])
    others = [packed] + ([build.empty(TensorType(scratch, dtypes.float32))] if scratch else [])
    element = lambda *scalars: scalar.sum(scalars[-1], _product(build, problem, scalar))
    order = [0, *range(2, 2 + rank), 1] if shape.layout_out == "nhwc" else range(2 + rank)
    return build.generic(inputs + others, maps + [nowhere(v) for v in others], problem.result, element,
                         init=build.filled(problem.result, scalar.const(0)),
                         output_map=ir.AffineMap.get(loops, 0, [dims[i] for i in order]),
                         iterators=[PARALLEL] * (2 + rank) + [REDUCTION] * (1 + rank), kernel=_kernel(shape))


def _kernel(shape: ConvShape) -> dict:
    """`om.kernel`: what `ConvShape.of` takes, of each axis, and the rest of the shape that the buffers do not tell."""
    depth = shape.depth
    first = lambda name: () if depth is None else (getattr(depth, name),)
    low, high = ((), ()) if depth is None else (depth.pads[:1], depth.pads[1:])
    return {"name": "conv", "kernel": shape.window, "strides": (*first("stride"), *shape.strides),
            "pads": (*low, *shape.pads[:2], *high, *shape.pads[2:]), "dilations": (*first("dilation"), *shape.dilations),
            "groups": shape.groups, "layout_in": shape.layout_in, "layout_out": shape.layout_out, "winograd": shape.winograd,
            "transposed": shape.transposed}


def _product(build, problem: Problem, scalar: Scalar) -> ir.Value:
    """x at the current place of the window, 0 in the padding, times the weight."""
    shape, rank = problem.shape, problem.rank
    n, channel, *others = (linalg.IndexOp(i).result for i in range(3 + 2 * rank))
    outputs, inner, taps = others[:rank], others[rank], others[rank + 1:]
    inside, places = build.constant(1, dtypes.bool_), []
    for axis, (place, tap) in enumerate(zip(outputs, taps)):
        extent = build.size(problem.x.shape[axis_of(shape.layout_in) + axis])
        there, at = _source(build, shape, axis, place, tap, extent)
        inside = arith.AndIOp(inside, there).result
        places.append(at)
    group = arith.DivUIOp(channel, build.const_index(shape.per_group)).result
    source = arith.AddIOp(arith.MulIOp(group, build.const_index(shape.channels // shape.groups)).result, inner).result
    at = [n, *places, source] if shape.layout_in == "nhwc" else [n, source, *places]
    x = arith.SelectOp(inside, build.widen(build.read(problem.x, at), problem.x.dtype), scalar.const(0)).result
    filter = [source, arith.RemUIOp(channel, build.const_index(shape.per_group)).result] if shape.transposed else [channel, inner]
    return scalar.product(build.widen(build.read(problem.weight, [*filter, *taps]), problem.weight.dtype), x)


def _source(build, shape: ConvShape, axis: int, place: ir.Value, tap: ir.Value, extent: ir.Value) -> tuple[ir.Value, ir.Value]:
    """Whether a tap lies inside along one axis, and where."""
    along = _kernel(shape)
    offset = arith.MulIOp(tap, build.const_index(along["dilations"][axis])).result
    pad, step = build.const_index(along["pads"][axis]), build.const_index(along["strides"][axis])
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
    identity = ir.AffineMap.get_identity(result.rank)
    channel = ir.AffineMap.get(result.rank, 0, [identity.results[result.rank - 1 if shape.layout_out == "nhwc" else 1]])
    scalar = Scalar(build, result.dtype)
    return build.generic([y, bias.value], [identity, channel], result, lambda a, b, _: scalar.add(a, b))
