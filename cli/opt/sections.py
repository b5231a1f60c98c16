"""A whole input of `onemlir-opt`: its sections, their messages, the output, reproducers."""
from __future__ import annotations

import gc
import os
import re
import sys
from dataclasses import replace

from ...dialect.output_file import write_file
from ...lowering.pipeline_text import parse_pipeline, Step
from ..source import read_source
from .arguments import Request
from .isolate import Crash, isolated

CONFIGURATION = re.compile(r"//\s*configuration:.*?--pass-pipeline=(['\"]?)(.*)\1\s*$")


def process(request: Request) -> bool:
    """Read, run, write; whether all went well."""
    source = read_source(request.filename)
    if request.run_reproducer:
        request.steps = reproducer_steps(source)
    if request.dump_pipeline:
        print(f"Pass Manager with {len(request.steps)} passes:\n{pipeline_text(request.steps)}", file=sys.stderr)
    _import_compiler()
    outputs, good = [], True
    for first_line, section in split(request, source):
        outcome, sound = run_section(request, section, first_line)
        good = good and sound
        if outcome is not None and outcome.printed is not None:
            outputs.append(outcome.printed)
        if outcome is not None and request.timing:
            print(timing_report(outcome.times), file=sys.stderr)
    if not request.verify_diagnostics and (good or outputs):
        _write(request.output, (b"" if request.bytecode else b"\n// -----\n").join(outputs))
    return good


def _import_compiler() -> None:
    """Once, before any child is made."""
    from ...dialect import bindings, verify  # noqa: F401
    from . import transform  # noqa: F401

    gc.freeze()
    gc.enable()


def split(request: Request, source: bytes | str) -> list[tuple[int, bytes | str]]:
    """Sections with the number of their first line; one section when the request does not split."""
    if request.split is None or isinstance(source, bytes):
        return [(1, source)]
    marker = re.compile(rf"^{re.escape(request.split)}[^\n]*(?:\n|\Z)", re.MULTILINE)
    found, start = [], 0
    for match in marker.finditer(source):
        found.append((source.count("\n", 0, start) + 1, source[start:match.start()]))
        start = match.end()
    return [*found, (source.count("\n", 0, start) + 1, source[start:])]


def run_section(request: Request, section: bytes | str, first_line: int):
    """The outcome of one section (None after a crash), and whether it is as it should be. Messages go to standard error."""
    from .transform import transform

    work = lambda progress: transform(request, section, progress)
    outcome = isolated(work) if request.isolate and hasattr(os, "fork") else work(lambda step: None)
    if isinstance(outcome, Crash):
        report(f"onemlir-opt: {outcome.step or 'start'} ended the process ({outcome.cause})")
        leave_reproducer(request, section, until=outcome.step)
        return None, False
    if request.verify_diagnostics:
        from ..expected import mismatches

        problems = mismatches(section, [as_here(message) for message in outcome.messages], first_line, request.filename)
        for problem in problems:
            report(problem)
        return outcome, not problems
    for message in outcome.messages:
        report(message_line(request.filename, first_line, message))
    if outcome.failed is not None:
        leave_reproducer(request, section, until=f"pass '{Step(outcome.failed).name}'")
    return outcome, not outcome.errors


def as_here(message):
    """A message whose place is in another file is anywhere in this one."""
    return message if message.file == "-" else replace(message, line=0, column=0)


def message_line(filename: str, first_line: int, message) -> str:
    """``file:line:column: error: text``; a place in the section becomes one in the input."""
    if not message.line and message.file != "-":
        return f"onemlir-opt: {message.text}"
    here = f"{filename}:{max(message.line, 1) + first_line - 1}:{max(message.column, 1)}"
    place = here if message.file == "-" else f"{message.file}:{message.line}:{message.column}"
    return f"{place}: {message.severity}: {message.text}"


def report(line: str) -> None:
    print(line, file=sys.stderr)


def leave_reproducer(request: Request, section: bytes | str, until: str | None) -> None:
    """Write the input with the pipeline in its first line, when the request names a file for it."""
    if request.reproducer is None or isinstance(section, bytes):
        return
    names = [f"pass '{Step(text).name}'" for text in request.steps]
    steps = request.steps[:names.index(until) + 1] if until in names else request.steps
    write_file(request.reproducer, f"// configuration: --pass-pipeline='{pipeline_text(steps)}'\n{section}")
    report(f"onemlir-opt: run again with: onemlir-opt --run-reproducer {request.reproducer}")


def pipeline_text(steps: list[str]) -> str:
    return f"builtin.module({','.join(steps)})"


def reproducer_steps(source: bytes | str) -> list[str]:
    """The passes that the first line of a reproducer names. FormatError without one."""
    from ...errors import FormatError

    first = "" if isinstance(source, bytes) else source.partition("\n")[0]
    match = CONFIGURATION.match(first)
    try:
        if match is None:
            raise ValueError("no reproducer: the first line must be // configuration: --pass-pipeline='builtin.module(...)'")
        return [step.text for step in parse_pipeline(match.group(2))]
    except ValueError as error:
        raise FormatError(str(error)) from None


def timing_report(times: list[tuple[str, float]]) -> str:
    """Upstream's table of wall times."""
    total = sum(seconds for _, seconds in times) or 1e-12
    rows = [f"  {seconds:9.4f} ({seconds / total:6.1%})  {name}" for name, seconds in [*times, ("Total", total)]]
    head = f"===- {'... Execution time report ...'.center(62)} -==="
    return "\n".join([head, f"  Total Execution Time: {total:.4f} seconds", "", "  ----Wall Time----  ----Name----", *rows])


def _write(path: str, data: bytes) -> None:
    if path == "-":
        sys.stdout.flush()
        sys.stdout.buffer.write(data)
        sys.stdout.buffer.flush()
        return
    write_file(path, data)
