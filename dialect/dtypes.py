"""The dtypes of the dialect, as numpy dtypes, and how they promote.

Promotion follows the array API standard where it defines a result and numpy elsewhere (integer with float, mixed-sign 64-bit,
Python scalars are weak). Source: array API 2023.12, "Type Promotion Rules"; NEP 50.
"""
from __future__ import annotations

import ml_dtypes
import numpy as np

bool_ = np.dtype(bool)
int8, int16, int32, int64 = (np.dtype(f"int{n}") for n in (8, 16, 32, 64))
uint8, uint16, uint32, uint64 = (np.dtype(f"uint{n}") for n in (8, 16, 32, 64))
float16, float32, float64 = (np.dtype(f"float{n}") for n in (16, 32, 64))
bfloat16 = np.dtype(ml_dtypes.bfloat16)

SIGNED = (int8, int16, int32, int64)
UNSIGNED = (uint8, uint16, uint32, uint64)
INTEGER = SIGNED + UNSIGNED
FLOATING = (float16, bfloat16, float32, float64)
NUMERIC = INTEGER + FLOATING
ALL = NUMERIC + (bool_,)

MLIR_NAMES = {
    bool_: "i1", float16: "f16", bfloat16: "bf16", float32: "f32", float64: "f64",
    **{np.dtype(f"int{n}"): f"i{n}" for n in (8, 16, 32, 64)},
    **{np.dtype(f"uint{n}"): f"ui{n}" for n in (8, 16, 32, 64)},
}
FROM_MLIR_NAME = {name: dtype for dtype, name in MLIR_NAMES.items()}


def dtype_of(value) -> np.dtype:
    """The dialect's dtype for a numpy dtype, a type such as ``float``, or a name such as ``"bfloat16"``.

    Python's ``float`` is f32, ``int`` is i64. Raises DTypeError for what the dialect does not have.
    """
    from ..errors import DTypeError

    if value is float:
        return float32
    if value is int:
        return int64
    if isinstance(value, str) and value == "bfloat16":
        return bfloat16
    try:
        dtype = np.dtype(value).newbyteorder("=")
    except TypeError as error:
        raise DTypeError(f"not a dtype: {value!r}") from error
    if dtype not in MLIR_NAMES:
        raise DTypeError(f"dtype {dtype} is not one of the dialect's: {', '.join(str(d) for d in ALL)}")
    return dtype


def is_floating(dtype: np.dtype) -> bool:
    return dtype in FLOATING


def is_unsigned(dtype: np.dtype) -> bool:
    return dtype in UNSIGNED


def promote(*dtypes: np.dtype, scalars: tuple = ()) -> np.dtype:
    """The common dtype of tensors of `dtypes` together with Python scalars, which are weak."""
    if not dtypes:
        return scalar_dtype(scalars)
    result = np.result_type(*dtypes)
    for scalar in scalars:
        result = _with_scalar(result, scalar)
    return result


def scalar_dtype(scalars: tuple) -> np.dtype:
    """The dtype of Python scalars alone: bool, else i64, else f32 when one is a float."""
    if any(isinstance(s, float) for s in scalars):
        return float32
    return bool_ if all(isinstance(s, bool) for s in scalars) else int64


def _with_scalar(dtype: np.dtype, scalar) -> np.dtype:
    if isinstance(scalar, bool):
        return dtype
    if isinstance(scalar, float):
        return dtype if is_floating(dtype) else np.result_type(dtype, 1.0)
    return int64 if dtype == bool_ else dtype


def floating_for(dtype: np.dtype) -> np.dtype:
    """The dtype in which numpy computes exp, sin, … of `dtype`: itself when floating, else f16, f32 or f64 by width."""
    if is_floating(dtype):
        return dtype
    return {1: float16, 2: float32}.get(dtype.itemsize, float64)


def sum_dtype(dtype: np.dtype) -> np.dtype:
    """The dtype of a sum or product over `dtype`: small integers and bool widen to 64 bits, as numpy does."""
    if dtype in UNSIGNED:
        return uint64
    return int64 if dtype in SIGNED or dtype == bool_ else dtype
