"""Functions that make tensors."""
from __future__ import annotations

import numpy as np
import torch

from ....dialect import dtypes
from ... import ops
from ...nn.losses.classification import check_classes
from ...symbolic_int import SymbolicInt
from ...tensor import Tensor
from ..arrays import shared_array
from ..dtypes import default_float, scalar_dtype, to_numpy_dtype
from ..registry import handles
from ..tensor import RecordedTensor, value_of
from .values import as_dtype, as_sizes, tensor_of


def _dtype(dtype, default) -> np.dtype:
    return default if dtype is None else to_numpy_dtype(dtype)


def _filled(value):
    def handler(*size, dtype=None, layout=None, device=None, requires_grad=False, pin_memory=False, memory_format=None, names=None):
        return ops.full(as_sizes(size), value, _dtype(dtype, default_float()))
    return handler


handles("zeros", "empty")(_filled(0))
handles("ones")(_filled(1))


def _filled_like(value):
    def handler(input, dtype=None, layout=None, device=None, requires_grad=False, pin_memory=False, memory_format=None):
        return ops.full(input.shape, value, _dtype(dtype, input.dtype))
    return handler


handles("zeros_like", "empty_like")(_filled_like(0))
handles("ones_like")(_filled_like(1))


def _new(value):
    def handler(input, *size, dtype=None, device=None, requires_grad=False, layout=None, pin_memory=None):
        return ops.full(as_sizes(size), value, _dtype(dtype, input.dtype))
    return handler


handles("new_zeros", "new_empty")(_new(0))
handles("new_ones")(_new(1))
handles("new_empty_strided")(lambda input, size, stride, **options: _new(0)(input, size, **options))
handles("empty_strided", "empty_permuted")(lambda size, stride, **options: _filled(0)(size, **options))


@handles("full")
def full(size, fill_value, dtype=None, layout=None, device=None, requires_grad=False, pin_memory=False, names=None):
    value = tensor_of(fill_value)
    return ops.full(as_sizes((size,)), value.astype(_dtype(dtype, value.dtype)))


@handles("full_like")
def full_like(input, fill_value, dtype=None, layout=None, device=None, requires_grad=False, memory_format=None, pin_memory=False):
    return ops.full(input.shape, as_dtype(fill_value, _dtype(dtype, input.dtype)))


@handles("new_full")
def new_full(input, size, fill_value, dtype=None, device=None, requires_grad=False, layout=None, pin_memory=None):
    return ops.full(as_sizes((size,)), as_dtype(fill_value, _dtype(dtype, input.dtype)))


@handles("fill")
def fill(input, value):
    return ops.full(input.shape, as_dtype(value, input.dtype))


@handles("zero")
def zero(input):
    return ops.full(input.shape, as_dtype(0, input.dtype))


@handles("copy")
def copy(input, src, non_blocking=False):
    return src


@handles("scalar_tensor")
def scalar_tensor(s, dtype=None, layout=None, device=None, pin_memory=None):
    return as_dtype(s, _dtype(dtype, default_float()))


@handles("arange", "range")
def arange(start, end=None, step=1, dtype=None, layout=None, device=None, requires_grad=False, pin_memory=False):
    start, end = (0, start) if end is None else (start, end)
    bounds = [v.item() if isinstance(v, Tensor) else v for v in (start, end, step)]
    wanted = _dtype(dtype, default_float() if any(isinstance(v, float) for v in bounds) else dtypes.int64)
    if any(isinstance(v, SymbolicInt) for v in bounds):
        whole = [int(v) if isinstance(v, float) and v.is_integer() else v for v in bounds]
        return ops.arange(*whole, dtype=wanted)
    return Tensor._wrap(np.arange(*bounds).astype(wanted))


@handles("linspace")
def linspace(start, end, steps, dtype=None, layout=None, device=None, requires_grad=False, pin_memory=False):
    if isinstance(steps, SymbolicInt):
        places = ops.cast(ops.arange(steps), dtype=_dtype(dtype, default_float()))
        return places * as_dtype((float(end) - float(start)), places.dtype) / ops.cast(steps - 1, dtype=places.dtype) + float(start)
    if isinstance(start, Tensor) or isinstance(end, Tensor):
        wanted = _dtype(dtype, default_float())
        first, last = (as_dtype(v, default_float()) for v in (start, end))
        share = np.linspace(0, 1, steps, dtype=first.dtype)
        return (first * Tensor._wrap(1 - share) + last * Tensor._wrap(share)).astype(wanted)
    array = torch.linspace(start, end, steps, dtype=dtype)
    return Tensor._wrap(shared_array(array))


@handles("eye")
def eye(n, m=None, dtype=None, layout=None, device=None, requires_grad=False, pin_memory=False):
    return ops.eye(n, m, dtype=_dtype(dtype, default_float()))


@handles("new_tensor", kind="raw")
def new_tensor(recording, like, data, dtype=None, device=None, requires_grad=False, layout=None, pin_memory=False):
    return tensor(recording, data, dtype=like.dtype if dtype is None else dtype)


@handles("tensor", "as_tensor", "asarray", "from_numpy", "scalar", kind="raw")
def tensor(recording, data, dtype=None, device=None, requires_grad=False, pin_memory=False, copy=None):
    """A tensor of given data: known, unless an element is recorded."""
    if isinstance(data, torch.Tensor):
        value = value_of(recording.recorded(data))
    elif recording.depends(data):
        value = _stacked(recording, data)
    else:
        value = Tensor._wrap(shared_array(torch.tensor(_plain(data))))
    return RecordedTensor(value if dtype is None else value.astype(to_numpy_dtype(dtype)))


def _plain(data):
    if isinstance(data, (list, tuple)):
        return [_plain(v) for v in data]
    return torch.from_numpy(value_of(data)._array).item() if isinstance(data, RecordedTensor) and data.dim() == 0 else data


def _stacked(recording, data) -> Tensor:
    """Nested lists some of whose elements are known only when the model runs."""
    if isinstance(data, (list, tuple)):
        return ops.stack([_stacked(recording, v) for v in data])
    value = recording.to_ours(data)
    return value if isinstance(value, Tensor) else as_dtype(value, scalar_dtype(value))


@handles("clone", "F.identity", "lift_fresh_copy", "cpu", "resolve_conj", "resolve_neg", "conj", "real")
def clone(input, memory_format=None):
    return input


@handles("F.one_hot", "one_hot")
def one_hot(tensor, num_classes=-1):
    if num_classes == -1:
        from ...locations import user_line
        from ....errors import TraceError

        raise TraceError(f"one_hot without num_classes has as many classes as its data say, at {user_line()}\n  give num_classes")
    check_classes("one_hot", tensor, num_classes)
    return ops.one_hot(tensor, num_classes)


@handles("tril")
def tril(input, diagonal=0):
    return ops.tril(input, diagonal)


@handles("triu")
def triu(input, diagonal=0):
    return ops.triu(input, diagonal)
