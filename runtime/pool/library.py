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
    from mlir import ir

    from ..engine import load
    from .source import EXPORTED, pool_module

    with ir.Context() as context:
        context.enable_multithreading(False)
        engine, (create, parallel_for) = load(pool_module(context), EXPORTED)
    ctypes.pythonapi.Py_IncRef(ctypes.py_object(engine))
    return parallel_for, ctypes.CFUNCTYPE(ctypes.c_void_p)(create)()
