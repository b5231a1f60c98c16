"""Compiling in a child process: an abort or a hang inside LLVM becomes a CompileError with a reproducer, not the end of the caller.

The request is a folder with `request.json` and the model; the child is `python -m onemlir.runtime.isolation FOLDER`, which is also the
command that a CompileError names.
"""
from __future__ import annotations

import builtins
import io
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
from dataclasses import dataclass

import numpy as np

from .. import errors
from ..errors import CompileError
from .mapped import release_pages

REQUEST, RESULT, CODE, MODULE, PROGRAM = "request.json", "result.json", "code.o", "module.mlirbc", "program.onemodel"
NO_ROOM = 77  # exit status of a child that meets its limit of memory, where there may be none left to write a result


@dataclass(frozen=True)
class Limits:
    """What a child may use: seconds of time, bytes of address space; None for no limit."""

    seconds: float | None = None
    memory: int | None = None


def isolated_code(program, limits: Limits = Limits()):
    """Like `jit.compile_code`, in a child. The weights stay here."""
    from .cached import load_code

    folder = _new_folder()
    buffer = io.BytesIO()
    getattr(program, "program", program).module.operation.write_bytecode(buffer)
    (folder / MODULE).write_bytes(buffer.getvalue())
    result = _run(folder, {"kind": "code", "memory": limits.memory}, limits)
    data = (folder / CODE).read_bytes()
    shutil.rmtree(folder, ignore_errors=True)
    return load_code(result["header"], data)


def isolated_compile(program, path: pathlib.Path, options: dict, limits: Limits = Limits()) -> None:
    """Like `ahead_of_time.compile_program`, in a child."""
    from ..dialect.onemodel_program import save_program

    folder = _new_folder()
    save_program(program, folder / PROGRAM)
    release_pages(map(np.asarray, getattr(program, "program", program).weights.values()))
    if options.get("weights"):
        options = {**options, "weights": os.path.abspath(options["weights"])}
    _run(folder, {"kind": "compile", "path": str(path.absolute()), "options": options, "memory": limits.memory}, limits)
    shutil.rmtree(folder, ignore_errors=True)


def command(folder: pathlib.Path) -> list[str]:
    return [sys.executable, "-m", "onemlir.runtime.isolation", str(folder)]


def _new_folder() -> pathlib.Path:
    return pathlib.Path(tempfile.mkdtemp(prefix="onemlir-compile-"))


def _run(folder: pathlib.Path, request: dict, limits: Limits) -> dict:
    from ..lowering.targets import host

    (folder / REQUEST).write_text(json.dumps({**request, "target": host().name}))
    try:
        child = subprocess.run(command(folder), stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=limits.seconds,
                               cwd=tempfile.gettempdir(), env=_environment())  # fmt: skip
    except KeyboardInterrupt:
        shutil.rmtree(folder, ignore_errors=True)
        raise
    except subprocess.TimeoutExpired:
        raise CompileError(f"compiling took more than {limits.seconds:g} seconds; {_reproducer(folder)}") from None
    result = _result(folder)
    if result is None and child.returncode == NO_ROOM and limits.memory:
        shutil.rmtree(folder, ignore_errors=True)
        raise CompileError(f"{limits.memory / (1 << 20):g} MiB is too little memory to compile")
    if result is None:
        raise CompileError(f"the compiler {_ending(child.returncode)}; {_reproducer(folder)}{_last_lines(child.stderr)}")
    if "error" in result:
        shutil.rmtree(folder, ignore_errors=True)
        raise (getattr(errors, result["error"], None) or getattr(builtins, result["error"]))(result["text"])
    return result


def _environment() -> dict[str, str]:
    """The child finds this package where this process has found it."""
    parent = str(pathlib.Path(__file__).parent.parent.parent)
    search = [p for p in sys.path if p] + [parent] * (pathlib.Path(__file__).parent.parent.name == "onemlir")
    return {**os.environ, "PYTHONPATH": os.pathsep.join(search)}


def _result(folder: pathlib.Path) -> dict | None:
    try:
        return json.loads((folder / RESULT).read_text())
    except (OSError, ValueError):
        return None


def _ending(code: int) -> str:
    if code >= 0:
        return f"ended with status {code} and no result"
    try:
        return f"was ended by {signal.Signals(-code).name}"
    except ValueError:
        return f"was ended by signal {-code}"


def _reproducer(folder: pathlib.Path) -> str:
    return f"the request is kept in {folder}; run it again with: {' '.join(command(folder))}"


def _last_lines(text: str) -> str:
    lines = text.strip().splitlines()[-5:]
    return ("\nIt wrote:\n  " + "\n  ".join(lines)) if lines else ""


def serve(folder: pathlib.Path) -> None:
    """What the child does."""
    request = json.loads((folder / REQUEST).read_text())
    if request["memory"]:
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (request["memory"], request["memory"]))
    os.environ["ONEMLIR_TARGET"] = request["target"]  # the caller may be allowed less of the processor than this process
    try:
        result = {"code": serve_code, "compile": serve_compile}[request["kind"]](folder, request)
    except (errors.OnemlirError, OSError, ImportError, MemoryError) as error:
        if request["memory"] and _no_room(error):
            os._exit(NO_ROOM)
        if isinstance(error, (ImportError, MemoryError)):
            raise
        result = {"error": type(error).__name__, "text": str(error)}
    temporary = folder / f"{RESULT}.new"
    temporary.write_text(json.dumps(result))
    os.replace(temporary, folder / RESULT)


def _no_room(error: Exception) -> bool:
    """Whether memory ran out: also what the dynamic loader says of a library for which there is no address space."""
    return isinstance(error, MemoryError) or any(words in str(error) for words in ("failed to map segment", "annot allocate memory"))


def serve_code(folder: pathlib.Path, request: dict) -> dict:
    from mlir import ir

    from ..dialect import bindings
    from ..dialect.program import Program
    from .cached import code_header, object_bytes
    from .jit import compile_code

    context = bindings.new_context()
    with context, ir.Location.unknown():
        module = ir.Module.parse((folder / MODULE).read_bytes())
    compiled, entries, _ = compile_code(Program(module, {}))
    (folder / CODE).write_bytes(object_bytes(compiled[0].keep))
    return {"header": code_header(compiled, entries)}


def serve_compile(folder: pathlib.Path, request: dict) -> dict:
    from ..dialect.onemodel_program import load_program
    from .ahead_of_time import compile_program

    compile_program(load_program(folder / PROGRAM, verify=False), pathlib.Path(request["path"]), **request["options"])
    return {}


if __name__ == "__main__":
    serve(pathlib.Path(sys.argv[1]))
