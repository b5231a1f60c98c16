"""The help page of `onemlir-opt`: options, our passes, upstream's passes by group."""
from __future__ import annotations

import pathlib

from .arguments import OPTIONS

USAGE = """onemlir-opt: run passes on MLIR

usage: onemlir-opt [options] [file]      reads standard input without a file (or with -)

Every pass is an option of its own, with its options as --name="option=value option=value"; passes run in the order given.
Without passes the input is parsed, verified and printed.
"""
DIALECTS = ("acc", "affine", "amdgpu", "arith", "arm-neon", "arm-sme", "arm-sve", "async", "emitc", "gpu", "linalg", "llvm", "math",
            "memref", "ml-program", "mpi", "nvgpu", "nvvm", "omp", "quant", "scf", "shape", "shard", "sparse", "spirv", "tensor", "tosa",
            "transform", "vector", "xegpu")


def upstream_passes() -> dict[str, str]:
    """Upstream's passes with their summaries, as mlir-opt of this version lists them."""
    text = (pathlib.Path(__file__).parent / "upstream_passes.txt").read_text(encoding="utf-8")
    return dict(line.split("\t") for line in text.splitlines())


def group_of(name: str) -> str:
    """The heading under which an upstream pass is listed."""
    if name.startswith("convert-") or "-to-" in name:
        return "conversion"
    if "buffer" in name:
        return "bufferization"
    return next((dialect for dialect in DIALECTS if name.startswith(dialect)), "general")


def help_text() -> str:
    """The whole page."""
    from ...lowering.registry import known_passes

    ours = known_passes()
    parts = [USAGE, section("Options", {name: text for name, (_, text) in OPTIONS.items()}),
             section("Passes of onemlir", {p.name: summary(p) for p in ours.values() if p.builtin})]
    added = {p.name: summary(p) for p in ours.values() if not p.builtin}
    parts += [section("Passes of extensions", added)] if added else []
    groups: dict[str, dict[str, str]] = {}
    for name, text in upstream_passes().items():
        groups.setdefault(group_of(name), {})[name] = text
    parts += [section(f"Upstream passes: {group}", groups[group]) for group in sorted(groups, key=lambda g: (g != "general", g))]
    return "\n".join(parts)


def summary(definition) -> str:
    """First line of the documentation, with the options and their defaults."""
    options = " ".join(f"{name}={value}" for name, value in definition.options.items())
    return definition.summary + (f" [{options}]" if options else "")


def section(title: str, entries: dict[str, str]) -> str:
    lines = [f"  --{name:<38} {text}".rstrip() for name, text in entries.items()]
    return "\n".join([f"{title}:", *lines, ""])


def version_text() -> str:
    """Versions of this package and of the bindings, whose number is that of LLVM."""
    from importlib.metadata import version

    return f"onemlir {version('onemlir')}, MLIR {version('xtc-mlir-python-bindings')}"


def dialects_text() -> str:
    """One line per namespace of declared ops."""
    from collections import Counter

    from ...dialect import bindings  # noqa: F401  loads the declarations and extensions
    from ...dialect.declare import REGISTRY

    counts = Counter(op.namespace for op in REGISTRY.values())
    return "\n".join(f"{name}: {count} ops" for name, count in sorted(counts.items()))
