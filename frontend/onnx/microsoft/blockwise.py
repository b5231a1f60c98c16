"""Weights of a few bits, quantized in blocks: unpacked once, before the model runs."""
from __future__ import annotations

import numpy as np

from ....dialect import dtypes
from ...ops.declared import declared as om
from ...ops.shape import slice_along
from ...tensor import Tensor
from ..narrow import aligned, NARROW, widened
from ..shape import sizes_of
from ..values import Value
from .domain import microsoft

BYTES = 4  # the accuracy_level of MatMulNBits that allows 8 bits for the numbers of A


def unpacked(x: Tensor, bits: int, count: int) -> Tensor:
    """The numbers of `bits` bits in the bytes along the last axis, the lowest bits first: (..., bytes) as (..., count) of u8."""
    x = x.astype(dtypes.uint8)
    if bits == 8:
        return slice_along(x, x.ndim - 1, 0, count)
    shifts = Tensor._wrap(np.arange(0, 8, bits).astype(np.uint8))
    shape = sizes_of(x)
    parts = om.bitwise_and(om.right_shift(om.reshape(x, shape=(*shape, 1)), shifts), (1 << bits) - 1)
    return slice_along(om.reshape(parts, shape=(*shape[:-1], shape[-1] * (8 // bits))), x.ndim - 1, 0, count)


@microsoft("MatMulNBits")
def read_matmul_n_bits(node, ops):
    """A @ W^T + bias: W (N, K) of `bits` bits, each `block_size` numbers along K with a scale and a zero point (2^(bits - 1) by default)."""
    bits, block, rows, columns = node.int("bits", 4), node.int("block_size"), node.int("N"), node.int("K")
    if bits not in (2, 4, 8):
        node.refuse(f"weights of 2, 4 or 8 bits can be read, found {bits}")
    if node.has(4):
        node.refuse("the order of rows by g_idx cannot be read")
    blocks = -(-columns // block)
    scales = ops.reshape(node.tensor(2), shape=(rows, blocks)).astype(dtypes.float32)
    packed = ops.reshape(node.tensor(1), shape=(rows, blocks * block * bits // 8))
    numbers, points = unpacked(packed, bits, columns), _zero_points(node, bits, rows, blocks)
    a = node.tensor(0)
    x = a.astype(dtypes.float32)
    if points.dtype == dtypes.uint8:
        rounds = node.int("accuracy_level", 0) == BYTES
        y = om.dequantized_linear(x, numbers, scales, points, block_size=block, bits=8 if bits == 8 else 4, rounds_x=rounds)
    else:
        each = lambda parameter: aligned(parameter, numbers, 1, block)
        y = ops.linear(x, (numbers.astype(dtypes.float32) - each(points)) * each(scales))
    return (y + node.tensor(5).astype(dtypes.float32) if node.has(5) else y).astype(a.dtype)


def _zero_points(node, bits: int, rows: int, blocks: int) -> Tensor:
    """(rows, blocks) of u8, or of floats."""
    if not node.has(3):
        return Tensor._wrap(np.full((rows, blocks), 1 << (bits - 1), np.uint8))
    points = node.tensor(3)
    if points.dtype == dtypes.uint8:
        return unpacked(om.reshape(points, shape=(rows, -(-blocks * bits // 8))), bits, blocks)
    return om.reshape(points.astype(dtypes.float32), shape=(rows, blocks))


@microsoft("GatherBlockQuantized")
def read_gather_block_quantized(node, ops):
    """Rows of a table of 4- or 8-bit numbers, quantized in blocks along `quantize_axis`. Rows are chosen before they become floats, so
    that the table stays as it is stored; only along `quantize_axis` itself that is not possible."""
    scales, indices = node.tensor(2), node.tensor(1)
    axis, along, block = (node.int(name, default) for name, default in (("quantize_axis", 1), ("gather_axis", 0), ("block_size", 128)))
    axis, along = axis % scales.ndim, along % scales.ndim
    packed = node.value(0).narrow not in NARROW and node.value(0).dtype == dtypes.uint8
    early = along != axis
    chosen = (lambda x: ops.gather(x, indices, axis=along)) if early else lambda x: x
    value, points = (_of_tensor(node.inputs[i], chosen) if node.has(i) else None for i in (0, 3))
    if along < axis:  # the axes of the indices stand in the place of one
        axis += indices.ndim - 1
    factors = chosen(scales).astype(dtypes.float32)
    rows, zeros = _numbers(value, points, factors, packed, node.int("bits", 4))
    if zeros is not None:
        rows = rows - aligned(zeros, rows, axis, block)
    rows = (rows * aligned(factors, rows, axis, block)).astype(scales.dtype)
    return rows if early else ops.gather(rows, indices, axis=along)


def _of_tensor(value: Value, function) -> Value:
    """A function of a value's elements as they are stored."""
    result = Value(function(value.tensor))
    result.narrow = value.narrow
    return result


def _numbers(value: Value, points: Value | None, scales: Tensor, packed: bool, bits: int) -> tuple[Tensor, Tensor | None]:
    """The numbers and their zero points, in f32."""
    if not packed:
        return widened(value), None if points is None else widened(points)
    rows = unpacked(value.tensor, bits, value.tensor.shape[-1] * (8 // bits)).astype(dtypes.float32)
    if points is None:
        return rows - float(1 << (bits - 1)), None
    return rows, unpacked(points.tensor, bits, sizes_of(scales)[-1]).astype(dtypes.float32)
