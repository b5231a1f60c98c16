"""torch functions made of others: they are recorded by running their body, in Python or in C++, on recorded tensors.

Each Python function begins with a check that hands the call to the function mode. The body runs with a copy of its module's names in which that check
answers no, so that the mode sees the functions that the body calls. What is composite in C++ hands its parts to `RecordedTensor.__torch_dispatch__`.
"""
from __future__ import annotations

import functools
import types
from typing import Any, Callable

import torch

from .tensor import as_it_is, dispatching, RecordedTensor, value_of

_CHECKS = {name: (lambda *args: False) for name in ("has_torch_function", "has_torch_function_unary", "has_torch_function_variadic")}

_NO_OVERRIDES = types.SimpleNamespace(**_CHECKS)


@functools.lru_cache(maxsize=None)
def python_body(function: Callable) -> Callable | None:
    """A Python function of torch without its check for overrides; None for what is written in C++."""
    if not isinstance(function, types.FunctionType):
        return None
    if function.__closure__ and "boolean_dispatch" in function.__qualname__:
        return None
    inner = _without_decorators(function)
    if not inner.__module__ or not inner.__module__.startswith("torch") or inner.__module__ == "torch.nn.init" or not _CHECKS.keys() & set(inner.__code__.co_names):
        return None
    return _copied(inner)


def _without_decorators(function):
    """The function under ``functools.wraps``."""
    while hasattr(function, "__wrapped__"):
        function = function.__wrapped__
    return function


def _copied(function: types.FunctionType) -> types.FunctionType:
    names = {**function.__globals__, **_CHECKS, **({"overrides": _NO_OVERRIDES} if "overrides" in function.__code__.co_names else {})}
    copy = types.FunctionType(function.__code__, names, function.__name__, function.__defaults__, function.__closure__)
    copy.__kwdefaults__ = function.__kwdefaults__
    return copy


def composed(recording, function: Callable, args, kwargs) -> tuple[bool, Any]:
    """(True, result) when torch composes the function of ATen ops in C++, and all sizes are fixed: C++ would take a symbolic size as a number."""
    if function in recording.composing or not is_composite(function) or not fixed_sizes((args, kwargs)):
        return False, None
    recording.composing.append(function)
    try:
        args, kwargs = torch.utils._pytree.tree_map_only(RecordedTensor, as_it_is, (args, kwargs))
        with dispatching(recording), torch._C.DisableTorchFunction():
            return True, function(*args, **kwargs)
    finally:
        recording.composing.pop()


@functools.lru_cache(maxsize=None)
def is_composite(function: Callable) -> bool:
    """Whether a function of torch is written in C++ in terms of other ATen ops, in each of its overloads."""
    packet = function.overloadpacket if isinstance(function, torch._ops.OpOverload) else getattr(torch.ops.aten, getattr(function, "__name__", ""), None)
    if not isinstance(packet, torch._ops.OpOverloadPacket):
        return False
    return any(_composite_overload(getattr(packet, name)) for name in packet.overloads() if "out" not in name)


def _composite_overload(overload) -> bool:
    try:
        return overload.has_kernel_for_dispatch_key(torch._C.DispatchKey.CompositeImplicitAutograd)
    except RuntimeError:  # TorchScript's own overloads have no kernels
        return False


def fixed_sizes(value) -> bool:
    """Whether no tensor among the arguments has a symbolic size."""
    leaves = torch.utils._pytree.tree_leaves(value)
    return all(isinstance(s, int) for t in leaves if isinstance(t, RecordedTensor) for s in value_of(t).shape) and not any(type(v) is torch.SymInt for v in leaves)
