"""What `onemlir-opt` does with one section of its input: parse, verify, run passes, print."""
from __future__ import annotations

import io
import re
import sys
import time
from dataclasses import dataclass, field
from typing import Callable

from .arguments import Request


Place = tuple[str, int, int, str]


@dataclass
class Outcome:
    """The printed module (None after an error), errors as (file, line, column, message), the pass that failed, times."""

    printed: bytes | None = None
    diagnostics: list[Place] = field(default_factory=list)
    failed: str | None = None
    times: list[tuple[str, float]] = field(default_factory=list)


def transform(request: Request, source: bytes | str, progress: Callable[[str], None]) -> Outcome:
    """Run the request on one module."""
    from ...errors import OnemlirError

    outcome, clock = Outcome(), time.perf_counter
    start = clock()
    progress("the parser")
    try:
        module = read(request, source)
        outcome.times.append(("Parser", clock() - start))
        if request.steps:
            run(request, module, outcome, progress)
        start = clock()
        progress("the printer")
        outcome.printed = written(request, module)
        outcome.times.append(("Output", clock() - start))
    except OnemlirError as error:
        outcome.diagnostics = [place(line) for line in str(error).splitlines()]
    return outcome


def read(request: Request, source: bytes | str):
    """The module, verified. VerificationError when it is invalid."""
    from ...dialect import bindings
    from ...dialect.verify import check

    context = bindings.new_context()
    context.allow_unregistered_dialects = request.allow_unregistered
    module = bindings.parse_module(source, context)
    check(module)
    return module


def run(request: Request, module, outcome: Outcome, progress: Callable[[str], None]) -> None:
    """All passes, watched."""
    from ...errors import OnemlirError
    from ...lowering.pipeline import run_step, Step
    from ...lowering.registry import known_passes

    known_passes()
    text = lambda: module.operation.get_asm(enable_debug_info=request.locations)
    before = text() if request.print_after_change else None
    for step in map(Step, request.steps):
        progress(f"pass '{step.name}'")
        if request.print_before_all or step.name in request.print_before:
            dump("Before", step.name, text())
        start = time.perf_counter()
        try:
            outcome.failed = step.text
            run_step(module, step, verify=request.verify_each)
        except OnemlirError:
            if request.print_after_failure or request.print_after_all:
                dump("After", f"{step.name} Failed", module.operation.get_asm(print_generic_op_form=True, assume_verified=True))
            raise
        outcome.times.append((step.name, time.perf_counter() - start))
        if request.print_after_change:
            before, changed = text(), before
            if changed != before:
                dump("After", step.name, before)
        elif request.print_after_all or step.name in request.print_after:
            dump("After", step.name, text())
    outcome.failed = None


def dump(when: str, name: str, text: str) -> None:
    """IR in mid-pipeline, with upstream's heading."""
    print(f"// -----// IR Dump {when} {name} //----- //\n{text}\n", file=sys.stderr)


def written(request: Request, module) -> bytes:
    """The module as the request wants it."""
    if request.bytecode:
        buffer = io.BytesIO()
        module.operation.write_bytecode(buffer)
        return buffer.getvalue()
    text = module.operation.get_asm(
        enable_debug_info=request.locations or request.pretty_locations, pretty_debug_info=request.pretty_locations,
        print_generic_op_form=request.generic, use_local_scope=request.local_scope, large_elements_limit=request.elide)
    return (text.rstrip("\n") + "\n").encode()


def place(line: str) -> Place:
    """``-:3:5: error: text`` as file ("-" for this input), line, column and message; zeros when there is no place."""
    match = re.match(r"^(.*?):(\d+):(\d+): error: (.*)$", line)
    if not match:
        return "-", 0, 0, line.removeprefix("error: ")
    file, row, column, message = match.groups()
    return file, int(row), int(column), message
