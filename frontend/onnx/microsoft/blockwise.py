"""Weights of a few bits, quantized in blocks: unpacked once, before the model runs."""
from __future__ import annotations

import numpy as np

from ....dialect import dtypes
from ...ops.declared import declared as om
from ...ops.shape import slice_along
from ...tensor import Tensor
from ..narrow import aligned, NARROW, widened
from ..shape import sizes_of
from .domain import microsoft


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
        y = om.dequantized_linear(x, numbers, scales, points, block_size=block, bits=8 if bits == 8 else 4)
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
    """Rows of a table of 4- or 8-bit numbers, quantized in blocks along `quantize_axis`."""
    value, scales = node.value(0), node.tensor(2)
    axis, block = node.int("quantize_axis", 1) % scales.ndim, node.int("block_size", 128)
    packed = value.narrow not in NARROW and value.dtype == dtypes.uint8
    bits = node.int("bits", 4)
    table = _table(node, packed, bits)
    points = node.inputs[3] if node.has(3) else None
    if points is not None:
        points = unpacked(points.tensor, bits, sizes_of(scales)[-1]).astype(dtypes.float32) if packed else widened(points)
        table = table - aligned(points, table, axis, block)
    elif packed:
        table = table - float(1 << (bits - 1))
    rows = (table * aligned(scales.astype(dtypes.float32), table, axis, block)).astype(scales.dtype)
    return ops.gather(rows, node.tensor(1), axis=node.int("gather_axis", 0))


def _table(node, packed: bool, bits: int) -> Tensor:
    value = node.value(0)
    if not packed:
        return widened(value)
    return unpacked(node.tensor(0), bits, value.shape[-1] * (8 // bits)).astype(dtypes.float32)
