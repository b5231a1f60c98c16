"""Putting the parts of a library together: levels, pool, interface and weights become one object file."""
from __future__ import annotations

import pathlib
import subprocess
from typing import Sequence

from ...errors import CompileError
from ...lowering.llvm.assembly import tool
from .levels import LevelCode
from .machines import Machine
from .sections import fill, reserve
from .weights import embedding


def object_file(path: pathlib.Path, folder: pathlib.Path, machine: Machine, interface: str, levels: Sequence[LevelCode], parallel: bool,
                exported: Sequence[str], weights: tuple[pathlib.Path, str] | None) -> None:  # fmt: skip
    """Write the object. Only `exported` is visible outside; `weights` are a file and the symbol that it gets."""
    texts = {"interface": interface, **{f"level{n}": level.text for n, level in enumerate(levels)}}
    if parallel:
        texts["pool"] = _pool_text(machine)
    for name, text in texts.items():
        (folder / f"{name}.ll").write_text(text, encoding="utf-8")
    # What is not a level is for every processor of the machine; a function that has a processor of its own keeps it.
    for name in texts.keys() & {"interface", "pool"}:
        source = folder / f"{name}.ll"
        _run("opt", "-O2", "-S", f"-mtriple={machine.triple}", f"-mcpu={machine.baseline}", str(source), "-o", str(source))
    linked = folder / "linked.ll"
    _run("llvm-link", "-S", *(str(folder / f"{name}.ll") for name in texts), "-o", str(linked))
    public = ",".join(exported)
    _run("opt", "-S", "-passes=internalize,globaldce", f"-internalize-public-api-list={public}", str(linked), "-o", str(linked))
    elf = machine.system != "darwin"
    if weights:
        with open(linked, "a", encoding="utf-8") as file:
            file.write("\n" + (reserve(_section(weights), weights[1]) if elf else embedding(*weights)) + "\n")
    _run("llc", "-O3", "-filetype=obj", "-relocation-model=pic", f"-mtriple={machine.triple}", str(linked), "-o", str(path))
    if weights and elf:
        fill(path, _section(weights), weights[0])


def _section(weights: tuple[pathlib.Path, str]) -> str:
    return f".rodata.{weights[1]}"


def _pool_text(machine: Machine) -> str:
    from mlir import ir
    from mlir.dialects import llvm

    from ..pool.source import pool_module

    with ir.Context() as context:
        context.enable_multithreading(False)
        return llvm.translate_module_to_llvmir(pool_module(context, machine.architecture, machine.system).operation)


def _run(name: str, *arguments: str) -> None:
    result = subprocess.run([str(tool(name)), *arguments], capture_output=True, text=True)
    if result.returncode:
        raise CompileError(f"{name} {' '.join(arguments)} failed: {result.stderr.strip()[:2000]}")
