"""The pool of this process: compiled when it is first needed, and never unloaded, as its workers sleep in its code."""
from __future__ import annotations

import ctypes
import functools
import threading

_lock = threading.Lock()
_offered: bytes | None = None


def offer(code: bytes) -> None:
    """Object code of the pool, from a pickled session, to be used where none is loaded yet: no compiler is needed then."""
    global _offered
    _offered = code


def pool_code() -> bytes:
    """Object code of the pool, for a session that is pickled."""
    from ..cached import object_bytes

    with _lock:
        return object_bytes(_compile()[2])


def pool_functions() -> tuple[int, int]:
    """Addresses of `parallel_for` and of the pool's state."""
    with _lock:
        return _compile()[:2]


@functools.lru_cache(maxsize=None)
def _compile() -> tuple:
    """Addresses of `parallel_for` and of the pool's state, and what keeps the code."""
    from ..cached import cached_functions
    from .source import EXPORTED, pool_source

    if _offered is not None:
        from ..object_loader import LoadedObject

        keep = LoadedObject(_offered)
        create, parallel_for = keep.addresses(EXPORTED[:2])
    else:
        keep, (create, parallel_for) = cached_functions("pool", pool_source(), EXPORTED[:2], _module)
    ctypes.pythonapi.Py_IncRef(ctypes.py_object(keep))
    return parallel_for, ctypes.CFUNCTYPE(ctypes.c_void_p)(create)(), keep


def _module():
    from mlir import ir

    from .source import pool_module

    context = ir.Context()
    context.enable_multithreading(False)
    with context:
        return pool_module(context)
