"""Decompositions of linear quantization, in f32 (f64 where an operand is f64)."""
from __future__ import annotations

import numpy as np
from mlir import ir

from ...dialect import dtypes
from ...dialect.build import view
from ...dialect.ops.constant import Constant
from ...dialect.ops.quantization import DequantizeLinear, QuantizeLinear
from .registry import decomposes


@decomposes(QuantizeLinear)
def quantize_linear(ops, x, scale, zero_point, axis, block_size, dtype):
    compute = dtypes.float64 if dtypes.float64 in (x.dtype, scale.dtype) else dtypes.float32
    steps = ops.round(ops.cast(x, dtype=compute) / _aligned(ops, scale, x, axis, block_size, compute))
    if zero_point is not None:
        steps = steps + _aligned(ops, zero_point, x, axis, block_size, compute)
    return ops.cast(steps, dtype=dtype)  # saturates, and NaN becomes 0


@decomposes(DequantizeLinear)
def dequantize_linear(ops, x, scale, zero_point, axis, block_size):
    steps = ops.cast(x, dtype=dtypes.int32)
    if zero_point is not None:
        steps = steps - _aligned(ops, zero_point, x, axis, block_size, dtypes.int32)
    compute = dtypes.float64 if scale.dtype == dtypes.float64 else dtypes.float32
    return ops.cast(ops.cast(steps, dtype=compute) * _aligned(ops, scale, x, axis, block_size, compute), dtype=scale.dtype)


def _aligned(ops, parameter, x, axis: int, block_size: int, dtype):
    """Scale or zero point as `dtype`, so that it broadcasts to x; one that is a literal stays one."""
    owner = parameter.value.owner
    found = None if isinstance(owner, ir.Block) or block_size else view(owner.operation)
    if found is not None and found.declaration is Constant and parameter.shape in ((), (1,)):
        return ops.constant(value=np.asarray(found.attributes["value"]).reshape(()).astype(dtype))
    return ops.cast(_spread(ops, parameter, x, axis, block_size), dtype=dtype)


def _spread(ops, parameter, x, axis: int, block_size: int):
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
