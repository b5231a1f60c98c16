"""The command line of `onemlir-opt`."""
from __future__ import annotations

from dataclasses import dataclass, field
from typing import Callable


class WrongCommandLine(ValueError):
    """An option that does not exist, lacks its value, or has a wrong one."""


@dataclass
class Request:
    """What the command line asks for. `steps` are passes as text, in order."""

    filename: str = "-"
    steps: list[str] = field(default_factory=list)
    output: str = "-"
    split: str | None = None
    verify_diagnostics: bool = False
    locations: bool = False
    pretty_locations: bool = False
    generic: bool = False
    local_scope: bool = False
    elide: int | None = None
    elide_resources: int | None = None
    named_values: bool = False
    skip_regions: bool = False
    bytecode: bool = False
    verify_each: bool = True
    allow_unregistered: bool = False
    timing: bool = False
    print_before: set[str] = field(default_factory=set)
    print_after: set[str] = field(default_factory=set)
    print_before_all: bool = False
    print_after_all: bool = False
    print_after_change: bool = False
    print_after_failure: bool = False
    isolate: bool = True
    reproducer: str | None = None
    run_reproducer: bool = False
    dump_pipeline: bool = False
    show_dialects: bool = False
    help: bool = False
    version: bool = False

    @property
    def prints_ir(self) -> bool:
        return bool(self.print_before or self.print_after or self.print_before_all or self.print_after_all or self.print_after_change
                    or self.print_after_failure)


def _flag(name: str, value: bool = True) -> Callable:
    def read(request: Request, given: str | None) -> None:
        setattr(request, name, value if given is None else _truth(given) == value)
    return read


def _truth(text: str) -> bool:
    if text.lower() not in ("", "1", "true", "0", "false"):
        raise WrongCommandLine(f"expected true or false, found '{text}'")
    return text.lower() in ("", "1", "true")


def _names(name: str) -> Callable:
    def read(request: Request, given: str | None) -> None:
        getattr(request, name).update(_required(given).split(","))
    return read


def _required(given: str | None) -> str:
    if not given:
        raise WrongCommandLine("needs a value: --option=value")
    return given


def _text(name: str) -> Callable:
    return lambda request, given: setattr(request, name, _required(given))


def _number(name: str) -> Callable:
    def read(request: Request, given: str | None) -> None:
        if not _required(given).isdigit():
            raise WrongCommandLine(f"expected a number, found '{given}'")
        setattr(request, name, int(given))
    return read


def _pipeline(request: Request, given: str | None) -> None:
    from ...lowering.pipeline_text import parse_pipeline

    text = _required(given)
    try:
        request.steps += [step.text for step in parse_pipeline(text.strip("'\""))]
    except ValueError as error:
        raise WrongCommandLine(str(error)) from None


def _accepted(request: Request, given: str | None) -> None:
    """An option of mlir-opt for what this tool does anyway."""


def _split(request: Request, given: str | None) -> None:
    request.split = given or "// -----"


# Option, what it reads, one line for --help; in the order of the help page.
OPTIONS: dict[str, tuple[Callable, str]] = {
    "help": (_flag("help"), "This page"),
    "version": (_flag("version"), "Versions of onemlir and MLIR"),
    "show-dialects": (_flag("show_dialects"), "List our dialects and how many ops each has"),
    "pass-pipeline": (_pipeline, "=builtin.module(a,b{option=1},func.func(c)): passes of ours and upstream's, mixed"),
    "split-input-file": (_split, "Each section between '// -----' lines (or =marker) is a module of its own"),
    "verify-diagnostics": (_flag("verify_diagnostics"), "Compare errors with // expected-error comments; nothing is printed"),
    "verify-each": (_flag("verify_each"), "Verify after each pass (on; =false turns it off for passes of ours)"),
    "allow-unregistered-dialect": (_flag("allow_unregistered"), "Accept ops of unknown dialects"),
    "mlir-print-ir-before": (_names("print_before"), "=pass,pass: print the IR before these passes, to standard error"),
    "mlir-print-ir-after": (_names("print_after"), "=pass,pass: print the IR after these passes"),
    "mlir-print-ir-before-all": (_flag("print_before_all"), "Print the IR before each pass"),
    "mlir-print-ir-after-all": (_flag("print_after_all"), "Print the IR after each pass"),
    "mlir-print-ir-after-change": (_flag("print_after_change"), "Print the IR after each pass that changed it"),
    "mlir-print-ir-after-failure": (_flag("print_after_failure"), "Print the IR that a failing pass left"),
    "mlir-timing": (_flag("timing"), "Time of parsing, each pass and printing, to standard error"),
    "mlir-print-debuginfo": (_flag("locations"), "Print locations"),
    "mlir-pretty-debuginfo": (_flag("pretty_locations"), "Print locations in the short form, which does not parse"),
    "mlir-print-op-generic": (_flag("generic"), "Print the generic form"),
    "mlir-print-local-scope": (_flag("local_scope"), "Print without aliases"),
    "mlir-elide-elementsattrs-if-larger": (_number("elide"), "=N: leave out literals of more than N elements"),
    "mlir-elide-resource-strings-if-larger": (_number("elide_resources"), "=N: leave out resources of more than N characters"),
    "mlir-use-nameloc-as-prefix": (_flag("named_values"), "Name values after their locations"),
    "mlir-print-skip-regions": (_flag("skip_regions"), "Print no regions"),
    "mlir-print-ir-module-scope": (_accepted, "Accepted: the whole module is printed at a pass"),
    "mlir-disable-threading": (_accepted, "Accepted: nothing runs on threads"),
    "emit-bytecode": (_flag("bytecode"), "Write bytecode; onemlir-opt reads it back"),
    "dump-pass-pipeline": (_flag("dump_pipeline"), "Print the pipeline to standard error"),
    "mlir-pass-pipeline-crash-reproducer": (_text("reproducer"), "=file: where a failing pass leaves its reproducer"),
    "run-reproducer": (_flag("run_reproducer"), "Run the pipeline in the first line of the input"),
    "isolate": (_flag("isolate"), "Run in a child process, so that a crash is a message (on; =false for debuggers)"),
}


def parse_arguments(arguments: list[str]) -> Request:
    """The request. WrongCommandLine for what makes no sense; whether a pass exists is known when it runs."""
    request, rest, files = Request(), iter(arguments), []
    for argument in rest:
        if argument == "-o" or argument.startswith("-o="):
            request.output = argument[3:] or next(rest, "")
            if not request.output:
                raise WrongCommandLine("-o needs a file name")
        elif argument == "-" or not argument.startswith("-"):
            files.append(argument)
        else:
            _option(request, argument)
    if len(files) > 1:
        raise WrongCommandLine(f"one input file, found {len(files)}: {', '.join(files)}")
    request.filename = files[0] if files else "-"
    _check_names(request)
    return request


def _check_names(request: Request) -> None:
    """WrongCommandLine when IR is to be printed around a pass that does not run."""
    if request.run_reproducer:
        return
    from ...lowering.pipeline_text import Step

    names = {Step(text).name for text in request.steps}
    for name in sorted((request.print_before | request.print_after) - names):
        known = ", ".join(sorted(names)) or "none"
        raise WrongCommandLine(f"IR is to be printed at pass '{name}', which is not among those that run: {known}")


def _option(request: Request, argument: str) -> None:
    name, equals, value = argument.lstrip("-").partition("=")
    name = {"h": "help"}.get(name, name)
    if name not in OPTIONS:
        request.steps += _one_pass(name, value.strip("'\""))
        return
    try:
        OPTIONS[name][0](request, value if equals else None)
    except WrongCommandLine as error:
        raise WrongCommandLine(f"--{name}: {error}") from None


def _one_pass(name: str, options: str) -> list[str]:
    """A pass given as an option of its own, whose options may stand in braces."""
    from ...lowering.pipeline_text import parse_pipeline

    options = options[1:-1] if options.startswith("{") and options.endswith("}") else options
    try:
        return [step.text for step in parse_pipeline(f"{name}{{{options}}}" if options else name)]
    except ValueError as error:
        raise WrongCommandLine(f"--{name}: {error}") from None
