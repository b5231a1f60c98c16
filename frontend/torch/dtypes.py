"""torch's dtypes and the dialect's, and torch's rules of promotion."""
from __future__ import annotations

import numpy as np
import torch

from ...dialect import dtypes
from ...errors import DTypeError
from ..symbolic_int import SymbolicInt
from ..tensor import Tensor

_PAIRS = {
    torch.bool: dtypes.bool_, torch.float16: dtypes.float16, torch.bfloat16: dtypes.bfloat16, torch.float32: dtypes.float32,
    torch.float64: dtypes.float64, **{getattr(torch, f"{u}int{n}"): np.dtype(f"{u}int{n}") for u in ("", "u") for n in (8, 16, 32, 64)},
}
_BACK = {ours: theirs for theirs, ours in _PAIRS.items()}
_OF_PYTHON = {bool: torch.bool, int: torch.int64, float: torch.float64, complex: torch.complex128}


def to_numpy_dtype(dtype: torch.dtype) -> np.dtype:
    """The dialect's dtype of a torch dtype. DTypeError for complex, quantized and others that the dialect does not have."""
    found = _PAIRS.get(_OF_PYTHON.get(dtype, dtype))
    if found is None:
        raise DTypeError(f"torch's dtype {dtype} is not one of the dialect's: {', '.join(map(str, _PAIRS))}")
    return found


def dtype_among(args, kwargs) -> torch.dtype | None:
    """The dtype that the arguments of ``x.to(...)`` name, by a dtype, one of Python's types, or a tensor."""
    given = kwargs.get("dtype") or next((a for a in args if isinstance(a, (torch.dtype, torch.Tensor, type))), None)
    return given.dtype if isinstance(given, torch.Tensor) else _OF_PYTHON.get(given, given) if isinstance(given, type) else given


def to_torch_dtype(dtype) -> torch.dtype:
    """The torch dtype of one of the dialect's."""
    return _BACK[dtypes.dtype_of(dtype)]


def default_float() -> np.dtype:
    """What torch makes of Python floats."""
    return to_numpy_dtype(torch.get_default_dtype())


def is_floating(dtype: np.dtype) -> bool:
    return dtypes.is_floating(dtype)


def promote_pair(left: np.dtype, right: np.dtype) -> np.dtype:
    """torch.promote_types: an integer does not widen a float, f16 with bf16 is f32, else numpy's result."""
    if left == right:
        return left
    if is_floating(left) != is_floating(right):
        return left if is_floating(left) else right
    if {left, right} == {dtypes.float16, dtypes.bfloat16}:
        return dtypes.float32
    return dtypes.dtype_of(np.result_type(left, right))


def _category(dtype: np.dtype) -> int:
    return 2 if is_floating(dtype) else 0 if dtype == dtypes.bool_ else 1


def _combined(left: np.dtype | None, right: np.dtype | None) -> np.dtype | None:
    """The dtype of operands of higher priority with that of lower: the latter counts only when its category is higher."""
    if left is None or right is None:
        return right if left is None else left
    return right if _category(right) > _category(left) else left


def _within(found: list) -> np.dtype | None:
    result = None
    for dtype in found:
        result = dtype if result is None else promote_pair(result, dtype)
    return result


def scalar_dtype(value) -> np.dtype:
    """The dtype of a Python scalar or a size by itself."""
    if isinstance(value, bool):
        return dtypes.bool_
    return default_float() if isinstance(value, float) else dtypes.int64


def result_dtype(*operands) -> np.dtype:
    """torch.result_type of tensors and Python scalars: tensors with axes, then rank-0 tensors, then scalars. Source: torch, Tensor Attributes."""
    ranked = [o.dtype for o in operands if isinstance(o, Tensor) and o.ndim]
    single = [o.dtype for o in operands if isinstance(o, Tensor) and not o.ndim]
    scalars = [scalar_dtype(o) for o in operands if isinstance(o, (bool, int, float, SymbolicInt))]
    return _combined(_within(ranked), _combined(_within(single), _within(scalars)))
