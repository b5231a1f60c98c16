"""Two-dimensional f32 convolution in the form that the kernels take over: no padded copy of the input, the filter packed.

Iteration space (n, channel out, h, w, channel in, ky, kx). The body reads x at its place in the window, zero outside of it; so the op means
what it says also where no kernel computes it.
"""
from __future__ import annotations

import os

import numpy as np
from mlir import ir
from mlir.dialects import arith

from ...dialect import dtypes
from ...dialect.shapes import TensorType
from ..kernels import conv_strategy, ConvShape, packed_filter_shape, scratch_shape
from ..kernels.conv_winograd import FILTER
from .builder import element_type, PARALLEL, REDUCTION
from .linear_algebra import pack_weight
from .registry import TensorValue
from .scalar import Scalar


def takes(op) -> bool:
    """Whether a conv op has a kernel: two spatial axes, f32, channels and filter of fixed size."""
    return len(op.stride) == 2 and op.result.dtype == dtypes.float32 and all(isinstance(s, int) and s > 0 for s in (op.x.shape[1], *op.weight.shape))


def allows_winograd() -> bool:
    """Whether Winograd's method may be used where it pays: unless the environment variable ONEMLIR_WINOGRAD is 0.

    It rounds more (7e-6 of the largest output where the plain sum has 1e-6), and an infinity makes NaN of the 4x4 outputs around it.
    """
    return os.environ.get("ONEMLIR_WINOGRAD", "1") != "0"


def conv_shape(op) -> ConvShape:
    """What the kernel is asked to compute; sizes known only at run time are None."""
    height, width = (s if isinstance(s, int) else None for s in op.x.shape[2:])
    top, left, bottom, right = op.padding
    return ConvShape(op.x.shape[1], op.weight.shape[0], height, width, tuple(op.weight.shape[2:]), tuple(op.stride), (top, left, bottom, right),
                     tuple(op.dilation), op.groups, winograd=op.weight.constant and min(op.weight.shape[:2]) >= 32 and allows_winograd())


def kernel_conv(build, op) -> ir.Value:
    """The convolution and its bias."""
    shape, scalar = conv_shape(op), Scalar(build, dtypes.float32)
    dims = [ir.AffineExpr.get_dim(i) for i in range(7)]
    inputs, maps = [op.weight.value], [ir.AffineMap.get(7, 0, [dims[1], *dims[4:]])]
    packed = pack_filter(build, op.weight, shape)
    if packed is not None:
        inputs.append(packed)
        maps.append(ir.AffineMap.get(7, 0, [ir.AffineExpr.get_constant(0)] * ir.RankedTensorType(packed.type).rank))
    kernel = {"name": "conv2d", "strides": shape.strides, "pads": shape.pads, "dilations": shape.dilations, "groups": shape.groups,
              "kernel": shape.kernel, "winograd": shape.winograd}
    scratch = scratch_shape(shape, op.x.shape[0])
    if scratch is not None:
        inputs.append(build.empty(TensorType(scratch, dtypes.float32)))
        maps.append(ir.AffineMap.get(7, 0, [ir.AffineExpr.get_constant(0)] * len(scratch)))
    y = build.generic(
        inputs, maps, op.result, lambda w, *rest: scalar.sum(rest[-1], scalar.product(w, _window_element(build, op, shape))),
        init=build.filled(op.result, scalar.const(0)), output_map=ir.AffineMap.get(7, 0, dims[:4]), iterators=[PARALLEL] * 4 + [REDUCTION] * 3, kernel=kernel)
    if op.bias is None:
        return y
    bias = op.bias.type.with_shape((1, op.weight.shape[0], 1, 1))
    bias = TensorValue(build.reshape(op.bias.value, op.bias.type, bias), bias)
    return build.elementwise([TensorValue(y, op.result), bias], op.result, scalar.add)


def _window_element(build, op, shape: ConvShape) -> ir.Value:
    """x at the current place of the window; 0 in the padding."""
    from mlir.dialects import linalg

    n, channel, row, column, inner, ky, kx = (linalg.IndexOp(i).result for i in range(7))
    inside = build.constant(1, dtypes.bool_)
    places = []
    for axis, (place, tap) in enumerate(((row, ky), (column, kx))):
        start = arith.MulIOp(place, build.const_index(shape.strides[axis])).result
        offset = arith.MulIOp(tap, build.const_index(shape.dilations[axis])).result
        at = arith.SubIOp(arith.AddIOp(start, offset).result, build.const_index(shape.pads[axis])).result
        extent = build.size(op.x.shape[2 + axis])
        below = arith.CmpIOp(arith.CmpIPredicate.ult, at, extent).result  # unsigned: negative places are above the extent
        inside = arith.AndIOp(inside, below).result
        places.append(arith.SelectOp(below, at, build.const_index(0)).result)
    if shape.groups > 1:
        per_group = shape.channels // shape.groups
        group = arith.DivUIOp(channel, build.const_index(shape.filters // shape.groups)).result
        inner = arith.AddIOp(arith.MulIOp(group, build.const_index(per_group)).result, inner).result
    return arith.SelectOp(inside, build.read(op.x, [n, inner, *places]), build.constant(0, dtypes.float32)).result


def pack_filter(build, weight: TensorValue, shape: ConvShape) -> ir.Value | None:
    """The filter as the kernel for this shape streams it; None where it is used as it is stored."""
    strategy = conv_strategy(shape)
    packed = packed_filter_shape(shape, element_type(weight.dtype))
    if packed is None:
        return None
    if strategy == "rows":
        matrix = weight.type.with_shape(weight.shape[:2])
        return pack_weight(build, TensorValue(build.reshape(weight.value, weight.type, matrix), matrix, constant=True), columns=True)
    result = TensorType(packed, weight.dtype)
    if strategy == "depthwise":
        return build.reshape(weight.value, weight.type, result)
    if strategy == "winograd":
        size = {"size": (shape.height, shape.width), "pads": shape.pads}
        return build.gather(result, lambda *at: _transformed_element(build, weight, packed, at), kernel={"name": "pack_filter", **_fields(shape), **size})
    return build.gather(result, lambda *indices: _filter_element(build, weight, shape, packed, indices), kernel={"name": "pack_filter", **_fields(shape)})


def _fields(shape: ConvShape) -> dict:
    return {"channels": shape.channels, "filters": shape.filters, "kernel": shape.kernel, "groups": shape.groups}


def _filter_element(build, weight: TensorValue, shape: ConvShape, packed, indices) -> ir.Value:
    """[group][panel][channel block][ky][kx][channel][filter], zeros after the last filter of a group."""
    group, panel, block, ky, kx, lane, column = indices
    per_group, width, inner = shape.filters // shape.groups, packed[-1], packed[-2]
    number = arith.AddIOp(arith.MulIOp(panel, build.const_index(width)).result, column).result
    inside = arith.CmpIOp(arith.CmpIPredicate.ult, number, build.const_index(per_group)).result
    number = arith.MinUIOp(number, build.const_index(per_group - 1)).result
    number = arith.AddIOp(arith.MulIOp(group, build.const_index(per_group)).result, number).result
    channel = arith.AddIOp(arith.MulIOp(block, build.const_index(inner)).result, lane).result
    return arith.SelectOp(inside, build.read(weight, [number, channel, ky, kx]), build.constant(0, weight.dtype)).result


def _transformed_element(build, weight: TensorValue, packed, indices) -> ir.Value:
    """[panel][6 * i + j][channel][filter]: element (i, j) of G g G^T, zeros after the last filter."""
    panel, point, channel, column = indices
    filters, scalar = weight.shape[0], Scalar(build, weight.dtype)
    number = arith.AddIOp(arith.MulIOp(panel, build.const_index(packed[-1])).result, column).result
    inside = arith.CmpIOp(arith.CmpIPredicate.ult, number, build.const_index(filters)).result
    number = arith.MinUIOp(number, build.const_index(filters - 1)).result
    taps = [build.read(weight, [number, channel, build.const_index(ky), build.const_index(kx)]) for ky in range(3) for kx in range(3)]
    factors = build.literal(np.kron(FILTER, FILTER).astype(weight.dtype))
    total = scalar.const(0)
    for i, tap in enumerate(taps):
        total = scalar.sum(total, scalar.product(tap, build.read(factors, [point, build.const_index(i)])))
    return arith.SelectOp(inside, total, scalar.const(0)).result
