"""The pool of this process: compiled when it is first needed, and never unloaded, as its workers sleep in its code."""
from __future__ import annotations

import ctypes
import functools
import threading

_lock = threading.Lock()


def pool_functions() -> tuple[int, int]:
    """Addresses of `parallel_for` and of the pool's state."""
    with _lock:
        return _compile()


@functools.lru_cache(maxsize=None)
def _compile() -> tuple[int, int]:
    from ..cached import cached_functions
    from .source import EXPORTED, pool_source

    keep, (create, parallel_for) = cached_functions("pool", pool_source(), EXPORTED, _module)
    ctypes.pythonapi.Py_IncRef(ctypes.py_object(keep))
    return parallel_for, ctypes.CFUNCTYPE(ctypes.c_void_p)(create)()


def _module():
    from mlir import ir

    from .source import pool_module

    context = ir.Context()
    context.enable_multithreading(False)
    with context:
        return pool_module(context)
