"""Element types that the dialect does not have: floats of 8 and 4 bits, integers of 4 and 2 bits.

Floats are held as their bits in u8, integers one by one in i8 or u8. Casts, quantization and operators that hand values on know them
(`Value.narrow` is ONNX's number of the type); everything else refuses them.
"""
from __future__ import annotations

from dataclasses import dataclass

import ml_dtypes
import numpy as np
from onnx import numpy_helper, TensorProto

from ...dialect import dtypes
from ..ops.declared import declared as om
from ..ops.repeating import repeat
from ..ops.shape import slice_along
from ..tensor import Tensor
from .tensors import Files
from .values import Value


@dataclass(frozen=True)
class NarrowFloat:
    """A floating type: its numpy type, the code of its largest finite number, and what is beyond (inf or NaN) and NaN."""

    dtype: np.dtype
    largest: int
    beyond: int
    nan: int
    signed_zero: bool = True
    sign: int = 0x80
    storage = dtypes.uint8


@dataclass(frozen=True)
class NarrowInteger:
    """An integer type of a few bits."""

    dtype: np.dtype
    bits: int
    signed: bool

    @property
    def storage(self) -> np.dtype:
        return dtypes.int8 if self.signed else dtypes.uint8

    @property
    def limits(self) -> tuple[int, int]:
        return (-(1 << self.bits - 1), (1 << self.bits - 1) - 1) if self.signed else (0, (1 << self.bits) - 1)


def _types() -> dict[int, NarrowFloat | NarrowInteger]:
    found: dict[int, NarrowFloat | NarrowInteger] = {
        TensorProto.FLOAT8E4M3FN: NarrowFloat(np.dtype(ml_dtypes.float8_e4m3fn), 0x7E, 0x7F, 0x7F),
        TensorProto.FLOAT8E4M3FNUZ: NarrowFloat(np.dtype(ml_dtypes.float8_e4m3fnuz), 0x7F, 0x80, 0x80, False),
        TensorProto.FLOAT8E5M2: NarrowFloat(np.dtype(ml_dtypes.float8_e5m2), 0x7B, 0x7C, 0x7F),
        TensorProto.FLOAT8E5M2FNUZ: NarrowFloat(np.dtype(ml_dtypes.float8_e5m2fnuz), 0x7F, 0x80, 0x80, False),
    }
    optional = {"FLOAT4E2M1": ("float4_e2m1fn", 7, 7, 8, True, 8), "FLOAT8E8M0": ("float8_e8m0fnu", 254, 255, 255, True, 0)}
    for name, (dtype, *fields) in optional.items():
        if hasattr(TensorProto, name) and hasattr(ml_dtypes, dtype):
            found[getattr(TensorProto, name)] = NarrowFloat(np.dtype(getattr(ml_dtypes, dtype)), *fields)
    for name, bits, signed in (("INT4", 4, True), ("UINT4", 4, False), ("INT2", 2, True), ("UINT2", 2, False)):
        if hasattr(TensorProto, name) and hasattr(ml_dtypes, name.lower()):
            found[getattr(TensorProto, name)] = NarrowInteger(np.dtype(getattr(ml_dtypes, name.lower())), bits, signed)
    return found


NARROW = _types()
BY_DTYPE = {kind.dtype: number for number, kind in NARROW.items()}


def stored(array: np.ndarray) -> np.ndarray:
    """An array of a narrow numpy type as it is held; other arrays as they are."""
    number = BY_DTYPE.get(getattr(array, "dtype", None))
    if number is None:
        return array
    kind = NARROW[number]
    array = np.ascontiguousarray(array).reshape(array.shape)
    return array.view(np.uint8) if isinstance(kind, NarrowFloat) else array.astype(kind.storage)


def restored(array: np.ndarray, number: int) -> np.ndarray:
    """The inverse of `stored`."""
    kind = NARROW.get(number)
    if kind is None:
        return array
    return array.view(kind.dtype) if isinstance(kind, NarrowFloat) else array.astype(kind.dtype)


def stored_tensor(proto: TensorProto, files: Files) -> np.ndarray:
    """The data of a TensorProto of a narrow type, as it is held."""
    data = files.data(proto)
    if data is not None:
        proto.raw_data = bytes(data)
    return stored(numpy_helper.to_array(proto))


def narrow_value(x: Tensor, number: int) -> Value:
    """A tensor that holds elements of a narrow type."""
    value = Value(x)
    value.narrow = number
    return value


def widened(value: Value, dtype=dtypes.float32) -> Tensor:
    """The numbers of a value, narrow or not, in a dtype of the dialect."""
    kind = NARROW.get(value.narrow)
    if not isinstance(kind, NarrowFloat):
        return value.tensor.astype(dtype)
    count = 256 if kind.sign != 8 else 16
    table = np.arange(count).astype(np.uint8).view(kind.dtype).astype(np.float32)
    wide = om.gather(Tensor._wrap(table), value.tensor.astype(dtypes.int32))
    return wide.astype(dtype)


def narrowed(x: Tensor, number: int, saturate: bool = True, round_mode: str = "up") -> Value:
    """Numbers as elements of a narrow type: floats to the nearest, halves to even; integers lose their upper bits."""
    kind = NARROW[number]
    if isinstance(kind, NarrowFloat):
        return narrow_value(_encoded(x.astype(dtypes.float32), kind, saturate, round_mode), number)
    low, high = kind.limits
    whole = om.bitwise_and(x.astype(dtypes.int32) - low, (1 << kind.bits) - 1) + low
    return narrow_value(whole.astype(kind.storage), number)


def _encoded(x: Tensor, kind: NarrowFloat, saturate: bool, round_mode: str) -> Tensor:
    size = om.abs(x)
    code = om.searchsorted(Tensor._wrap(_thresholds(kind, round_mode)), size)
    if saturate or kind.sign == 8:
        code = om.minimum(code, kind.largest)
    else:
        code = om.where(code > kind.largest, kind.beyond, code)
    code = om.where(om.isnan(x), kind.nan, code)
    if kind.sign and kind.signed_zero:
        code = om.where(om.copysign(1.0, x) < 0, om.bitwise_or(code, kind.sign), code)
    elif kind.sign:
        code = om.where(om.logical_and(x < 0, code > 0), om.bitwise_or(code, kind.sign), code)
    return code.astype(dtypes.uint8)


def _thresholds(kind: NarrowFloat, round_mode: str) -> np.ndarray:
    """Threshold i: a number above it has a code above i."""
    values = np.arange(kind.largest + 1).astype(np.uint8).view(kind.dtype).astype(np.float64)
    if kind.sign == 0:  # powers of two
        return (values if round_mode == "up" else values * 1.5 if round_mode == "nearest" else np.nextafter(2 * values.astype(np.float32), np.float32(0))).astype(np.float32)
    values = np.append(values, 2 * values[-1] - values[-2])
    middle = ((values[1:] + values[:-1]) / 2).astype(np.float32)
    odd = np.arange(len(middle)) % 2 == 1
    return np.where(odd, np.nextafter(middle, np.float32(0)), middle)


# Quantization.
def aligned(parameter: Tensor, x: Tensor, axis: int, block_size: int) -> Tensor:
    """Scale or zero point as a tensor that broadcasts to x."""
    if block_size:
        return slice_along(repeat(parameter, block_size, axis), axis, 0, x.shape[axis])
    if parameter.ndim == 0 or parameter.shape == (1,):
        return om.reshape(parameter, shape=())
    return om.reshape(parameter, shape=tuple(-1 if i == axis % x.ndim else 1 for i in range(x.ndim)))


def quantized(x: Tensor, scale: Tensor, zero: Value | None, number: int, axis: int, block_size: int, saturate: bool) -> Value:
    """x / scale, rounded and moved by the zero point, as elements of a narrow type."""
    kind = NARROW[number]
    steps = x.astype(dtypes.float32) / aligned(scale, x, axis, block_size).astype(dtypes.float32)
    offset = None if zero is None else aligned(widened(zero), x, axis, block_size)
    if isinstance(kind, NarrowFloat):
        return narrowed(steps if offset is None else steps + offset, number, saturate)
    steps = om.round(steps) if offset is None else om.round(steps) + offset
    low, high = kind.limits
    return narrow_value(om.minimum(om.maximum(steps, float(low)), float(high)).astype(kind.storage), number)


def dequantized(x: Value, scale: Tensor, zero: Value | None, axis: int, block_size: int) -> Tensor:
    """(x - zero point) * scale in the dtype of scale."""
    if isinstance(NARROW.get(x.narrow), NarrowInteger):
        return _dequantized_integers(x, scale, zero, axis, block_size)
    wide = widened(x)
    if zero is not None:
        wide = wide - aligned(widened(zero), wide, axis, block_size)
    return (wide * aligned(scale, wide, axis, block_size).astype(dtypes.float32)).astype(scale.dtype)


def _dequantized_integers(x: Value, scale: Tensor, zero: Value | None, axis: int, block_size: int) -> Tensor:
    """By the op of the dialect, from u8 whose upper bits are known to be 0: signed numbers and their zero points are moved up."""
    kind = NARROW[x.narrow]
    low, mask = min(kind.limits), (1 << kind.bits) - 1
    moved = lambda value: om.bitwise_and((value.tensor.astype(dtypes.int32) - low).astype(dtypes.uint8), mask)
    points = None
    if zero is not None:
        points = moved(zero)
        if points.shape in ((), (1,)):
            points = om.broadcast_to(om.reshape(points, shape=()), shape=scale.shape)
    elif low:
        points = om.broadcast_to(Tensor._wrap(np.asarray(-low, np.uint8)), shape=scale.shape)
    return om.dequantize_linear(moved(x), scale, points, axis=axis, block_size=block_size)
