"""The stages of the compiler, as a table of passes, and running them up to a stage."""
from __future__ import annotations

import io
import os
from dataclasses import dataclass
from typing import Callable

from mlir import ir

from ..dialect import bindings
from ..dialect.program import Program
from ..errors import CompileError
from .pipeline import run_step, Step
from .registry import known_passes, PASSES
from .reproducer import write_reproducer


@dataclass(frozen=True)
class Stage:
    """A point of the compilation with a name, and the passes that lead to it from the stage before."""

    name: str
    passes: tuple[str, ...]


STAGES = (
    Stage("om", ()),
    Stage("linalg", ("om-simplify", "om-fold", "om-cse", "om-sink-transposes", "om-multiply-quantized", "om-keep-quantized-weights",
                     "om-split-batch", "om-dce", "om-decompose", "om-to-linalg", "canonicalize", "cse", "om-propagate-layouts",
                     "om-fuse-elementwise", "canonicalize", "cse")),
    Stage("prepare", ("om-attach-epilogues", "loop-invariant-code-motion", "om-split-prepare", "canonicalize", "cse")),
    Stage("buffers", ("om-bufferize", "om-fuse-rows", "om-plan-memory")),
    Stage("loops", ("om-linalg-to-loops", "cse", "canonicalize")),
    Stage("llvm", ("om-expand-math", "om-to-llvm")),
)


def passes_of(stage: Stage) -> list[Step]:
    """The stage's passes with those that others registered next to them."""
    return [step for name in stage.passes for step in _with_neighbours(name)]


def _with_neighbours(name: str) -> list[Step]:
    before = [step for p in PASSES.values() if p.before == name for step in _with_neighbours(p.name)]
    after = [step for p in PASSES.values() if p.after == name for step in _with_neighbours(p.name)]
    return [*before, Step(name), *after]


def check_positions() -> None:
    """CompileError for a pass that is registered next to one which the stages do not run: it would never run itself."""
    placed = {step.name for stage in STAGES for step in passes_of(stage)}
    for definition in PASSES.values():
        neighbour = definition.after or definition.before
        if neighbour and definition.name not in placed:
            where = "after" if definition.after else "before"
            raise CompileError(f"pass '{definition.name}' is registered {where} '{neighbour}', which the default pipeline does not run")


def copy_module(module: ir.Module) -> ir.Module:
    """The module in a context of its own."""
    buffer = io.BytesIO()
    module.operation.write_bytecode(buffer)
    context = bindings.new_context()
    with context, ir.Location.unknown():
        return ir.Module.parse(buffer.getvalue())


def lower(program: Program, until: str = "llvm", observe: Callable[[str, ir.Module], None] | None = None,
          observe_pass: Callable[[str, ir.Module], None] | None = None, verify_each: bool | None = None) -> ir.Module:
    """A lowered copy of the module of a program (or TracedModel). `observe(stage name, module)` is called at the end of each stage,
    `observe_pass(pass name, module)` after each pass. verify_each: check what each pass accepts before it and the module after it; by default
    when ONEMLIR_VERIFY_EACH=1 is in the environment. A pass that fails leaves a reproducer, which the CompileError names."""
    names = [s.name for s in STAGES]
    if until not in names:
        raise ValueError(f"no stage '{until}'; the stages are {', '.join(names)}")
    from .linalg.convert import declare_results

    known_passes()
    check_positions()
    original = getattr(program, "program", program).module
    module, done = copy_module(original), []
    verify = os.environ.get("ONEMLIR_VERIFY_EACH", "0") == "1" if verify_each is None else verify_each
    for stage in STAGES[:names.index(until) + 1]:
        for step in passes_of(stage):
            done.append(step.text)
            try:
                run_step(module, step, verify=verify)
            except CompileError as error:
                raise _with_reproducer(error, original, done) from error.__cause__
            if observe_pass:
                observe_pass(step.name, module)
        if observe:
            observe(stage.name, module)
        if stage.name == "om":
            declare_results(module)
    return module


def _with_reproducer(error: CompileError, original: ir.Module, steps: list[str]) -> CompileError:
    path = write_reproducer(original.operation.get_asm(enable_debug_info=True), steps)
    return CompileError(f"{error}\nrun it again with: onemlir-opt --run-reproducer {path}") if path else error


def stages(program: Program) -> dict[str, str]:
    """The text of each stage by name, ending with LLVM IR and assembly for this machine."""
    from .llvm import assembly, llvm_ir

    texts: dict[str, str] = {}
    module = lower(program, observe=lambda name, module: texts.__setitem__(name, str(module)))
    texts["llvm-ir"] = llvm_ir(module)
    texts["assembly"] = assembly(module)
    return texts
