"""The stages of the compiler, as a table of passes, and running them up to a stage."""
from __future__ import annotations

import io
import sys
import types
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Callable

from mlir import ir

from ..dialect import bindings
from ..dialect.program import Program
from ..errors import CompileError
from .pipeline import run_step, Step
from .registry import known_passes, PASSES, register_pass
from .reproducer import write_reproducer


@register_pass("om-simplify", builtin=True)
def om_simplify(module: ir.Module) -> None:
    """Remove ops that do nothing or undo each other, and apply the rewrite patterns of extensions."""
    from .om import simplify  # noqa: F401  registers the patterns
    from .om.patterns import apply_patterns

    apply_patterns(module)


@register_pass("om-fold", builtin=True)
def om_fold(module: ir.Module, max_elements: int = 1024) -> None:
    """Compute ops on literals alone, where the result is small."""
    from .om.fold import fold_constants

    fold_constants(module, max_elements)


@register_pass("om-cse", builtin=True)
def om_cse(module: ir.Module) -> None:
    """Keep one of equal pure ops."""
    from .om.cse import merge_equal

    merge_equal(module)


@register_pass("om-dce", builtin=True)
def om_dce(module: ir.Module) -> None:
    """Remove pure ops whose results nobody uses."""
    from .om.dce import remove_dead

    remove_dead(module)


@register_pass("om-decompose", builtin=True)
def om_decompose(module: ir.Module) -> None:
    """Replace composite ops by ops that have a lowering."""
    from .linalg import LOWERINGS
    from .om.decompose import decompose

    for function in module.body.operations:
        if function.operation.name == "func.func":
            decompose(function.operation, keep=LOWERINGS)


@register_pass("om-to-linalg", builtin=True)
def om_to_linalg(module: ir.Module) -> None:
    """Convert the entry function to linalg on tensors."""
    from .linalg.convert import to_linalg

    om_decompose(module)
    to_linalg(module)


@register_pass("om-fuse-elementwise", builtin=True)
def om_fuse_elementwise(module: ir.Module) -> None:
    """Move elementwise producers into their one consumer."""
    from .linalg.fuse import fuse_elementwise

    fuse_elementwise(module)


@register_pass("om-attach-epilogues", builtin=True)
def om_attach_epilogues(module: ir.Module) -> None:
    """Let elementwise ops update the result of the matrix product or convolution before them in place."""
    from .linalg.epilogues import attach_epilogues

    attach_epilogues(module)


@register_pass("om-split-prepare", builtin=True)
def om_split_prepare(module: ir.Module) -> None:
    """Move what depends on weights alone to @prepare, which runs once."""
    from .linalg.prepare import split_prepare

    split_prepare(module)


@register_pass("om-bufferize", builtin=True)
def om_bufferize(module: ir.Module) -> None:
    """Tensors become buffers; results are written into destination arguments."""
    from .buffers import bufferize

    bufferize(module)


@register_pass("om-plan-memory", builtin=True)
def om_plan_memory(module: ir.Module) -> None:
    """Place allocations in one arena by lifetime."""
    from .buffers import plan_memory

    plan_memory(module)


@register_pass("om-linalg-to-loops", builtin=True)
def om_linalg_to_loops(module: ir.Module) -> None:
    """Structured ops on buffers become loops; the outermost are marked parallel."""
    from .loops import linalg_to_loops

    linalg_to_loops(module)


@register_pass("om-expand-math", builtin=True)
def om_expand_math(module: ir.Module) -> None:
    """Replace transcendental functions by polynomials."""
    from .math import expand_math

    expand_math(module)


@register_pass("om-to-llvm", builtin=True)
def om_to_llvm(module: ir.Module) -> None:
    """Outline parallel loops and convert everything to the LLVM dialect."""
    from .llvm import to_llvm

    to_llvm(module)


@dataclass(frozen=True)
class Stage:
    """A point of the compilation with a name, and the passes that lead to it from the stage before."""

    name: str
    passes: tuple[str, ...]


STAGES = (
    Stage("om", ()),
    Stage("linalg", ("om-simplify", "om-fold", "om-cse", "om-dce", "om-decompose", "om-to-linalg", "canonicalize", "cse", "om-fuse-elementwise", "canonicalize", "cse")),
    Stage("prepare", ("om-attach-epilogues", "om-split-prepare", "canonicalize", "cse")),
    Stage("buffers", ("om-bufferize", "om-plan-memory")),
    Stage("loops", ("om-linalg-to-loops", "canonicalize", "cse")),
    Stage("llvm", ("om-expand-math", "om-to-llvm")),
)


# The passes without which there is no code; the others may be left out one by one.
NECESSARY = frozenset({"om-decompose", "om-to-linalg", "om-bufferize", "om-plan-memory", "om-linalg-to-loops", "om-expand-math", "om-to-llvm"})

_LIMIT: ContextVar[int | None] = ContextVar("optional passes", default=None)


@contextmanager
def first_optional_passes(count: int):
    """Inside the block, `lower` runs the first `count` optional passes and all necessary ones: for finding the pass that is wrong."""
    token = _LIMIT.set(count)
    try:
        yield
    finally:
        _LIMIT.reset(token)


def passes_of(stage: Stage) -> list[Step]:
    """The stage's passes with those that others registered next to them."""
    steps: list[Step] = []
    for name in stage.passes:
        steps += [Step(p.name) for p in PASSES.values() if p.before == name]
        steps.append(Step(name))
        steps += [Step(p.name) for p in PASSES.values() if p.after == name]
    return steps


def copy_module(module: ir.Module) -> ir.Module:
    """The module in a context of its own."""
    buffer = io.BytesIO()
    module.operation.write_bytecode(buffer)
    context = bindings.new_context()
    with context, ir.Location.unknown():
        return ir.Module.parse(buffer.getvalue())


def lower(program: Program, until: str = "llvm", observe: Callable[[str, ir.Module], None] | None = None,
          observe_pass: Callable[[str, ir.Module], None] | None = None) -> ir.Module:
    """A lowered copy of the module of a program (or TracedModel). `observe(stage name, module)` is called at the end of each stage,
    `observe_pass(pass name, module)` after each pass. A pass that fails leaves a reproducer, which the CompileError names."""
    names = [s.name for s in STAGES]
    if until not in names:
        raise ValueError(f"no stage '{until}'; the stages are {', '.join(names)}")
    known_passes()
    original = getattr(program, "program", program).module
    module, done = copy_module(original), []
    allowed = _LIMIT.get()
    for stage in STAGES[:names.index(until) + 1]:
        for step in passes_of(stage):
            if allowed is not None and step.name not in NECESSARY:
                allowed -= 1
                if allowed < 0:
                    continue
            done.append(step.text)
            try:
                run_step(module, step)
            except CompileError as error:
                raise _with_reproducer(error, original, done) from error.__cause__
            if observe_pass:
                observe_pass(step.name, module)
        if observe:
            observe(stage.name, module)
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


class _CallableModule(types.ModuleType):
    """`onemlir.lowering.stages` is this module and the function of that name: calling the one calls the other."""

    def __call__(self, program: Program) -> dict[str, str]:
        return stages(program)


sys.modules[__name__].__class__ = _CallableModule
