"""`onemlir-opt`: run passes on a .mlir file, as mlir-opt does.

    onemlir-opt FILE [--pass ...] [--pass-pipeline=builtin.module(a,b)] [--split-input-file] [--verify-diagnostics]

Every pass of ours is a flag of its own, and so is every upstream pass. Without passes the file is parsed, verified and printed.
"""
from __future__ import annotations

import re
import sys
from dataclasses import dataclass, field

USAGE = __doc__
SPLIT = re.compile(r"^// -----.*$", re.MULTILINE)


@dataclass
class Request:
    """What the command line asks for."""

    filename: str = "-"
    steps: list[str] = field(default_factory=list)
    output: str = "-"
    split: bool = False
    verify_diagnostics: bool = False
    locations: bool = False
    generic: bool = False
    help: bool = False


def parse_arguments(arguments: list[str]) -> Request:
    """The request; SystemExit with a message for what makes no sense."""
    request, rest = Request(), iter(arguments)
    for argument in rest:
        name, _, value = argument.lstrip("-").partition("=")
        if argument in ("-h", "--help"):
            request.help = True
        elif argument == "-o":
            request.output = next(rest, "-")
        elif argument == "-" or not argument.startswith("-"):
            request.filename = argument
        elif name == "pass-pipeline":
            from ..lowering.pipeline import parse_pipeline

            request.steps += [step.text for step in parse_pipeline(value)]
        elif name == "split-input-file":
            request.split = True
        elif name == "verify-diagnostics":
            request.verify_diagnostics = True
        elif name == "mlir-print-debuginfo":
            request.locations = True
        elif name == "mlir-print-op-generic":
            request.generic = True
        else:
            request.steps.append(f"{name}{{{value}}}" if value else name)
    return request


def main(arguments: list[str] | None = None) -> None:
    """Entry point. Exit status 1 when a file is invalid, a pass fails, or diagnostics differ from the expected ones."""
    try:
        request = parse_arguments(sys.argv[1:] if arguments is None else arguments)
        if request.help:
            print(help_text())
            return
        text = sys.stdin.read() if request.filename == "-" else open(request.filename, encoding="utf-8").read()
    except (OSError, ValueError, UnicodeDecodeError) as error:
        print(f"onemlir-opt: {error}", file=sys.stderr)
        sys.exit(1)
    sys.exit(0 if process(request, text) else 1)


def process(request: Request, text: str) -> bool:
    """Run the request on a text, section by section; whether all went well."""
    sections = _sections(text) if request.split else [(1, text)]
    outputs, good = [], True
    for first_line, section in sections:
        printed, diagnostics = run_section(request, section)
        if request.verify_diagnostics:
            from .expected import mismatches

            problems = mismatches(section, diagnostics, first_line, request.filename)
            print("".join(problem + "\n" for problem in problems), end="", file=sys.stderr)
            good = good and not problems
        else:
            for line, column, message in diagnostics:
                place = f"{request.filename}:{line + first_line - 1}:{column}: " if line else ""
                print(f"{place}error: {message}", file=sys.stderr)
            good = good and not diagnostics
            if printed is not None:
                outputs.append(printed)
    if not request.verify_diagnostics:
        _write(request.output, "\n// -----\n\n".join(outputs))
    return good


def _sections(text: str) -> list[tuple[int, str]]:
    """Sections between ``// -----`` lines with the number of their first line."""
    sections, start = [], 0
    for match in SPLIT.finditer(text):
        sections.append((text.count("\n", 0, start) + 1, text[start:match.start()]))
        start = match.end()
    return [*sections, (text.count("\n", 0, start) + 1, text[start:])]


def run_section(request: Request, text: str) -> tuple[str | None, list[tuple[int, int, str]]]:
    """The printed module (None after an error), and diagnostics as (line, column, message)."""
    from ..dialect import bindings
    from ..dialect.verify import verify
    from ..errors import OnemlirError, VerificationError
    from ..lowering.pipeline import run_pipeline

    try:
        module = bindings.parse_module(text, bindings.new_context())
        found = [(str(d.location), d.message) for d in verify(module)]
        if found:
            return None, [_place(location, message) for location, message in found]
        if request.steps:
            from ..lowering import stages  # noqa: F401  registers our passes

            run_pipeline(module, request.steps)
        return module.operation.get_asm(enable_debug_info=request.locations, print_generic_op_form=request.generic), []
    except VerificationError as error:
        return None, [_place(*_split_message(line)) for line in str(error).splitlines()]
    except OnemlirError as error:
        return None, [_place(*_split_message(line)) for line in str(error).splitlines()]


def _split_message(line: str) -> tuple[str, str]:
    match = re.match(r"^(?:.*?: )?(\S+:\d+:\d+): error: (.*)$", line)
    return (match.group(1), match.group(2)) if match else ("", line.removeprefix("error: "))


def _place(location: str, message: str) -> tuple[int, int, str]:
    parts = location.rsplit(":", 2)
    return (int(parts[1]), int(parts[2]), message) if len(parts) == 3 else (0, 0, message)


def _write(path: str, text: str) -> None:
    if path == "-":
        sys.stdout.write(text)
    else:
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)


def help_text() -> str:
    """Usage and the list of our passes with their summaries."""
    from ..lowering import stages  # noqa: F401
    from ..lowering.registry import PASSES

    lines = [f"  --{p.name:<24} {p.summary}" for p in sorted(PASSES.values(), key=lambda p: p.name)]
    return USAGE + "\nPasses of onemlir:\n" + "\n".join(lines) + "\n\nEvery upstream pass is available by its name, with options as --name=\"option=value ...\"."
