"""Decompositions of linear quantization, in f32 (f64 where an operand is f64)."""
from __future__ import annotations

from ...dialect import dtypes
from ...dialect.ops.quantization import DequantizeLinear, QuantizeLinear
from .registry import decomposes


@decomposes(QuantizeLinear)
def quantize_linear(ops, x, scale, zero_point, axis, block_size, dtype):
    compute = dtypes.float64 if dtypes.float64 in (x.dtype, scale.dtype) else dtypes.float32
    steps = ops.round(ops.cast(x, dtype=compute) / ops.cast(_aligned(ops, scale, x, axis, block_size), dtype=compute))
    if zero_point is not None:
        steps = steps + ops.cast(_aligned(ops, zero_point, x, axis, block_size), dtype=compute)
    return ops.cast(steps, dtype=dtype)  # saturates, and NaN becomes 0


@decomposes(DequantizeLinear)
def dequantize_linear(ops, x, scale, zero_point, axis, block_size):
    steps = ops.cast(x, dtype=dtypes.int32)
    if zero_point is not None:
        steps = steps - ops.cast(_aligned(ops, zero_point, x, axis, block_size), dtype=dtypes.int32)
    compute = dtypes.float64 if scale.dtype == dtypes.float64 else dtypes.float32
    return ops.cast(ops.cast(steps, dtype=compute) * ops.cast(_aligned(ops, scale, x, axis, block_size), dtype=compute), dtype=scale.dtype)


def _aligned(ops, parameter, x, axis: int, block_size: int):
    """Scale or zero point so that it broadcasts to x."""
    axis = axis % x.rank if x.rank else 0
    if block_size:
        blocks = parameter.shape[axis]
        spread = ops.reshape(parameter, shape=parameter.shape[:axis + 1] + (1,) + parameter.shape[axis + 1:])
        spread = ops.broadcast_to(spread, shape=parameter.shape[:axis + 1] + (block_size,) + parameter.shape[axis + 1:])
        spread = ops.reshape(spread, shape=parameter.shape[:axis] + (blocks * block_size,) + parameter.shape[axis + 1:])
        return ops.slice(spread, starts=(0,) * x.rank, shape=spread.shape[:axis] + (x.shape[axis],) + spread.shape[axis + 1:], steps=(1,) * x.rank)
    if parameter.rank == 0 or parameter.shape == (1,):
        return ops.reshape(parameter, shape=())
    return ops.reshape(parameter, shape=tuple(parameter.shape[0] if i == axis else 1 for i in range(x.rank)))
