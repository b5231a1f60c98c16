"""Running pipelines that mix our passes and upstream's."""
from __future__ import annotations

import re
from difflib import get_close_matches
from typing import Callable, Sequence

from mlir import ir
from mlir.passmanager import PassManager

from ..dialect.bindings import collect_diagnostics, Diagnostic, location_text
from ..dialect.verify import verify as verify_module
from ..errors import CompileError, OnemlirError
from .contracts import broken
from .pipeline_text import parse_pipeline, Step  # noqa: F401  parse_pipeline is part of this module's interface
from .registry import parse_options, PASSES

Observer = Callable[[str, ir.Module], None]


def run_pipeline(module: ir.Module, steps: Sequence[Step | str], observe: Observer | None = None) -> None:
    """Run steps in order; `observe(name, module)` is called after each. CompileError names the step that failed."""
    for step in (Step(s) if isinstance(s, str) else s for s in steps):
        run_step(module, step)
        if observe:
            observe(step.name, module)


def run_step(module: ir.Module, step: Step, verify: bool = True, notices: list[Diagnostic] | None = None) -> None:
    """Run one pass. verify: ask before whether the pass accepts the module, and verify it after. What is raised is an OnemlirError, with a
    line ``file:line:column: error: …`` for each diagnostic; the place is the module's where a failure has none of its own. Warnings and
    remarks go into `notices`."""
    found: list[Diagnostic] = []
    with module.context, ir.Location.unknown(), collect_diagnostics(module.context, found, notices):
        run = _prepared(step, found, verify)
        if verify and step.ours:
            _refuse_unaccepted(module, step)
        try:
            run(module)
        except OnemlirError as error:
            raise _located(error, module) from error.__cause__
        except Exception as error:
            if INTERRUPTED.search(str(error)):
                raise KeyboardInterrupt from error
            raise _failure(module, step, found, error) from error
        if found:
            raise _failure(module, step, found, None)
    if verify and step.ours:
        _verify_after(module, step)


class UnknownPass(CompileError):
    """No pass has this name, or it does not take these options."""


def check_steps(steps: Sequence[Step], context: ir.Context) -> None:
    """UnknownPass for the first step whose pass or options do not exist."""
    with context, ir.Location.unknown():
        for step in steps:
            _prepared(step, [])


def _prepared(step: Step, found: list[Diagnostic], verify: bool = True) -> Callable[[ir.Module], None]:
    """What runs the pass on a module."""
    if not step.ours:
        manager = _manager(step)
        manager.enable_verifier(verify)
        return lambda module: _run_upstream(module, manager, step, found)
    if step.anchors and set(step.anchors) != {"builtin.module"}:
        raise UnknownPass(f"pass '{step.name}' works on the module: it cannot stand inside of {'('.join(step.anchors)}(...)")
    try:
        options = parse_options(PASSES[step.name], step.options)
    except ValueError as error:
        raise UnknownPass(str(error)) from None
    return lambda module: PASSES[step.name].apply(module, **options)


def _manager(step: Step) -> PassManager:
    """Of an upstream pass; one that works on another op than the module is nested in it, as mlir-opt does with passes given as options."""
    try:
        return PassManager.parse(f"builtin.module({step.text})")
    except (ValueError, ir.MLIRError) as error:
        anchor = RESTRICTED.search(str(error))
        if anchor and not step.anchors:
            return _manager(Step(f"{anchor.group(1)}({step.text})"))
        reasons = [line.removeprefix("MLIR Textual PassPipeline Parser:").strip() for line in str(error).splitlines()]
        reason = next(filter(None, reasons), "").partition("error: ")
        similar = get_close_matches(step.name, PASSES, 1, 0.8)
        hint = f"; did you mean '{similar[0]}'?" if similar and "does not refer to" in str(error) else ""
        raise UnknownPass(f"unknown pass or wrong options: '{step.text}': {reason[2] or reason[0]}{hint}") from None


INTERRUPTED = re.compile(r"\nKeyboardInterrupt[:\s]*$")  # the end of what the bindings say of Ctrl-C in a rewrite pattern
RESTRICTED = re.compile(r"restricted to '([\w.]+)'")
NOT_ON_MODULES = "unable to schedule pass"


def _run_upstream(module: ir.Module, manager: PassManager, step: Step, found: list[Diagnostic]) -> None:
    """The module is verified first: upstream passes end the process on invalid IR."""
    if not module.operation.verify():
        raise ValueError("the module is invalid")
    try:
        manager.run(module.operation)
    except ir.MLIRError:
        if step.anchors or not any(NOT_ON_MODULES in d.message for d in found):
            raise
        found.clear()  # a pass on any function: nothing has run
        _manager(Step(f"func.func({step.text})")).run(module.operation)


def _refuse_unaccepted(module: ir.Module, step: Step) -> None:
    problems = broken(module, PASSES[step.name].requires)
    if problems:
        raise CompileError("\n".join(_line(module, p.location, f"{p.message} (pass '{step.name}')") for p in problems))


def _verify_after(module: ir.Module, step: Step) -> None:
    problems = verify_module(module)
    if problems:
        lines = [_line(module, p.location, f"{p.message} (after pass '{step.name}')") for p in problems]
        raise CompileError("\n".join(lines))


def _failure(module: ir.Module, step: Step, found: list[Diagnostic], error: Exception | None) -> CompileError:
    """What MLIR reported while a pass ran, else what the pass raised."""
    if found:
        return CompileError("\n".join(_line(module, d.location, f"{d.message} (pass '{step.name}')", d.notes) for d in found))
    reason = str(error) if isinstance(error, ir.MLIRError) else f"{type(error).__name__}: {error}"
    return CompileError(_line(module, "", f"pass '{step.name}' failed: {reason}"))


def _located(error: OnemlirError, module: ir.Module) -> OnemlirError:
    """The error with a place in each of its lines."""
    lines = str(error).splitlines() or [""]
    return error if ": error: " in lines[0] else type(error)("\n".join([_line(module, "", lines[0]), *lines[1:]]))


def _line(module: ir.Module, location: str, message: str, notes: tuple[Diagnostic, ...] = ()) -> str:
    location = location or location_text(module.operation.location)
    return str(Diagnostic(location, message, notes=notes)).removeprefix("error: ")
