"""Compiling a program while everything is written down: the text after each stage with the op that each line comes from, what each pass
changed, how long it took."""
from __future__ import annotations

import difflib
import re
import time
from collections import Counter
from dataclasses import dataclass, field

from mlir import ir

from ...dialect.program import entry_function, Program
from ..graph import Graph, graph_of
from ..graph.model_graph import depth_of

MARK = "om.op."
MOST_LINES = 4000  # of a stage that are shown
MOST_DIFF_LINES = 2500  # of texts that are compared line by line
CONTEXT = 2


@dataclass
class Line:
    """A line of IR without its location, and the number of the op of the om stage that it comes from."""

    text: str
    op: int | None = None


@dataclass
class PassRecord:
    name: str
    stage: str
    seconds: float
    changes: list[str]
    """A unified difference, or counts of operations where the texts are long."""


@dataclass
class Recording:
    """`graph` is that of all ops, `depth` the number of levels of modules in it."""

    stages: dict[str, list[Line]] = field(default_factory=dict)
    omitted: dict[str, int] = field(default_factory=dict)
    passes: list[PassRecord] = field(default_factory=list)
    graph: Graph = field(default_factory=Graph)
    depth: int = 0
    times: list = field(default_factory=list)
    """Rows of `onemlir profile`."""


def record(program: Program) -> Recording:
    """Compile a copy of a program whose ops carry their number in their location."""
    from ...lowering.compilation import copy_module, lower
    from .machine import machine_forms

    recording = Recording()
    module = copy_module(program.module)
    function = entry_function(module)
    with module.context:
        recording.graph, recording.depth = graph_of(function), depth_of(function)
        mark(function)
    watch = _Watch(recording, module)
    lowered = lower(Program(module, program.weights), observe=watch.stage, observe_pass=watch.after_pass)
    for name, lines in machine_forms(lowered).items():
        watch.keep(name, lines)
    return recording


def mark(function: ir.Operation) -> None:
    """Wrap the location of each top-level op into a name with its number."""
    for number, operation in enumerate(op.operation for op in function.regions[0].blocks[0].operations):
        location = ir.Location.name(f"{MARK}{number}", operation.location)
        operation.walk(lambda inner: _set(inner, location))


def _set(operation, location: ir.Location) -> ir.WalkResult:
    operation.operation.location = location
    return ir.WalkResult.ADVANCE


class _Watch:
    """Called by `lower` after each pass and stage."""

    def __init__(self, recording: Recording, module: ir.Module):
        self.recording, self.pending = recording, []
        self.before = lines_of(module)
        self.clock = time.perf_counter()

    def after_pass(self, name: str, module: ir.Module) -> None:
        seconds = time.perf_counter() - self.clock
        after = lines_of(module)
        self.pending.append(PassRecord(name, "", seconds, differences(self.before, after)))
        self.before = after
        self.clock = time.perf_counter()

    def stage(self, name: str, module: ir.Module) -> None:
        self.keep(name, self.before)
        for record in self.pending:
            record.stage = name
        self.recording.passes += self.pending
        self.pending = []
        self.clock = time.perf_counter()

    def keep(self, name: str, lines: list[Line]) -> None:
        self.recording.stages[name] = lines[:MOST_LINES]
        self.recording.omitted[name] = max(0, len(lines) - MOST_LINES)


def lines_of(module: ir.Module) -> list[Line]:
    text = module.operation.get_asm(enable_debug_info=True, use_local_scope=True)
    lines = [line_of(line) for line in text.splitlines()]
    _mark_heads(lines)
    return lines


def _mark_heads(lines: list[Line]) -> None:
    """The first line of an op with a region has no location; it is that of the line which closes the region."""
    closing: dict[int, int | None] = {}
    for line in reversed(lines):
        indent = len(line.text) - len(line.text.lstrip())
        if line.op is None and line.text.endswith("{"):
            line.op = closing.get(indent)
        if line.text.lstrip().startswith("}"):
            closing[indent] = line.op


def line_of(text: str) -> Line:
    """A line without its locations; the op is the one of its last location, of an inlined kernel's the op that called it."""
    found = None
    while (start := text.find(" loc(")) >= 0:
        end = _closing(text, start + 4)
        numbers = re.findall(re.escape(MARK) + r"(\d+)", text[start:end])
        if numbers:
            found = int(numbers[-1 if text.startswith(" loc(callsite(", start) else 0])
        text = text[:start] + text[end:]
    return Line(text, found)


def _closing(text: str, start: int) -> int:
    """The place behind the bracket that closes the one at `start`; brackets in quotes do not count."""
    depth, quoted = 0, False
    for place in range(start, len(text)):
        character = text[place]
        if character == '"' and text[place - 1] != "\\":
            quoted = not quoted
        depth += 0 if quoted else (character == "(") - (character == ")")
        if depth == 0:
            return place + 1
    return len(text)


def differences(before: list[Line], after: list[Line]) -> list[str]:
    """What a pass changed."""
    old, new = [line.text for line in before], [line.text for line in after]
    if old == new:
        return []
    if max(len(old), len(new)) <= MOST_DIFF_LINES:
        return list(difflib.unified_diff(old, new, lineterm="", n=CONTEXT))[2:]
    counts = Counter(map(operation_name, new))
    counts.subtract(Counter(map(operation_name, old)))
    return [f"{'+' if count > 0 else '-'}{abs(count)} {name}" for name, count in sorted(counts.items()) if count and name]


def operation_name(line: str) -> str:
    """``linalg.generic`` of a line of IR; "" where there is none."""
    match = re.match(r"\s*(?:%[\w:, %]+ = )?\"?([a-z_]+\.[\w.]+)", line)
    return match.group(1) if match else ""
