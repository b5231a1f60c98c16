"""The just-in-time engine: a module in the LLVM dialect becomes machine code in this process."""
from __future__ import annotations

import ctypes
import time
from dataclasses import dataclass
from typing import Mapping, Sequence

from ..errors import CompileError
from .object_loader import LoadedObject
from .objects import join_objects
from .pool import pool_functions
from .specs import Compiled, Message


@dataclass
class Timing:
    """Seconds that the compilation took."""

    seconds: float = 0.0


def compile_module(module, entry: str = "entry", messages: Mapping[int, Message] | None = None, timing: Timing | None = None) -> Compiled:
    """Machine code of a module that `to_llvm` has lowered, for this processor at O3."""
    start = time.perf_counter()
    (compiled,) = compile_entries(module, (entry,), messages)
    if timing is not None:
        timing.seconds = time.perf_counter() - start
    return compiled


def compile_entries(module, entries: Sequence[str], messages: Mapping[int, Message] | None = None) -> list[Compiled]:
    """Machine code of a module with several entry wrappers; one `Compiled` for each."""
    engine, (*addresses, free, release) = load(module, (*entries, "onemlir_free", "onemlir_release"))
    pool = pool_functions if _has_parallel_loops(module) else None
    return [Compiled(entry=at, free=free, release=release, pool=pool, keep=engine, messages=dict(messages or {})) for at in addresses]


def _has_parallel_loops(module) -> bool:
    return any(op.attributes["sym_name"].value.endswith("_thunk") for op in module.body.operations if "sym_name" in op.attributes)


def load(module, exported: Sequence[str]) -> tuple[LoadedObject, list[int]]:
    """Compile at O3; what owns the code, and the addresses of the exported functions."""
    from .code_generator import object_code

    _refuse_undefined(module)
    loaded = LoadedObject(join_objects(object_code(module)))
    return loaded, loaded.addresses(exported)


def _refuse_undefined(module) -> None:
    """A call of a function that no library of this process has would end the process."""
    process = ctypes.CDLL(None)
    for op in module.body.operations:
        if op.operation.name == "llvm.func" and not len(op.regions[0].blocks):
            name = op.attributes["sym_name"].value
            if not name.startswith("llvm.") and not hasattr(process, name):
                raise CompileError(f"compiled code calls '{name}', which does not exist; an operation was left that has no lowering")

