"""torch functions that are written in Python: they are recorded by running their body on recorded tensors.

Each begins with a check that hands the call to the function mode. The body runs with a copy of its module's names in which that check
answers no, so that the mode sees the functions that the body calls.
"""
from __future__ import annotations

import functools
import types
from typing import Callable

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
    if not inner.__module__ or not inner.__module__.startswith("torch") or not _CHECKS.keys() & set(inner.__code__.co_names):
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
