"""Running pipelines that mix our passes and upstream's. A step that fails leaves a reproducer where a place for it is known."""
from __future__ import annotations

from typing import Callable, Sequence

from mlir import ir
from mlir.passmanager import PassManager

from ..dialect.bindings import collect_diagnostics, Diagnostic
from ..errors import CompileError, OnemlirError
from .pipeline_text import parse_pipeline, Step  # noqa: F401  parse_pipeline is part of this module's interface
from .registry import parse_options, PASSES

Observer = Callable[[str, ir.Module], None]


def run_pipeline(module: ir.Module, steps: Sequence[Step | str], observe: Observer | None = None) -> None:
    """Run steps in order; `observe(name, module)` is called after each. CompileError names the step that failed."""
    for step in (Step(s) if isinstance(s, str) else s for s in steps):
        run_step(module, step)
        if observe:
            observe(step.name, module)


def run_step(module: ir.Module, step: Step) -> None:
    """Run one pass. What it raises is an OnemlirError; CompileError when it failed for another reason than the model."""
    try:
        _run_ours(module, step) if step.ours else _run_upstream(module, step)
    except OnemlirError:
        raise
    except Exception as error:
        raise CompileError(f"pass '{step.name}' failed: {type(error).__name__}: {error}") from error


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
            raise CompileError(f"unknown pass or wrong options: '{step.text}': {str(error).splitlines()[0]}") from None
        try:
            if not module.operation.verify():
                raise OnemlirError("the module is invalid")
            manager.run(module.operation)
        except (ir.MLIRError, OnemlirError) as error:
            detail = "\n".join(map(str, found)) or str(error)
            raise CompileError(f"pass '{step.name}' failed: {detail}") from None
