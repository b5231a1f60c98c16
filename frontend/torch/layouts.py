"""How the elements of recorded tensors lie in memory, asked only where it decides whether ``reshape`` or ``contiguous`` copy.

A recorded tensor keeps the call that made it. Its layout is that of torch's own result of the calls on meta tensors, which have sizes (the
example's, where a symbolic axis has two elements at least) and strides, and no data. What does not run on meta tensors counts as a new tensor whose elements lie in order, as inputs do.
"""
from __future__ import annotations

import math
from typing import Any, Callable

import torch

from ...dialect import symbolic
from ..symbolic_int import size_of, SymbolicInt
from .sizes import from_sym_int
from .tensor import Call, RecordedTensor, value_of


def keep_call(result, function: Callable, args: tuple, kwargs: dict) -> None:
    """Note the call that made recorded tensors; one that the call was given keeps its own."""
    results = result if isinstance(result, (tuple, list)) else (result,)
    given = [*args, *kwargs.values()]
    for number, tensor in enumerate(results):
        if isinstance(tensor, RecordedTensor) and tensor._call is None and not any(tensor is value for value in given):
            tensor._call = Call(function, args, kwargs, None if result is tensor else number)


def shares_memory(function: Callable, args: tuple, kwargs: dict) -> bool:
    """Whether the result of a call has the memory of its first argument."""
    base = args[0] if args else kwargs["input"]
    try:
        with torch._C.DisableTorchFunction(), torch.no_grad():
            result = function(*_plain(args), **_plain(kwargs))
            return result.untyped_storage()._cdata == _plain(base).untyped_storage()._cdata
    except Exception:  # not on meta tensors: the elements lie in order
        return True


def is_ordered(tensor: RecordedTensor) -> bool:
    """Whether the elements lie in order, each beside the next."""
    return layout_of(tensor).is_contiguous()


def layout_of(tensor: RecordedTensor) -> torch.Tensor:
    """A meta tensor with the strides that torch gives to a recorded one."""
    pending = [tensor]
    while pending:
        last = pending[-1]
        before = [] if last._layout is not None or last._call is None else [t for t in _tensors((last._call.args, last._call.kwargs)) if t._layout is None]
        if before:
            pending += before
            continue
        pending.pop()
        if last._layout is None:
            last._layout = _made(last)
    return tensor._layout


def _made(tensor: RecordedTensor) -> torch.Tensor:
    shape = tuple(map(_size, value_of(tensor).shape))
    with torch._C.DisableTorchFunction(), torch.no_grad():
        if tensor._call is not None:
            try:
                found = tensor._call.function(*_plain(tensor._call.args), **_plain(tensor._call.kwargs))
                found = found if tensor._call.number is None else found[tensor._call.number]
                if tuple(found.shape) == shape:
                    return found
            except Exception:  # not on meta tensors
                pass
        return torch.empty(shape, dtype=tensor.dtype, device="meta") if math.prod(shape) < 2**62 else torch.empty(0, device="meta")


def _tensors(value) -> list[RecordedTensor]:
    if isinstance(value, RecordedTensor):
        return [value]
    if isinstance(value, dict):
        value = tuple(value.values())
    return [tensor for item in value for tensor in _tensors(item)] if isinstance(value, (tuple, list)) else []


def _plain(value) -> Any:
    """An argument with layouts for tensors and the example's sizes for symbolic ones."""
    if isinstance(value, RecordedTensor):
        return layout_of(value)
    if isinstance(value, torch.Tensor):
        return torch.empty_strided(value.size(), value.stride(), dtype=value.dtype, device="meta")
    if isinstance(value, (tuple, list)):
        return type(value)(map(_plain, value)) if not hasattr(value, "_fields") else type(value)(*map(_plain, value))
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, slice):
        return slice(*map(_plain, (value.start, value.stop, value.step)))
    size = from_sym_int(value)
    return _size(size) if isinstance(size, SymbolicInt) else value


def _size(size) -> int:
    """A size of the example, in which a symbolic axis counts as longer than 1."""
    dim = size_of(size)
    return symbolic.evaluate(dim, lambda symbol: max(size.recorder.example_size(symbolic.Dim({(symbol,): 1})), 2))
