"""Sessions that pickle: they carry their object code, weights and signature, and need no compiler where they are unpickled."""
from __future__ import annotations

from typing import Any, Sequence

import numpy as np

from ..errors import CompileError
from .cached import code_header, load_code, object_bytes, processor_features
from .session import Session
from .specs import Compiled, Spec


class PortableSession(Session):
    """A just-in-time session that can be sent to other processes on machines with the same processor features.

    Attributes: `timing` (seconds of lowering, code generation, preparing weights), `cached` (whether the code came from the cache).
    """

    timing: dict[str, float]
    cached: bool

    def __init__(self, compiled: Compiled, inputs: Sequence[Spec], outputs: Sequence[Spec], parameters: Sequence[np.ndarray] = (), *,
                 threads: int | None = None, nesting: Any = None, checks: Sequence = ()):  # fmt: skip
        super().__init__(compiled, inputs, outputs, parameters, threads=threads, structure=_rebuilding(nesting), checks=checks)
        self._nesting, self._requested = nesting, threads

    def __reduce__(self):
        from .pool.library import pool_code

        pool = pool_code() if self._compiled.pool is not None else None
        code = code_header([self._compiled], {}), object_bytes(self._compiled.keep), pool
        features = processor_features()
        return restore, (code, features, self.inputs, self.outputs, self._parameters, self._requested, self._nesting, self._checks)


def restore(code, features: frozenset, inputs, outputs, parameters, threads, nesting, checks=()) -> PortableSession:
    """A pickled session. CompileError where this processor lacks what the code was compiled for."""
    from .jit import aligned

    missing = features - processor_features()
    if missing:
        lacking = ", ".join(sorted(missing)[:8])
        raise CompileError(f"this session was compiled for a processor that also has {lacking}: compile the model here")
    header, data, pool = code
    if pool is not None:
        from .pool.library import offer

        offer(pool)
    (compiled,), _ = load_code(header, data)
    session = PortableSession(compiled, inputs, outputs, [aligned(p) for p in parameters], threads=threads, nesting=nesting, checks=checks)
    session.timing, session.cached = {}, True
    return session


def _rebuilding(nesting: Any):
    """What makes the recorded function's return value of the list of outputs."""
    if nesting is None:
        return None
    from ..dialect.structure import rebuild

    return lambda values: rebuild(nesting, values)
