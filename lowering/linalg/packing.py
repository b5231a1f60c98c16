"""Filters of convolutions as the kernels stream them. For weights this moves to @prepare.

Each is a gather from the filter, so it means what it says where no kernel packs it.
"""
from __future__ import annotations

import numpy as np
from mlir import ir
from mlir.dialects import arith

from ...dialect import dtypes
from ...dialect.shapes import TensorType
from ..kernels import conv_strategy, ConvShape, packed_filter_shape
from ..kernels.pair_matmul import PAIR
from ..kernels.winograd_transforms import FILTER
from .builder import compute_dtype, element_type
from .linear_algebra import pack_pairs, pack_weight, word_of
from .reduction import converted
from .registry import TensorValue
from .scalar import Scalar


def pack_filter(build, weight: TensorValue, shape: ConvShape) -> ir.Value:
    """The filter for the kernel of this shape: packed, or as it is stored where the kernel takes it so."""
    strategy, packed = conv_strategy(shape), packed_filter_shape(shape, element_type(weight.dtype))
    if strategy in ("planes", "winograd"):
        weight = converted(build, weight, compute_dtype(weight.dtype))
    if packed is None:
        return weight.value
    if strategy == "rows":
        matrix = weight.type.with_shape(weight.shape[:2])
        pack = pack_pairs if shape.pairs else pack_weight
        return pack(build, TensorValue(build.reshape(weight.value, weight.type, matrix), matrix, constant=True), columns=True)
    result = TensorType(packed, weight.dtype)
    if strategy == "depthwise":
        return build.reshape(weight.value, weight.type, result)
    element = {"winograd": _transformed_element, "grouped": _grouped_element, "pixels": _filter_element}[strategy]
    if shape.pairs:
        return build.gather(TensorType(packed, dtypes.int32), lambda *indices: _filter_pair(build, weight, shape, packed, indices))
    kernel = {"name": "pack_filter", "strategy": strategy, "transposed": shape.transposed}
    return build.gather(result, lambda *indices: element(build, weight, shape, packed, indices), kernel=kernel)


def _existing(build, number: ir.Value, count: int) -> tuple[ir.Value, ir.Value]:
    """Whether filter `number` is one of `count`, and it or the last one."""
    inside = arith.CmpIOp(arith.CmpIPredicate.ult, number, build.const_index(count)).result
    return inside, arith.MinUIOp(number, build.const_index(count - 1)).result


def _sum(build, a: ir.Value, factor: int, b: ir.Value) -> ir.Value:
    """a * factor + b."""
    return arith.AddIOp(arith.MulIOp(a, build.const_index(factor)).result, b).result


def _filter_element(build, weight: TensorValue, shape: ConvShape, packed, indices) -> ir.Value:
    """[group][panel][channel block][...taps][channel][filter], zeros after the last filter of a group."""
    group, panel, block, *taps, lane, column = indices
    inside, number = _existing(build, _sum(build, panel, packed[-1], column), shape.per_group)
    channel = _sum(build, block, packed[-2], lane)
    at = [_sum(build, group, shape.per_group, number), channel]
    if shape.transposed:
        at = [_sum(build, group, shape.channels // shape.groups, channel), number]
    return arith.SelectOp(inside, build.read(weight, [*at, *taps]), build.constant(0, weight.dtype)).result


def _filter_pair(build, weight: TensorValue, shape: ConvShape, packed, indices) -> ir.Value:
    """[group][panel][0][...taps][channel / 2][filter]: words of two channels, the first lower."""
    *lead, lane, column = indices
    sizes = (*packed[:-2], packed[-2] * PAIR, packed[-1])
    channel = lambda half: _sum(build, lane, PAIR, build.const_index(half))
    return word_of(build, *(_filter_element(build, weight, shape, sizes, (*lead, channel(half), column)) for half in range(PAIR)))


def _grouped_element(build, weight: TensorValue, shape: ConvShape, packed, indices) -> ir.Value:
    """[...taps][channel][filter], zeros after the last filter."""
    *taps, channel, filter = indices
    inside, number = _existing(build, filter, shape.filters)
    return arith.SelectOp(inside, build.read(weight, [number, channel, *taps]), build.constant(0, weight.dtype)).result


def _transformed_element(build, weight: TensorValue, shape: ConvShape, packed, indices) -> ir.Value:
    """[panel][side * i + j][channel][filter]: element (i, j) of G g G^T, zeros after the last filter."""
    panel, point, channel, column = indices
    scalar, transform = Scalar(build, weight.dtype), FILTER[shape.winograd]
    inside, number = _existing(build, _sum(build, panel, packed[-1], column), shape.filters)
    taps = [build.read(weight, [number, channel, build.const_index(ky), build.const_index(kx)]) for ky in range(3) for kx in range(3)]
    factors = build.literal(np.kron(transform, transform).astype(weight.dtype))
    total = scalar.const(0)
    for i, tap in enumerate(taps):
        total = scalar.sum(total, scalar.product(tap, build.read(factors, [point, build.const_index(i)])))
    return arith.SelectOp(inside, total, scalar.const(0)).result
