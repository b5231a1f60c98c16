"""From an object file to a shared library, archive or executable: by `cc`, else by the linker of the package ziglang."""
from __future__ import annotations

import importlib.util
import os
import pathlib
import shlex
import shutil
import subprocess
import sys
import tempfile

from ...errors import CompileError
from ...lowering.llvm.assembly import tool
from .machines import Machine, this_triple


def archive(object_file: pathlib.Path, path: pathlib.Path) -> None:
    """A static archive, deterministic."""
    path.unlink(missing_ok=True)
    _run([str(tool("llvm-ar")), "rcsD", str(path), str(object_file)])


def shared_library(object_file: pathlib.Path, path: pathlib.Path, machine: Machine) -> None:
    arguments = ["-shared", "-s", str(object_file), "-o", str(path)]
    if machine.system == "darwin":
        arguments += [f"-Wl,-install_name,@rpath/{path.name}", "-Wl,-dead_strip"]
    else:
        arguments += [f"-Wl,-soname,{path.name}", "-Wl,--no-undefined", "-Wl,--build-id=none", "-Wl,--as-needed"]
        arguments += ["-Wl,-z,noexecstack", "-Wl,-z,relro,-z,now"]
    _run([*linker(machine), *arguments, "-lm", "-lpthread"])


def executable(object_file: pathlib.Path, header: pathlib.Path, path: pathlib.Path, machine: Machine, name: str,
               weights: pathlib.Path | None) -> None:  # fmt: skip
    """The object with the C program that reads and writes arrays. weights: a file in the program's folder, where they are not inside."""
    flags = ["-O2", "-s", f"-DMODEL_HEADER=\"{header.name}\"", f"-DMODEL={name}", f"-I{header.parent}"]
    flags += [f"-DWEIGHTS={_c_string(weights.name)}"] if weights else []
    main = pathlib.Path(__file__).parent / "main.c"
    _run([*linker(machine), *flags, str(main), str(object_file), "-o", str(path), "-lm", "-lpthread"])


def _c_string(text: str) -> str:
    """A C literal; every byte that is not plain is written as a number, three digits, so that what follows is not taken in."""
    return '"' + "".join(chr(b) if b < 128 and chr(b).isalnum() or chr(b) in "._- " else f"\\{b:03o}" for b in text.encode()) + '"'


def linker(machine: Machine) -> list[str]:
    """The command that compiles C and links for a machine. CompileError that says what to install where there is none."""
    given = os.environ.get("CC")
    if machine.triple == this_triple():
        found = shlex.split(given) if given else next(([p] for p in map(shutil.which, ("cc", "gcc", "clang")) if p), None)
        if found:
            return found
    elif machine.system == "linux" and (cross := shutil.which(f"{machine.architecture}-linux-gnu-gcc")):
        return [cross]
    if importlib.util.find_spec("ziglang") is not None:
        return [sys.executable, "-m", "ziglang", "cc", "-target", zig_target(machine)]
    what = "this machine" if machine.triple == this_triple() else machine.triple
    raise CompileError(f"no linker for {what}: install a C compiler or `pip install ziglang`, or write an object file (.o) or archive (.a)")


def zig_target(machine: Machine) -> str:
    if machine.system == "darwin":
        return f"{machine.architecture}-macos"
    return f"{machine.architecture}-linux-{'musl' if 'musl' in machine.triple else 'gnu'}"


def _environment() -> dict[str, str]:
    """zig needs a folder to keep its libraries in, also where there is no home to have it in."""
    if os.access(os.environ.get("HOME", ""), os.W_OK):
        return dict(os.environ)
    folder = os.path.join(tempfile.gettempdir(), f"onemlir-zig-{os.getuid()}")
    os.makedirs(folder, mode=0o700, exist_ok=True)
    mine = os.stat(folder).st_uid == os.getuid()
    return {**({"ZIG_GLOBAL_CACHE_DIR": folder} if mine else {}), **os.environ}


def _run(command: list[str]) -> None:
    result = subprocess.run(command, capture_output=True, text=True, env=_environment())
    if result.returncode:
        raise CompileError(f"{shlex.join(command)} failed: {(result.stderr or result.stdout).strip()[:2000]}")
