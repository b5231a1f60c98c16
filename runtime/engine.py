"""The just-in-time engine: a module in the LLVM dialect becomes machine code in this process."""
from __future__ import annotations

import ctypes
import time
from dataclasses import dataclass
from typing import Mapping, Sequence

from ..errors import CompileError
from .pool import pool_functions
from .specs import Compiled, Message

_ADDRESSES = "onemlir_addresses"


@dataclass
class Timing:
    """Seconds that the compilation took."""

    seconds: float = 0.0


def compile_module(module, entry: str = "entry", messages: Mapping[int, Message] | None = None, timing: Timing | None = None) -> Compiled:
    """Machine code of a module that `to_llvm` has lowered, for this processor at O3. The module gains one function."""
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


def load(module, exported: Sequence[str]):
    """Compile at O3; the engine (which owns the code) and the addresses of the exported functions."""
    from mlir.execution_engine import ExecutionEngine

    _refuse_undefined(module)
    _add_addresses(module, exported)
    with module.context:
        engine = ExecutionEngine(module, opt_level=3, enable_object_dump=True, enable_pic=True)  # the cache keeps the object code
    return engine, _addresses(engine, len(exported))


def _refuse_undefined(module) -> None:
    """A call of a function that no library of this process has would end the process."""
    process = ctypes.CDLL(None)
    for op in module.body.operations:
        if op.operation.name == "llvm.func" and not len(op.regions[0].blocks):
            name = op.attributes["sym_name"].value
            if not name.startswith("llvm.") and not hasattr(process, name):
                raise CompileError(f"compiled code calls '{name}', which does not exist; an operation was left that has no lowering")


def _add_addresses(module, exported: Sequence[str]) -> None:
    """A function that stores the address of each exported one: the engine itself only finds wrappers."""
    from mlir import ir

    known = [op.operation for op in module.body.operations if "sym_name" in op.attributes]
    kinds = {op.attributes["sym_name"].value: op.attributes["function_type"] for op in known if "function_type" in op.attributes}
    declarations = [f'"llvm.func"() <{{sym_name = "{n}", function_type = {kinds[n]}, linkage = #llvm.linkage<external>}}> ({{}}) : () -> ()'
                    for n in exported]  # fmt: skip
    lines = []
    for i, name in enumerate(exported):
        lines += [
            f"%f{i} = llvm.mlir.addressof @{name} : !llvm.ptr",
            f"%p{i} = llvm.getelementptr %out[{i}] : (!llvm.ptr) -> !llvm.ptr, i64",
            f"llvm.store %f{i}, %p{i} : !llvm.ptr, !llvm.ptr",
        ]
    body = "\n  ".join(lines)
    text = "\n".join(declarations) + f"\nllvm.func @{_ADDRESSES}(%out: !llvm.ptr) {{\n  {body}\n  llvm.return\n}}"
    parsed = ir.Module.parse(text, module.context)
    with ir.InsertionPoint(module.body), ir.Location.unknown(module.context):
        parsed.body.operations[len(exported)].operation.clone()


def _addresses(engine, count: int) -> list[int]:
    found = (ctypes.c_int64 * count)()
    argument = ctypes.c_void_p(ctypes.addressof(found))
    packed = (ctypes.c_void_p * 1)(ctypes.addressof(argument))
    ctypes.CFUNCTYPE(None, ctypes.c_void_p)(engine.raw_lookup(_ADDRESSES))(ctypes.addressof(packed))
    return list(found)
