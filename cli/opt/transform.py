"""What `onemlir-opt` does with one section of its input: parse, verify, run passes, print."""
from __future__ import annotations

import io
import re
import sys
import time
from dataclasses import dataclass, field, replace
from typing import Callable

from .arguments import Request


@dataclass(frozen=True)
class Message:
    """A diagnostic. file: "-" for this input; line and column count within the section, and are 0 where there is no place."""

    severity: str
    text: str
    file: str = ""
    line: int = 0
    column: int = 0


@dataclass
class Outcome:
    """The printed module (None after an error), messages, the pass that failed, times."""

    printed: bytes | None = None
    messages: list[Message] = field(default_factory=list)
    failed: str | None = None
    times: list[tuple[str, float]] = field(default_factory=list)

    @property
    def errors(self) -> bool:
        return any(message.severity == "error" for message in self.messages)


def transform(request: Request, source: bytes | str, progress: Callable[[str], None]) -> Outcome:
    """Run the request on one module."""
    from ...errors import OnemlirError

    outcome, clock = Outcome(), time.perf_counter
    start = clock()
    progress("the parser")
    try:
        steps, context = prepare(request)
        module = read(context, source)
        outcome.times.append(("Parser", clock() - start))
        if steps:
            run(request, steps, module, outcome, progress)
        start = clock()
        progress("the printer")
        outcome.printed = written(request, module)
        outcome.times.append(("Output", clock() - start))
    except OnemlirError as error:
        outcome.messages += messages(str(error))
    return outcome


def prepare(request: Request):
    """The steps and a context. OnemlirError when a pass or an option does not exist: that is known before the input is read."""
    from ...dialect import bindings

    context = bindings.new_context()
    context.allow_unregistered_dialects = request.allow_unregistered
    if not request.steps:
        return [], context
    from ...lowering.pipeline import check_steps, Step
    from ...lowering.registry import known_passes

    known_passes()
    steps = [Step(text) for text in request.steps]
    check_steps(steps, context)
    return steps, context


def read(context, source: bytes | str):
    """The module, verified. VerificationError when it is invalid."""
    from ...dialect import bindings
    from ...dialect.verify import check

    module = bindings.parse_module(source, context)
    check(module)
    return module


def run(request: Request, steps: list, module, outcome: Outcome, progress: Callable[[str], None]) -> None:
    """All passes, watched."""
    from ...errors import OnemlirError
    from ...lowering.pipeline import run_step

    text = lambda: module.operation.get_asm(enable_debug_info=request.locations)
    before = text() if request.print_after_change else None
    for step in steps:
        progress(f"pass '{step.name}'")
        if request.print_before_all or step.name in request.print_before:
            dump("Before", step.name, text())
        start, notices = time.perf_counter(), []
        try:
            outcome.failed = step.text
            run_step(module, step, verify=request.verify_each, notices=notices)
        except OnemlirError:
            if request.print_after_failure or request.print_after_all:
                dump("After", f"{step.name} Failed", module.operation.get_asm(print_generic_op_form=True, assume_verified=True))
            raise
        finally:
            outcome.messages += [message for notice in notices for message in messages(str(notice))]
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
        print_generic_op_form=request.generic, use_local_scope=request.local_scope, large_elements_limit=request.elide,
        large_resource_limit=request.elide_resources, use_name_loc_as_prefix=request.named_values, skip_regions=request.skip_regions)
    return (text.rstrip("\n") + "\n").encode()


LOCATED = re.compile(r"^(.*?):(\d+):(\d+): (error|warning|remark|note): (.*)$")


def messages(text: str) -> list[Message]:
    """What lines such as ``-:3:5: error: text`` say. A line of another form goes on with the message before it."""
    found: list[Message] = []
    for line in text.splitlines():
        match = LOCATED.match(line)
        if match:
            file, row, column, severity, message = match.groups()
            found.append(Message(severity, message, file, int(row), int(column)))
        elif found:
            found[-1] = replace(found[-1], text=f"{found[-1].text}\n{line}")
        else:
            found.append(Message("error", line.removeprefix("error: ")))
    return found
