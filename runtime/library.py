"""Loading a library that was compiled ahead of time. Needs numpy alone, and milliseconds."""
from __future__ import annotations

import ctypes
import hashlib
import json
import os
import pathlib
import platform
import sys
import threading
from typing import Any, Sequence

import numpy as np

from ..dialect.status import SizeCheck
from ..errors import CompileError, FormatError
from .elf import machine_of_file, needed_size
from .session import Session
from .sizes import stored_size
from .specs import Compiled, Message, Spec

DESCRIPTOR = "onemlir_library"
VERSION = 1
# Words of the descriptor; the entries of the levels follow.
_VERSION, _METADATA, _LEVEL, _WEIGHTS, _FREE, _RELEASE, _PARALLEL_FOR, _POOL, _ENTRIES = range(9)


_lock = threading.Lock()
_loaded: dict[str, dict[tuple[int, int], tuple[str, tuple]]] = {}  # path -> device and inode -> the name to load, time and size


class LibrarySession(Session):
    """A session of a library's code. It pickles as the path of the library."""

    path: str
    _requested: int | None

    def __reduce__(self):
        return load_library, (self.path, self._requested)


def load_library(path: str | os.PathLike, threads: int | None = None) -> LibrarySession:
    """A Session of a compiled library.

    threads: how many threads a run may use; the number that was compiled in unless given, else all processors. FormatError for a file
    that is no library of onemlir's or whose weights beside it are not those it was compiled with; CompileError for one that this
    processor cannot run.
    """
    path = pathlib.Path(path)
    handle = _open(path)
    words = _descriptor(path, handle)
    content = json.loads(ctypes.string_at(words[_METADATA]))
    number = ctypes.c_int32.from_address(words[_LEVEL]).value
    if number < 0:
        wanted = ", ".join(level["cpu"] for level in content["levels"])
        raise CompileError(f"{path}: this processor lacks instructions that the library was compiled for ({wanted}); "
                           "compile it with another cpu=")
    weights, keep = _weights(path, words, content["weights"])
    parameters = [_array(weights + offset, dtype, shape) for offset, dtype, shape in content["levels"][number]["parameters"]]
    messages = {int(code): Message(*message) for code, message in content["messages"].items()}
    compiled = Compiled(words[_ENTRIES + number], words[_FREE], words[_RELEASE], _pool(words), (handle, keep), messages)
    inputs, outputs = (_specs(content[kind]) for kind in ("inputs", "outputs"))
    session = LibrarySession(compiled, inputs, outputs, parameters, threads=threads or content["threads"] or None,
                             structure=_structure(content), checks=_checks(content))
    session.path, session._requested = str(path), threads
    return session


def _open(path: pathlib.Path) -> ctypes.CDLL:
    if not path.is_file():
        raise FileNotFoundError(f"no such file: {path}")
    needed, size = needed_size(path), path.stat().st_size
    if needed is not None and size < needed:
        raise FormatError(f"'{path}' is truncated: {size} bytes, its header needs {needed}")
    try:
        return ctypes.CDLL(_name_to_load(path.resolve()))
    except OSError as error:
        other = machine_of_file(path)
        if other not in (None, platform.machine().lower().replace("amd64", "x86_64")):
            raise FormatError(f"{path} is a library for {other}, but this machine is {sys.platform} on {platform.machine()}") from None
        raise FormatError(f"{path} cannot be loaded as a library: {error}") from None


def _name_to_load(path: pathlib.Path) -> str:
    """A name of the file that no other file had when it was loaded: the dynamic loader takes a name it knows for the library it has.

    FormatError for a file that was written over since it was loaded, under the loaded library's feet.
    """
    found = os.stat(path)
    file, state = (found.st_dev, found.st_ino), (found.st_mtime_ns, found.st_size)
    with _lock:
        loaded = _loaded.setdefault(str(path), {})
        if file not in loaded:
            loaded[file] = f"{path.parent}{'/.' * len(loaded)}/{path.name}", state
        name, before = loaded[file]
    if before != state:
        raise FormatError(f"{path} was changed in place after this process had loaded it: give the new library another name, or replace "
                          "the file")
    return name


def _descriptor(path: pathlib.Path, handle: ctypes.CDLL) -> Sequence[int]:
    try:
        start = ctypes.addressof(ctypes.c_int64.in_dll(handle, DESCRIPTOR))
    except ValueError:
        raise FormatError(f"{path} is a library, but none that onemlir has compiled") from None
    version = ctypes.c_int64.from_address(start).value
    if version != VERSION:
        raise FormatError(f"{path} has interface version {version}, but this onemlir reads {VERSION}: compile the model again")
    fixed = (ctypes.c_int64 * _ENTRIES).from_address(start)
    levels = len(json.loads(ctypes.string_at(fixed[_METADATA]))["levels"])
    return list((ctypes.c_int64 * (_ENTRIES + levels)).from_address(start))


def _pool(words: Sequence[int]):
    """Addresses of `parallel_for` and of the pool's state; None for code without parallel loops."""
    if not words[_PARALLEL_FOR]:
        return None
    found = words[_PARALLEL_FOR], ctypes.c_int64.from_address(words[_POOL]).value
    return lambda: found


def _weights(path: pathlib.Path, words: Sequence[int], beside: dict | None) -> tuple[int, Any]:
    """Address of the weights, and what keeps them."""
    if beside is None:
        return words[_WEIGHTS], None
    file = path.resolve().parent / beside["file"]
    if not file.is_file():
        raise FormatError(f"{path} needs its weights in {file}, which is not there")
    mapped = np.memmap(file, np.uint8, "r") if os.path.getsize(file) else np.empty(0, np.uint8)  # what is empty cannot be mapped
    if mapped.size != beside["size"] or hashlib.sha256(mapped).hexdigest() != beside["sha256"]:
        raise FormatError(f"{file} does not hold the weights that {path} was compiled with (SHA-256 differs)")
    return mapped.ctypes.data, mapped


def _array(address: int, dtype: str, shape: Sequence[int]) -> np.ndarray:
    """The array at an address; it is not copied."""
    kind = _dtype(dtype)
    count = int(np.prod(shape, dtype=np.int64))
    if not count:
        return np.empty(shape, kind)
    memory = (ctypes.c_uint8 * (count * kind.itemsize)).from_address(address)
    return np.frombuffer(memory, kind).reshape(shape)


def _dtype(name: str) -> np.dtype:
    if name == "bfloat16":
        import ml_dtypes

        return np.dtype(ml_dtypes.bfloat16)
    return np.dtype(name)


def _specs(items: Sequence[dict]) -> list[Spec]:
    return [Spec(i["name"], [stored_size(s) for s in i["sizes"]], _dtype(i["dtype"]), i["data_dependent"]) for i in items]


def _checks(content: dict) -> list[SizeCheck]:
    """What is checked of the sizes of inputs before the code runs."""
    return [SizeCheck(comparison, stored_size(left), stored_size(right), message, kind)
            for comparison, left, right, message, kind in content.get("checks", ())]


def _structure(content: dict):
    structure = content["structure"]
    if structure is None:
        return None

    def rebuilt(values: list):
        from ..dialect.structure import rebuild

        return rebuild(structure, values)

    return rebuilt
