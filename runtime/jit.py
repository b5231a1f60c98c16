"""From a program to a ready Session: lower, compile for this processor, run @prepare on the weights."""
from __future__ import annotations

import os
import time
from typing import Callable

import numpy as np

from ..errors import OnemlirError
from .forking import whole_in_child
from .heap import release_code, trim
from .mapped import mapping_of, release_pages
from .portable import PortableSession
from .session import Session
from .specs import Compiled, Message, Spec

ALIGNMENT = 64  # bytes; vectors of prepared weights then do not straddle cache lines


@whole_in_child()
def jit_session(program, threads: int | None = None, dump=None, observe: Callable | None = None, *, cache: bool = True,
                isolate: bool = False, time_limit: float | None = None, memory_limit: int | None = None) -> PortableSession:  # fmt: skip
    """A Session of a program for this processor.

    dump: a folder into which the text of each stage is written. observe: `observe(stage, module)` is called after each stage and may
    change the module. cache: take the code from the compile cache and keep it there; not with `dump` or `observe`. isolate: compile in a
    child process, with limits in seconds and bytes; not where something is registered in this process that the child does not know.

    `session.timing` has the seconds of lowering, code generation and preparing weights; `session.cached` tells where the code came from.
    """
    from ..dialect.size_checks import size_checks
    from .cached import program_key, read_code, registered_here, write_code
    from .isolation import isolated_code, Limits

    start = time.perf_counter()
    plain = dump is None and observe is None and os.environ.get("ONEMLIR_VERIFY_EACH", "0") != "1"
    key = program_key(program) if cache and plain else None
    found = read_code(key)
    if found is None and isolate and plain and not registered_here():
        code, entries, lowered = (*isolated_code(program, Limits(time_limit, memory_limit)), start)
    else:
        code, entries, lowered = (*found, start) if found else compile_code(program, dump, observe)
    generated = time.perf_counter()
    inputs, outputs = specs(program)
    parameters = prepared_parameters(program, code[1:], entries, threads)
    session = PortableSession(code[0], inputs, outputs, parameters, threads=threads, nesting=program.structure, checks=size_checks(program))
    session.timing = {"lower": lowered - start, "generate": generated - lowered, "prepare": time.perf_counter() - generated}
    session.cached = found is not None
    release_pages(map(np.asarray, getattr(program, "program", program).weights.values()))
    if not found:
        write_code(key, code, entries)
        release_code(generated - start)
        trim()
    return session


def compile_code(program, dump=None, observe: Callable | None = None) -> tuple[list[Compiled], dict[str, list], float]:
    """Functions of this process for @main and @prepare, the names of their parameters, and the time at which lowering was done."""
    from ..lowering.compilation import lower
    from .engine import compile_entries

    entries: dict[str, list] = {}
    module = lower(program, observe=observer(entries, dump, observe))
    lowered = time.perf_counter()
    symbols = ["entry"] + ["prepare_entry"] * ("prepare" in entries)
    return compile_entries(module, symbols, messages=read_messages(module)), entries, lowered


def observer(entries: dict[str, list[str]], dump, further: Callable | None = None) -> Callable:
    """Notes the parameters of each entry function once @prepare is split off, and writes dumps."""
    def observe(stage: str, module) -> None:
        if further is not None:
            further(stage, module)
        if stage == "prepare":
            entries.update(parameter_names(module))
        if stage == "loops":
            entries["unused"] = unused_parameters(module)
        if dump is not None:
            import pathlib

            folder = pathlib.Path(dump)
            folder.mkdir(parents=True, exist_ok=True)
            (folder / f"{stage}.mlir").write_text(str(module), encoding="utf-8")
    return observe


def parameter_names(module) -> dict[str, list]:
    """For each function, the names of its parameters in order; under "results" the shapes and dtypes of what @prepare gives."""
    from mlir import ir

    found: dict[str, list] = {}
    for function in module.body.operations:
        operation = function.operation
        if operation.name != "func.func":
            continue
        name = ir.StringAttr(operation.attributes["sym_name"]).value
        roles = [ir.DictAttr(a) for a in ir.ArrayAttr(operation.attributes["arg_attrs"])]
        found[name] = [ir.StringAttr(r["om.name"]).value for r in roles if ir.StringAttr(r["om.role"]).value == "parameter"]
        if name == "prepare":
            found["results"] = [_spec_of(t) for t in ir.FunctionType(ir.TypeAttr(operation.attributes["function_type"]).value).results]
    return found


def unused_parameters(module) -> list[str]:
    """Parameters that only stood for the meaning of a kernel: @main does not read them once loops are made."""
    from mlir import ir

    from ..dialect.program import entry_function

    function = entry_function(module)
    roles = [ir.DictAttr(a) for a in ir.ArrayAttr(function.attributes["arg_attrs"])]
    pairs = [(role, value) for role, value in zip(roles, function.regions[0].blocks[0].arguments) if "om.name" in role]
    return [ir.StringAttr(role["om.name"]).value for role, value in pairs if not any(True for _ in value.uses)]


def _spec_of(type) -> tuple:
    from mlir import ir

    from ..dialect import dtypes

    shaped = ir.RankedTensorType(type)
    return tuple(shaped.shape), dtypes.FROM_MLIR_NAME[str(shaped.element_type)]


def read_messages(module) -> dict[int, Message]:
    """What the status codes of a module mean."""
    from mlir import ir

    if "om.messages" not in module.operation.attributes:
        return {}
    attribute = ir.ArrayAttr(module.operation.attributes["om.messages"])
    pairs = [[ir.StringAttr(text).value for text in ir.ArrayAttr(pair)] for pair in attribute]
    return {code: Message(kind, text) for code, (kind, text) in enumerate(pairs, 1)}


def specs(program) -> tuple[list[Spec], list[Spec]]:
    """Descriptions of inputs and outputs; an output with an axis that no input has is allocated by compiled code."""
    inputs = program.inputs
    known = {s.name for spec in inputs for size in spec.type.shape if not isinstance(size, int) for s in size.symbols()}

    def depends_on_data(spec) -> bool:
        return any(s.name not in known for size in spec.type.shape if not isinstance(size, int) for s in size.symbols())

    return ([Spec(s.name, s.type.shape, s.dtype) for s in inputs],
            [Spec(s.name, s.type.shape, s.dtype, depends_on_data(s)) for s in program.outputs])


def prepared_parameters(program, prepare: list[Compiled], entries: dict[str, list], threads: int | None) -> list[np.ndarray]:
    """The arrays of @main's parameters: weights that nobody else can change, and what @prepare makes of them."""
    unused = {name for name in entries.get("unused", ()) if not name.startswith("@prepare.")}
    given = [name for name in entries["main"] if not name.startswith("@prepare.")]
    arrays = {name: np.empty(0, np.uint8) if name in unused else own(weight(program, name)) for name in given}
    for compiled in prepare:
        for number, array in enumerate(run_prepare(program, compiled, entries, threads)):
            arrays[f"@prepare.{number}"] = array
    return [arrays[name] for name in entries["main"]]


def run_prepare(program, compiled: Compiled, entries: dict[str, list], threads: int | None) -> list[np.ndarray]:
    """The results of @prepare, 64-byte aligned."""
    outputs = [Spec(str(i), shape, dtype) for i, (shape, dtype) in enumerate(entries["results"])]
    session = Session(compiled, [], outputs, [weight(program, name) for name in entries["prepare"]], threads=threads, structure=list)
    session.allocate = aligned_empty
    return session()


def aligned(array: np.ndarray) -> np.ndarray:
    """The array in memory that starts at a multiple of 64 bytes."""
    if array.ctypes.data % ALIGNMENT == 0:
        return array
    result = aligned_empty(array.shape, array.dtype)
    result[...] = array
    return result


def aligned_empty(shape: tuple[int, ...], dtype: np.dtype) -> np.ndarray:
    """A new array in memory that starts at a multiple of 64 bytes."""
    size = int(np.prod(shape, dtype=np.int64)) * dtype.itemsize
    memory = np.empty(size + ALIGNMENT, np.uint8)
    offset = -memory.ctypes.data % ALIGNMENT
    return memory[offset:offset + size].view(dtype).reshape(shape)


def own(array: np.ndarray) -> np.ndarray:
    """The array itself where it is mapped read-only from a file; else a copy: a session keeps weights that a model changes."""
    if mapping_of(array) is not None:
        return array
    copy = aligned_empty(array.shape, array.dtype)
    copy[...] = array
    return copy


def weight(program, name: str) -> np.ndarray:
    """A weight by name. OnemlirError when the program does not have it."""
    if name not in program.weights:
        raise OnemlirError(f"the program has no weight '{name}'")
    return np.asarray(program.weights[name])
