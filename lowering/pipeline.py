"""Textual pipelines that mix our passes and upstream's: ``builtin.module(om-decompose,om-to-linalg,canonicalize,cse)``."""
from __future__ import annotations

from dataclasses import dataclass
from typing import Callable, Iterator, Sequence

from mlir import ir
from mlir.passmanager import PassManager

from ..dialect.bindings import collect_diagnostics, Diagnostic
from ..errors import CompileError, OnemlirError
from .registry import parse_options, PASSES


@dataclass(frozen=True)
class Step:
    """One entry of a pipeline: a name (or a nested upstream pipeline as text) and its options."""

    text: str

    @property
    def name(self) -> str:
        return self.text.partition("{")[0].strip()

    @property
    def options(self) -> dict[str, str]:
        body = self.text.partition("{")[2].rstrip().removesuffix("}")
        return dict(item.partition("=")[::2] for item in body.split()) if body else {}

    @property
    def ours(self) -> bool:
        return self.name in PASSES


def parse_pipeline(text: str) -> list[Step]:
    """Steps of ``builtin.module(a,b{x=1},func.func(c))``, or of a bare comma-separated list. ValueError for unbalanced brackets."""
    text = text.strip()
    if text.startswith("builtin.module("):
        if not text.endswith(")"):
            raise ValueError(f"pipeline is not closed: {text!r}")
        text = text[len("builtin.module("):-1]
    return [Step(part.strip()) for part in _split(text) if part.strip()]


def _split(text: str) -> Iterator[str]:
    depth, start = 0, 0
    for place, character in enumerate(text):
        depth += character in "({"
        depth -= character in ")}"
        if depth < 0:
            raise ValueError(f"pipeline has an unmatched '{character}' at {place}: {text!r}")
        if character == "," and depth == 0:
            yield text[start:place]
            start = place + 1
    if depth:
        raise ValueError(f"pipeline is not closed: {text!r}")
    yield text[start:]


def run_pipeline(module: ir.Module, steps: Sequence[Step | str], observe: Callable[[str, ir.Module], None] | None = None) -> None:
    """Run steps in order; `observe(name, module)` is called after each. CompileError names the step that failed."""
    for step in (Step(s) if isinstance(s, str) else s for s in steps):
        if step.ours:
            _run_ours(module, step)
        else:
            _run_upstream(module, step)
        if observe:
            observe(step.name, module)


def _run_ours(module: ir.Module, step: Step) -> None:
    definition = PASSES[step.name]
    try:
        options = parse_options(definition, step.options)
    except ValueError as error:
        raise CompileError(str(error)) from None
    with module.context, ir.Location.unknown():
        definition.apply(module, **options)


def _run_upstream(module: ir.Module, step: Step) -> None:
    """An upstream pass. The module is verified first: upstream passes end the process on invalid IR."""
    found: list[Diagnostic] = []
    with module.context, ir.Location.unknown(), collect_diagnostics(module.context, found):
        try:
            manager = PassManager.parse(f"builtin.module({step.text})")
        except (ValueError, ir.MLIRError) as error:
            raise CompileError(f"unknown pass or wrong options: '{step.text}': {error}") from None
        try:
            if not module.operation.verify():
                raise OnemlirError("the module is invalid")
            manager.run(module.operation)
        except (ir.MLIRError, OnemlirError) as error:
            detail = "\n".join(map(str, found)) or str(error)
            raise CompileError(f"pass '{step.name}' failed: {detail}") from None
