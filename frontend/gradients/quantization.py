"""Gradients of quantization: of the scale by which integers are multiplied, and of what is multiplied by the numbers."""
from __future__ import annotations

from ...dialect.ops import quantization as om
from ..ops.declared import declared as ops
from ..ops.shape import sizes
from .composed import composed_gradient


@composed_gradient(om.DequantizeLinear)
def dequantize_linear(call, x, scale, zero_point):
    steps = x.astype("int32")
    if zero_point is not None:
        steps = steps - _aligned(call, zero_point.astype("int32"), x)
    return steps.astype(scale.dtype) * _aligned(call, scale, x)


@composed_gradient(om.DequantizedLinear)
def dequantized_linear(call, x, weight, scale, zero_point, x_scale):
    x = x if x_scale is None else ops.dequantize_linear(x, x_scale, axis=-1, block_size=call.block_size)
    numbers = ops.bitwise_and(weight, 15) if call.bits == 4 else weight
    return ops.linear(x, ops.dequantize_linear(numbers, scale, zero_point, axis=1, block_size=call.block_size))


def _aligned(call, parameter, x):
    """Scale or zero point in a shape that broadcasts to x."""
    shape = sizes(x)
    if call.block_size:
        axis = call.axis % x.ndim
        return ops.gather(parameter, ops.floor_divide(ops.iota(size=(shape[axis],)), call.block_size), axis=axis)
    if parameter.ndim == 0 or sizes(parameter) == (1,):
        return ops.reshape(parameter, shape=())
    return ops.reshape(parameter, shape=tuple(size if i == call.axis % x.ndim else 1 for i, size in enumerate(shape)))
