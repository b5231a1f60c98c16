"""Convolutions of 8-bit integers, summed in 32 bits: by bytes where the processor has that and the filter is a weight, else by f32.

By bytes they are NHWC throughout, four channels a step, as `integer_products` says for products: unsigned bytes times signed ones; two channels,
where bytes are multiplied as numbers of 16 bits. A tap beyond the image adds nothing where the moved zero point is 0; else the image gets a
border of zero points, so that all taps lie inside.
f32 is exact: a sum of products of numbers up to 255 has 24 bits while it has 256 terms, so the channels are cut into parts.
"""
from __future__ import annotations

import math
from dataclasses import replace

from mlir import ir
from mlir.dialects import arith, linalg

from ...dialect import dtypes
from ...dialect.ops.convolution import Conv, ConvInteger
from ...dialect.shapes import TensorType
from ..kernels import ConvShape
from ..kernels.byte_conv import byte_filter_shape, byte_strategy
from ..targets import host
from .builder import PARALLEL, REDUCTION
from .convolution import conv
from .integer_products import (centered, corrected, Corrections, moved, moved_points, PARTS, Point, product_bits, steps_of, sums_along, term,
                               TERMS, whole_numbers, widened, word, words_of_matrix)
from .layouts import channels_first, channels_last
from .registry import LoweredOp, lowers, TensorValue
from .scalar import Scalar


@lowers(ConvInteger)
def conv_integer(build, op):
    if host().integers and op.weight.constant and _is_fixed(op) and len(op.stride) < 3:
        shape = _shape_of(op)
        if byte_strategy(shape) is not None and (op.groups == 1 or moved_points(build, *_with_points(op))[1].number == 0):
            return _by_bytes(build, op, shape)
    return _by_f32(build, op)


def _with_points(op) -> tuple:
    return op.x, op.x_zero_point, op.weight, op.weight_zero_point


def _shape_of(op) -> ConvShape:
    """What the kernel is asked to compute: two axes, of which the first has size 1 where the op has one."""
    one = (1,) * (2 - len(op.stride))
    height, width = (s if isinstance(s, int) else None for s in (*one, *op.x.shape[2:]))
    zero, rank = (0,) * len(one), len(op.stride)
    return ConvShape(op.x.shape[1], op.weight.shape[0], height, width, (*one, *op.weight.shape[2:]), (*one, *op.stride),
                     (*zero, *op.padding[:rank], *zero, *op.padding[rank:]), (*one, *op.dilation), op.groups, "nhwc", "nhwc")


def _is_fixed(op) -> bool:
    return all(isinstance(s, int) and s > 0 for s in (op.x.shape[1], *op.weight.shape))


# By f32.
def _by_f32(build, op) -> ir.Value:
    """The convolution of the numbers less their zero points, in as many parts of the channels as keep its sums exact."""
    channels, taps = op.weight.shape[1], math.prod(op.weight.shape[2:])
    part = TERMS // taps
    exact = isinstance(channels, int) and 0 < channels <= (part if op.groups > 1 else part * PARTS)
    dtype, length = (dtypes.float32, part) if exact else (dtypes.int32, channels)
    x, weight = centered(build, op.x, op.x_zero_point, dtype), centered(build, op.weight, _of_filters(build, op), dtype)
    total, scalar = None, Scalar(build, dtypes.int32)
    for first in range(0, channels if exact else 1, length):
        count = min(length, channels - first) if exact else channels
        pair = (x, weight) if count == channels else tuple(steps_of(build, v, 1, first, count) for v in (x, weight))
        sums = _as_integers(build, op, pair, dtype)
        total = sums if total is None else TensorValue(build.elementwise([total, sums], sums.type, scalar.add), sums.type)
    return total.value


def _of_filters(build, op) -> TensorValue | None:
    """The filters' zero point as what broadcasts to the filters."""
    point = op.weight_zero_point
    if point is None or not point.rank:
        return point
    type = point.type.with_shape((*point.shape, *[1] * (op.weight.rank - 1)))
    return TensorValue(build.reshape(point.value, point.type, type), type, point.constant)


def _as_integers(build, op, pair, dtype) -> TensorValue:
    """The sums of an x and a filter; the filter is no weight to the lowering, which keeps Winograd's method away: it is not exact."""
    x, weight = pair
    result = op.result.with_dtype(dtype)
    attributes = {name: getattr(op, name) for name in ("stride", "padding", "dilation", "groups")}
    sums = conv(build, LoweredOp(Conv, {"x": x, "weight": replace(weight, constant=False), "bias": None}, attributes, (result,), op.operation))
    return whole_numbers(build, TensorValue(sums, result))


# By bytes.
def _by_bytes(build, op, shape: ConvShape) -> ir.Value:
    x_point, y_point = moved_points(build, *_with_points(op))
    x = moved(build, _two_axes(build, channels_last(build, op.x), 1), dtypes.uint8)
    weight = moved(build, _two_axes(build, op.weight, 2), dtypes.int8)
    x, shape = _bordered(build, x, x_point, shape)
    x = widened(build, x)
    result = op.result.with_shape((op.result.shape[0], *op.result.shape[2:], op.result.shape[1]))
    flat = TensorType(_with_two_axes(result.shape, 1), dtypes.float32)
    columns = None if x_point.number == 0 else sums_along(build, weight, (1, 2, 3))
    rows = None if y_point.number == 0 else _sums_of_windows(build, x, weight.shape[1], shape, flat)
    bits = _bits(build, x, weight, shape, flat)
    y = corrected(build, bits, Corrections(x_point, y_point, columns, rows, math.prod(weight.shape[1:])))
    y = TensorValue(build.reshape(y.value, y.type, result), result)
    return channels_first(build, y).value


def _two_axes(build, x: TensorValue, axis: int) -> TensorValue:
    """x with two spatial axes, from `axis` on."""
    type = x.type.with_shape(_with_two_axes(x.shape, axis))
    return TensorValue(build.reshape(x.value, x.type, type), type, x.constant)


def _with_two_axes(shape: tuple, axis: int) -> tuple:
    return shape if len(shape) == 4 else (*shape[:axis], 1, *shape[axis:])


def _bordered(build, x: TensorValue, point: Point, shape: ConvShape) -> tuple[TensorValue, ConvShape]:
    """x with whole words of channels, and a border of its zero point instead of the padding where that is not 0 or the kernel needs it."""
    unknown = byte_strategy(shape) == "depthwise" and None in (shape.height, shape.width)
    border = point.number != 0 or unknown
    top, left, bottom, right = shape.pads if border else (0, 0, 0, 0)
    word = host().integers
    channels = -(-shape.channels // word) * word
    n, height, width, old = x.shape
    type = x.type.with_shape((n, height + top + bottom, width + left + right, channels))
    if type.shape == x.shape:
        return x, shape
    value = build.pad(x, (0, top, left, 0), type, point.byte())
    known = [s if isinstance(s, int) else None for s in type.shape]
    pads = (0, 0, 0, 0) if border else shape.pads
    return TensorValue(value, type), replace(shape, height=known[1], width=known[2], channels=channels, pads=pads)


def _sums_of_windows(build, x: TensorValue, channels: int, shape: ConvShape, flat: TensorType) -> TensorValue:
    """The sum of what each place of the window sees in the first `channels`: the convolution by a filter of ones."""
    ones = TensorType((1, channels, *shape.kernel), dtypes.int8)
    weight = TensorValue(build.filled(ones, build.constant(1, dtypes.int8)), ones, constant=True)
    bits = _bits(build, x, weight, replace(shape, filters=1), flat.with_shape((*flat.shape[:-1], 1)))
    zero = Point(build, None, 0)
    return corrected(build, bits, Corrections(zero, zero, None, None, 0))


def _bits(build, x: TensorValue, weight: TensorValue, shape: ConvShape, type: TensorType) -> TensorValue:
    """Bits of the i32 sums of u8 x (n, h, w, c) and i8 filters (f, c / groups, kh, kw), of which the last channels may be missing."""
    if byte_strategy(shape) == "rows":
        matrix = weight.type.with_shape((shape.filters, shape.channels))
        columns = TensorValue(build.reshape(weight.value, weight.type, weight.type.with_shape(weight.shape[:2])), matrix, True)
        if weight.shape[1] != shape.channels:
            columns = TensorValue(build.pad(replace(columns, type=weight.type.with_shape(weight.shape[:2])), (0, 0), matrix,
                                            build.constant(0, dtypes.int8)), matrix, True)
        words = words_of_matrix(build, matrix.shape[::-1], lambda step, column: build.read(columns, [column, step]))
        return product_bits(build, x, columns, words, type, columns_first=True)
    return _windows(build, x, weight, shape, type)


def _windows(build, x: TensorValue, weight: TensorValue, shape: ConvShape, type: TensorType) -> TensorValue:
    """The same by windows: loops (n, filter, h, w, channel, ky, kx), of which the body reads x where the window lies."""
    dims = [ir.AffineExpr.get_dim(i) for i in range(7)]
    extents = build.empty(TensorType((shape.channels // shape.groups, *shape.kernel), dtypes.uint8))
    words = _words(build, weight, shape)
    maps = [dims[4:], [ir.AffineExpr.get_constant(0)] * len(byte_filter_shape(shape)), [dims[i] for i in (0, 2, 3, 1)]]
    *inputs, output = (ir.AffineMap.get(7, 0, m) for m in maps)
    kernel = {"name": "byte_conv2d", "strides": shape.strides, "pads": shape.pads, "dilations": shape.dilations, "groups": shape.groups,
              "kernel": shape.kernel}
    value = build.generic([extents, words], inputs, type, lambda *scalars: term(*_seen(build, x, weight, shape), scalars[-1]),
                          init=build.filled(type, build.constant(0, dtypes.float32)), output_map=output,
                          iterators=[PARALLEL] * 4 + [REDUCTION] * 3, kernel=kernel)
    return TensorValue(value, type)


def _seen(build, x: TensorValue, weight: TensorValue, shape: ConvShape) -> tuple[ir.Value, ir.Value]:
    """In a body: x at the current place of the window, 0 beyond the image, and the filter there."""
    n, filter, row, column, channel, ky, kx = (linalg.IndexOp(i).result for i in range(7))
    index = build.const_index
    inside, places = build.constant(1, dtypes.bool_), []
    for axis, (place, tap) in enumerate(((row, ky), (column, kx))):
        start = arith.SubIOp(arith.MulIOp(place, index(shape.strides[axis])).result, index(shape.pads[axis])).result
        at = arith.AddIOp(start, arith.MulIOp(tap, index(shape.dilations[axis])).result).result
        there = arith.CmpIOp(arith.CmpIPredicate.ult, at, build.size(x.shape[1 + axis])).result  # unsigned: negative places are above
        inside = arith.AndIOp(inside, there).result
        places.append(arith.SelectOp(there, at, index(0)).result)
    group = arith.DivUIOp(filter, index(shape.per_group)).result
    source = arith.AddIOp(arith.MulIOp(group, index(shape.channels // shape.groups)).result, channel).result
    zero = build.constant(0, x.dtype)
    return arith.SelectOp(inside, build.read(x, [n, *places, source]), zero).result, _filter_byte(build, weight, filter, channel, ky, kx)


def _filter_byte(build, weight: TensorValue, filter, channel, ky, kx) -> ir.Value:
    """A byte of a filter, 0 for a channel that it does not have."""
    last = build.const_index(weight.shape[1] - 1)
    there = arith.CmpIOp(arith.CmpIPredicate.ule, channel, last).result
    byte = build.read(weight, [filter, arith.MinUIOp(channel, last).result, ky, kx])
    return arith.SelectOp(there, byte, build.constant(0, dtypes.int8)).result


def _words(build, weight: TensorValue, shape: ConvShape) -> ir.Value:
    """The filters in words, zeros beyond the last filter of a group."""
    sizes = byte_filter_shape(shape)
    if byte_strategy(shape) == "depthwise":
        return build.gather(TensorType(sizes, dtypes.float32), lambda *place: _rows_of_taps(build, weight, *place))

    def element(group, panel, _, ky, kx, step, lane):
        number = arith.AddIOp(arith.MulIOp(panel, build.const_index(sizes[-1])).result, lane).result
        inside = arith.CmpIOp(arith.CmpIPredicate.ult, number, build.const_index(shape.per_group)).result
        number = arith.MinUIOp(number, build.const_index(shape.per_group - 1)).result
        filter = arith.AddIOp(arith.MulIOp(group, build.const_index(shape.per_group)).result, number).result
        bits = word(build, step, lambda channel: _filter_byte(build, weight, filter, channel, ky, kx))
        return arith.BitcastOp(ir.F32Type.get(), arith.SelectOp(inside, bits, build.constant(0, dtypes.int32)).result).result

    return build.gather(TensorType(sizes, dtypes.float32), element)


def _rows_of_taps(build, weight: TensorValue, group, kx, channel) -> ir.Value:
    """A word of one column of a channel's taps, zeros beyond the last row and the last channel."""
    filters, _, rows, _ = weight.shape
    index, zero = build.const_index, build.constant(0, dtypes.int8)
    inside = arith.CmpIOp(arith.CmpIPredicate.ult, channel, index(filters)).result
    channel = arith.MinUIOp(channel, index(filters - 1)).result

    def byte(ky):
        there = arith.CmpIOp(arith.CmpIPredicate.ult, ky, index(rows)).result
        there = arith.AndIOp(inside, there).result
        ky = arith.MinUIOp(ky, index(rows - 1)).result
        return arith.SelectOp(there, build.read(weight, [channel, index(0), ky, kx]), zero).result

    return arith.BitcastOp(ir.F32Type.get(), word(build, group, byte)).result
