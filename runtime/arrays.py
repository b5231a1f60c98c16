"""From whatever a caller hands in to a contiguous array of the declared dtype, without a copy where possible."""
from __future__ import annotations

import ctypes
import sys
from typing import Any, Mapping, Sequence

import numpy as np

from ..dialect.masked import refuse_masked
from ..errors import DTypeError, OnemlirError
from .specs import Spec

READY = 0x101  # numpy's flags C_CONTIGUOUS and ALIGNED
_RANKS = {"b": 0, "u": 1, "i": 1, "f": 2, "c": 3}  # Python numbers are converted to a kind of the same or a higher rank
_word = ctypes.c_void_p.from_address
_DATA = object.__basicsize__  # the data pointer is the first field of an array object


def _slow_address(array: np.ndarray) -> int:
    return array.ctypes.data


def _fast_address(array: np.ndarray) -> int:
    """A tenth of the time of `array.ctypes.data`."""
    return _word(id(array) + _DATA).value or 0


def _fast_address_works() -> bool:
    if sys.implementation.name != "cpython":
        return False
    base = np.zeros((5, 7), np.float32)
    return all(_fast_address(a) == a.ctypes.data for a in (base, base[2:, 3:], np.empty(0), np.array(3, np.int8)))


address = _fast_address if _fast_address_works() else _slow_address


def as_input(spec: Spec, value: Any) -> np.ndarray:
    """The slow path for everything that is not already an array that compiled code can read."""
    array = _as_array(spec, value)
    if array.dtype.kind == spec.dtype.kind == "V" and array.dtype.itemsize == spec.dtype.itemsize:
        array = array.view(spec.dtype)  # what numpy's files keep of bfloat16
    if array.dtype != spec.dtype:
        if array.dtype.newbyteorder("=") != spec.dtype:
            raise DTypeError(f"input '{spec.name}' has dtype {array.dtype}, but the model takes {spec.dtype}; convert it first")
        array = array.astype(spec.dtype)
    if array.flags.num & READY != READY:
        array = np.array(array, order="C", copy=True, subok=False)
    return array


def _as_array(spec: Spec, value: Any) -> np.ndarray:
    if isinstance(value, (np.ndarray, np.generic)):
        refuse_masked(value, f"input '{spec.name}'")
        return np.asarray(value)
    if hasattr(value, "__dlpack__"):
        return _from_dlpack(value)
    if hasattr(value, "__array__"):
        return np.asarray(value)
    return _from_python(spec, value)


def _from_dlpack(value: Any) -> np.ndarray:
    torch = sys.modules.get("torch")
    if torch is not None and isinstance(value, torch.Tensor):
        value = value.detach().resolve_neg()  # a view whose sign is a flag has its numbers without it
        if value.dtype == torch.bfloat16:  # numpy knows no bfloat16
            import ml_dtypes

            return np.from_dlpack(value.view(torch.int16)).view(ml_dtypes.bfloat16)
    try:
        return np.from_dlpack(value)
    except (BufferError, RuntimeError, TypeError):
        return np.asarray(value)


def refusal_of_mapping(values: Sequence[Any]) -> str:
    """What to say about a mapping among positional inputs, if there is one."""
    return "; inputs by name go to run({...}), or are given as keywords" if any(isinstance(v, Mapping) for v in values) else ""


def refuse_names(names: Sequence[str], inputs: Mapping[str, Any]) -> None:
    """Raise the OnemlirError for inputs by name that are not the model's."""
    missing = [repr(name) for name in names if name not in inputs]
    unknown = [repr(name) for name in inputs if name not in names]
    parts = [f"missing: {', '.join(missing)}"] * bool(missing) + [f"unknown: {', '.join(map(str, unknown))}"] * bool(unknown)
    raise OnemlirError(f"inputs do not match the model's ({', '.join(names) or 'none'}); {'; '.join(parts)}")


def _from_python(spec: Spec, value: Any) -> np.ndarray:
    """Lists and numbers have no dtype: they take the declared one if every value survives."""
    if not isinstance(value, (bool, int, float, complex)) and not (isinstance(value, Sequence) and not isinstance(value, (str, bytes))):
        sizes = ", ".join(map(str, spec.sizes))
        raise DTypeError(f"input '{spec.name}' must be an array of {spec.dtype}[{sizes}], found {type(value).__name__}"
                         f"{refusal_of_mapping([value])}")
    try:
        found = np.asarray(value)
        target = "f" if spec.dtype.kind == "V" else spec.dtype.kind
        fits = not found.size or (found.dtype.kind in _RANKS and _RANKS[found.dtype.kind] <= _RANKS[target])
        array = found.astype(spec.dtype) if fits else found
    except (ValueError, TypeError, OverflowError) as error:
        raise DTypeError(f"input '{spec.name}' cannot be made an array of {spec.dtype}: {error}") from None
    if not fits or (target in "iu" and not np.array_equal(array, found)):
        raise DTypeError(f"input '{spec.name}' holds values of {found.dtype} that {spec.dtype} cannot; convert it first")
    return array
