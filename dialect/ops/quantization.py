"""Linear quantization as ONNX defines it: per tensor, per axis, or in blocks along an axis."""
from __future__ import annotations

import numpy as np

from ...errors import DTypeError, ShapeError
from .. import dtypes
from ..attributes import DType
from ..declare import Attr, Composite, DTypes, Floating, Op, Operand, OptionalOperand, Pure, Result
from ..shapes import normalize_axis, require_equal, show, TensorType

Quantized = DTypes("an 8- or 16-bit integer dtype", (dtypes.uint8, dtypes.int8, dtypes.uint16, dtypes.int16))
Dequantizable = DTypes("an 8-, 16- or 32-bit integer dtype", Quantized.members + (dtypes.int32,))
Quantizable = DTypes("a floating dtype or i32", dtypes.FLOATING + (dtypes.int32,))


def check_scale(opname: str, x: TensorType, scale: TensorType, zero_point, axis: int, block_size: int) -> None:
    """Scale is one number, one per element of the axis, or (with block_size) one per block along the axis."""
    if scale.rank and x.rank:
        axis = normalize_axis(axis, x.rank)
    if zero_point is not None and zero_point.shape != scale.shape:
        raise ShapeError(f"{opname}: zero_point must have the shape of scale {show(scale.shape)}, found {show(zero_point.shape)}")
    if block_size:
        _check_blocks(opname, x, scale, axis, block_size)
    elif scale.rank == 1 and x.rank and scale.shape != (1,):
        require_equal(scale.shape[0], x.shape[axis], f"{opname}: scale has {scale.shape[0]} elements but axis {axis} of x {show(x.shape)} has {x.shape[axis]}")
    elif scale.rank > 1:
        raise ShapeError(f"{opname}: scale must have rank 0 or 1, found shape {show(scale.shape)}; block_size allows the rank of x")


def _check_blocks(opname: str, x: TensorType, scale: TensorType, axis: int, block_size: int) -> None:
    expected = x.shape[:axis] + (-(-x.shape[axis] // block_size),) + x.shape[axis + 1:] if scale.rank == x.rank else ()
    if scale.rank != x.rank or block_size < 0:
        raise ShapeError(f"{opname}: with block_size {block_size} scale must have the rank of x {show(x.shape)}, found {show(scale.shape)}")
    for a, b in zip(scale.shape, expected):
        require_equal(a, b, f"{opname}: scale must have shape {show(expected)} for x {show(x.shape)} in blocks of {block_size}, found {show(scale.shape)}")


def aligned(parameter: np.ndarray, x: np.ndarray, axis: int, block_size: int) -> np.ndarray:
    """Scale or zero point as an array that broadcasts to x."""
    if block_size:
        return np.take(np.repeat(parameter, block_size, axis=axis), np.arange(x.shape[axis]), axis=axis)
    if parameter.ndim == 0 or parameter.size == 1:
        return parameter.reshape(())
    return parameter.reshape([-1 if i == axis % x.ndim else 1 for i in range(x.ndim)])


class QuantizeLinear(Op):
    """saturate(round(x / scale) + zero_point), halves to even.

    scale: floating; rank 0, (x.shape[axis],), or with block_size the shape of x with ceil(size / block_size) along the axis.
    zero_point: the shape of scale, zero when left out; its dtype is the result's, else `dtype`. Source: ONNX QuantizeLinear.
    """

    x: Operand[Quantizable]
    scale: Operand[Floating]
    zero_point: OptionalOperand[Quantized]
    axis: Attr[int] = 1
    block_size: Attr[int] = 0
    dtype: Attr[DType] = dtypes.uint8
    result: Result
    traits = (Pure, Composite)

    def canonical(attributes, operands):
        zero_point = operands[2] if len(operands) > 2 else None
        return attributes if zero_point is None else {**attributes, "dtype": zero_point.dtype}

    def verify(x, scale, zero_point, axis, block_size, dtype):
        check_scale("quantize_linear", x, scale, zero_point, axis, block_size)
        if dtype not in Quantized:
            raise DTypeError(f"quantize_linear: 'dtype' must be {Quantized.name}, found {dtype}")

    def infer(x, scale, zero_point, axis, block_size, dtype):
        return x.with_dtype(dtype)

    def reference(x, scale, zero_point, axis, block_size, dtype):
        compute = dtypes.float64 if dtypes.float64 in (x.dtype, scale.dtype) else dtypes.float32
        info = np.iinfo(dtype)
        with np.errstate(all="ignore"):
            steps = np.rint(x.astype(compute) / aligned(scale, x, axis, block_size).astype(compute))
        if zero_point is not None:
            steps = steps + aligned(zero_point, x, axis, block_size).astype(compute)
        return np.clip(np.nan_to_num(steps, nan=0, posinf=info.max, neginf=info.min), info.min, info.max).astype(dtype)


class DequantizeLinear(Op):
    """(x - zero_point) * scale, in the dtype of scale.

    scale, zero_point, axis, block_size: as for `QuantizeLinear`; zero_point has the dtype of x. Source: ONNX DequantizeLinear.
    """

    x: Operand[Dequantizable, "T"]
    scale: Operand[Floating]
    zero_point: OptionalOperand[Dequantizable, "T"]
    axis: Attr[int] = 1
    block_size: Attr[int] = 0
    result: Result
    traits = (Pure, Composite)

    def verify(x, scale, zero_point, axis, block_size):
        check_scale("dequantize_linear", x, scale, zero_point, axis, block_size)

    def infer(x, scale, zero_point, axis, block_size):
        return x.with_dtype(scale.dtype)

    def reference(x, scale, zero_point, axis, block_size):
        steps = x.astype(np.int32)
        if zero_point is not None:
            steps = steps - aligned(zero_point, x, axis, block_size).astype(np.int32)
        compute = np.float64 if scale.dtype == np.float64 else np.float32
        return (steps.astype(compute) * aligned(scale, x, axis, block_size).astype(compute)).astype(scale.dtype)


Computed = DTypes("f32 or f64", (dtypes.float32, dtypes.float64))
Byte = DTypes("an 8-bit integer dtype", (dtypes.uint8, dtypes.int8))


class DequantizedLinear(Op):
    """x @ w.T for a weight of few bits: w = (weight - zero_point) * scale, in blocks along the axis that is summed over.

    x (..., in) in the dtype of scale, or i8 with x_scale (..., blocks), by which it is multiplied; weight (out, in) of bytes, of which the
    lower `bits` (8, or 4 of u8) count; scale (out, blocks) f32 or f64 and zero_point of the same shape, one for `block_size` numbers of a row.
    With `rounds_x` x may be rounded to 8 bits in blocks (to 1/127 of a block's largest number) where that is faster. Result (..., out) in the dtype
    of scale. By f32 the weight stays integers when the model runs. Source: com.microsoft.MatMulNBits of ONNX Runtime.
    """

    x: Operand[DTypes("f32, f64 or i8", (*Computed.members, dtypes.int8))]
    weight: Operand[Byte, "U"]
    scale: Operand[Computed, "T"]
    zero_point: OptionalOperand[Byte, "U"]
    x_scale: OptionalOperand[Computed, "T"]
    block_size: Attr[int]
    bits: Attr[int] = 8
    rounds_x: Attr[bool] = False
    result: Result
    traits = (Pure,)

    def verify(x, weight, scale, zero_point, x_scale, block_size, bits, rounds_x):
        if weight.rank != 2 or block_size < 1:
            raise ShapeError(f"dequantized_linear: weight must be (out, in) and block_size at least 1, found {show(weight.shape)} and {block_size}")
        if bits not in (4, 8) or (bits == 4 and weight.dtype != dtypes.uint8):
            raise DTypeError(f"dequantized_linear: 'bits' must be 8, or 4 for a u8 weight, found {bits} for {weight.dtype}")
        if x.dtype != (dtypes.int8 if x_scale is not None else scale.dtype):
            wanted = f"{scale.dtype}, as scale," if x_scale is None else "int8, where x_scale is given,"
            raise DTypeError(f"dequantized_linear: 'x' must be {wanted} found {x.dtype}")
        check_scale("dequantized_linear", weight, scale, zero_point, 1, block_size)
        if x_scale is not None:
            check_scale("dequantized_linear", x, x_scale, None, -1, block_size)

    def infer(x, weight, scale, zero_point, x_scale, block_size, bits, rounds_x):
        if x.rank == 0 or weight.rank != 2:
            raise ShapeError(f"dequantized_linear: weight must be (out, in) and x (..., in), found {show(weight.shape)} and {show(x.shape)}")
        require_equal(x.shape[-1], weight.shape[1], f"dequantized_linear: x {show(x.shape)} has {x.shape[-1]} features "
                      f"but weight {show(weight.shape)} takes {weight.shape[1]}")
        return TensorType(x.shape[:-1] + weight.shape[:1], scale.dtype)

    def reference(x, weight, scale, zero_point, x_scale, block_size, bits, rounds_x):
        numbers = weight & 15 if bits == 4 else weight
        x = x if x_scale is None else DequantizeLinear.reference(x, x_scale, None, x.ndim - 1, block_size)
        return np.matmul(x, DequantizeLinear.reference(numbers, scale, zero_point, 1, block_size).T)


OPS = (QuantizeLinear, DequantizeLinear, DequantizedLinear)
