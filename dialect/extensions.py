"""Extensions: packages that name modules of theirs under an entry point of ours. The modules are imported once, when they are needed.

    [project.entry-points."onemlir.ops"]        # declarations of ops
    mine = "my_package.ops"

    [project.entry-points."onemlir.passes"]     # passes, rewrite patterns, lowerings, decompositions, ONNX writers, tile tables
    mine = "my_package.passes"

    [project.entry-points."onemlir.readers"]    # readers of ONNX operators, imported when an ONNX file is read
    mine = "my_package.readers"

ONEMLIR_EXTENSIONS=0 in the environment leaves them out.
"""
from __future__ import annotations

import functools
import importlib
import os
import sys

from ..errors import OnemlirError

GROUPS = ("onemlir.ops", "onemlir.passes")


@functools.lru_cache(maxsize=None)
def load_extensions(group: str) -> tuple[str, ...]:
    """Import the modules named under a group; their names. OnemlirError names the extension that cannot be imported."""
    if os.environ.get("ONEMLIR_EXTENSIONS", "1") == "0":
        return ()
    found = entry_points(group)
    for name, module in found:
        try:
            importlib.import_module(module)
        except Exception as error:
            raise OnemlirError(f"the extension '{name}' ({group}) cannot be imported from {module}: {type(error).__name__}: {error}; "
                               "ONEMLIR_EXTENSIONS=0 leaves extensions out") from error
    return tuple(name for name, _ in found)


def entry_points(group: str) -> list[tuple[str, str]]:
    """(name, module) under a group, by name."""
    return sorted({(name, module) for found, name, module, _ in _installed() if found == group})


def load_all() -> dict[str, str]:
    """Import all extensions; the version of each module's package that tells one, by module name."""
    if not any([load_extensions(group) for group in GROUPS]):
        return {}
    return {module: version for group, _, module, version in _installed() if group in GROUPS and version}


@functools.lru_cache(maxsize=None)
def _installed() -> tuple[tuple[str, str, str, str], ...]:
    """(group, name, module, version) of each entry point of ours; read from the files, since importing importlib.metadata takes longer than
    all the rest."""
    found = []
    for distribution in distributions():
        found += [(*point, version_of(distribution)) for point in _read(os.path.join(distribution, "entry_points.txt"))]
    return tuple(found)


@functools.lru_cache(maxsize=None)
def distributions() -> tuple[str, ...]:
    """Folders that describe what is installed, in the order of the search path."""
    folders = filter(os.path.isdir, dict.fromkeys(path or "." for path in sys.path))
    return tuple(os.path.join(folder, name) for folder in folders for name in os.listdir(folder) if name.endswith((".dist-info", ".egg-info")))


def version_of(distribution: str) -> str:
    """The version in a distribution's metadata, "" where it has none."""
    for name in ("METADATA", "PKG-INFO"):
        try:
            with open(os.path.join(distribution, name), encoding="utf-8") as file:
                return next((line.partition(":")[2].strip() for line in file if line.startswith("Version:")), "")
        except OSError:
            continue
    return ""


def _read(path: str) -> list[tuple[str, str, str]]:
    try:
        with open(path, encoding="utf-8") as file:
            text = file.read()
    except OSError:
        return []
    found, group = [], ""
    for line in map(str.strip, text.splitlines() if "[onemlir." in text else ()):
        if line.startswith("["):
            group = line.strip("[]")
        elif "=" in line:
            name, _, value = line.partition("=")
            found.append((group, name.strip(), value.partition(":")[0].strip()))
    return found
