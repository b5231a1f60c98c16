"""Operands of handlers: tensors, Python scalars and sizes with torch's promotion."""
from __future__ import annotations

import functools
from typing import Callable

import numpy as np

from ....dialect import dtypes
from ... import ops
from ...size_tensors import size_in
from ...symbolic_int import SymbolicInt
from ...tensor import Tensor
from ..dtypes import default_float, is_floating, result_dtype, scalar_dtype, to_numpy_dtype


def as_dtype(value, dtype: np.dtype) -> Tensor:
    """A tensor, scalar or size as a tensor of a dtype."""
    if isinstance(value, Tensor):
        return value.astype(dtype)
    if isinstance(value, SymbolicInt):
        return ops.cast(value, dtype=dtype)
    return Tensor._wrap(np.asarray(value).astype(dtype))


def tensor_of(value) -> Tensor:
    """A value as a tensor of its own dtype."""
    return value if isinstance(value, Tensor) else as_dtype(value, scalar_dtype(value))


def promoted(*operands) -> list[Tensor]:
    """Operands converted to torch's common dtype."""
    dtype = result_dtype(*operands)
    return [as_dtype(o, dtype) for o in operands]


def floating(*operands) -> list[Tensor]:
    """Operands converted to torch's common dtype, integers to the default float."""
    dtype = result_dtype(*operands)
    dtype = dtype if is_floating(dtype) else default_float()
    return [as_dtype(o, dtype) for o in operands]


def optional_dtype(x: Tensor, dtype) -> Tensor:
    """x converted to a torch dtype, when one is given."""
    return x if dtype is None else x.astype(to_numpy_dtype(dtype))


def scalar_in(value, dtype: np.dtype):
    """A Python scalar that multiplies a tensor of `dtype`; tensors and sizes as tensors of it."""
    return as_dtype(value, dtype)


def as_axes(dim, rank: int):
    """torch's dim argument as axes: None and () mean all."""
    if dim is None or (isinstance(dim, (tuple, list)) and not dim):
        return None
    axes = tuple(dim) if isinstance(dim, (tuple, list)) else (dim,)
    return tuple(a % rank if rank else 0 for a in axes) if rank else None


def as_sizes(sizes) -> tuple:
    """Sizes given one by one or as one sequence; rank-0 tensors of known value count as sizes."""
    if len(sizes) == 1 and isinstance(sizes[0], (tuple, list)):
        sizes = sizes[0]
    return tuple(as_size(s) if isinstance(s, Tensor) else s for s in sizes)


def as_size(tensor: Tensor):
    """A tensor of one integer as a size: where it follows from sizes alone as it is, else by the recording's rule for reads."""
    found = size_in(tensor)
    return tensor.__index__() if found is None else found


def scalars_have_an_axis(handler: Callable) -> Callable:
    """A handler of one axis for tensors of rank 0 too, which torch treats as having one axis of size 1."""
    @functools.wraps(handler)
    def wrapped(input, *args, **kwargs):
        if not isinstance(input, Tensor) or input.ndim:
            return handler(input, *args, **kwargs)
        lifted = [_with_axis(v) for v in (input, *args)]
        result = handler(*lifted, **{k: _with_axis(v) for k, v in kwargs.items()})
        if result is NotImplemented:
            return result
        flat = lambda t: ops.reshape(t, shape=()) if isinstance(t, Tensor) and t.ndim == 1 else t
        if not isinstance(result, tuple):
            return flat(result)
        return type(result)(*map(flat, result)) if hasattr(result, "_fields") else tuple(map(flat, result))
    return wrapped


def _with_axis(value):
    return ops.reshape(value, shape=(1,)) if isinstance(value, Tensor) and value.ndim == 0 else value


bool_ = dtypes.bool_
