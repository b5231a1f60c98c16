"""`onemlir reduce`: make a failing module small while a command keeps failing on it. Delta debugging on results, ops, regions, arguments
and sizes."""
from __future__ import annotations

import pathlib

from rich.console import Console

from ...dialect import bindings
from ...dialect.output_file import write_file
from ...errors import FormatError, OnemlirError
from ..source import read_source
from .criterion import Criterion
from .search import reduce_text


def run(file: str, command: str, output: str | None, message: str | None, seconds: float) -> None:
    path = pathlib.Path(file)
    text = read_source(file)
    if isinstance(text, bytes):
        raise FormatError(f"{file} is bytecode, of which no lines can be dropped: onemlir-opt {file} prints it as text")
    bindings.parse_module(text, bindings.new_context(), file)  # what does not parse has no parts that could be dropped
    criterion = Criterion(command, message, seconds)
    if not criterion.start(text):
        wanted = f" with {message!r} in its output" if message else ""
        raise OnemlirError(f"the command does not fail on {file}{wanted}: {criterion.filled(path)}")
    console = Console(stderr=True)
    report = lambda what, size: console.print(f"{what}: {size} operations", style="dim")
    reduced = criterion.header + reduce_text(text.removeprefix(criterion.header), criterion, report)
    if output:
        write_file(output, reduced)
        console.print(f"{output}: {len(text.splitlines())} lines became {len(reduced.splitlines())} in {criterion.runs} runs")
    else:
        print(reduced, end="")
