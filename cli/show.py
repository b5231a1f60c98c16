"""`onemlir show`."""
from __future__ import annotations

import pathlib
from collections import Counter

from rich.console import Console
from rich.table import Table

from ..dialect.output_file import write_file
from ..errors import OnemlirError
from .models import read_model


def run(model: str, assumptions: bool, locations: bool, stage: str | None) -> None:
    traced = read_model(model)
    console = Console()
    if stage is not None:
        print(stage_text(traced, stage))
        return
    print(traced.mlir(locations))
    console.print(signature_table(traced))
    console.print(operation_table(traced))
    if assumptions:
        console.print(assumption_table(traced))


def print_short(model: str) -> None:
    """The short form for reading."""
    from .reading import short_form

    print(short_form(read_model(model).program))


def write_graph(model: str, path: str, depth: int | None) -> None:
    """The graph of @main as a picture."""
    from .graph import graph_of, svg

    if pathlib.PurePath(path).suffix not in (".svg", ""):
        raise OnemlirError(f"a graph is written as .svg, and '{path}' has another suffix; `onemlir explore` writes .html")
    traced = read_model(model)
    write_file(path, svg(graph_of(traced.program.main, depth)))


def stage_text(traced, stage: str) -> str:
    """The text of one stage of the compilation."""
    from ..lowering import stages

    texts = stages(traced.program)
    if stage not in texts:
        raise OnemlirError(f"no stage '{stage}'; the stages are {', '.join(texts)}")
    return texts[stage]


def signature_table(traced) -> Table:
    table = Table(title="Signature")
    for column in ("", "name", "shape", "dtype"):
        table.add_column(column)
    for kind, specs in (("input", traced.inputs), ("output", traced.outputs)):
        for spec in specs:
            table.add_row(kind, spec.name, "(" + ", ".join(map(str, spec.shape)) + ")", spec.dtype.name)
    return table


def operation_table(traced) -> Table:
    """Counts of operations by name, and of parameters."""
    from ..dialect import walk

    counts = Counter(op.operation.name for op in walk(traced.program.module))
    parameters = sum(int(array.size) for array in traced.parameters.values())
    operations = sum(counts.values()) - counts["om.parameter"]
    table = Table(title=f"{operations} operations, {len(traced.parameters)} parameters with {parameters:,} elements")
    table.add_column("operation")
    table.add_column("count", justify="right")
    for name, count in counts.most_common():
        if name != "om.parameter":
            table.add_row(name, str(count))
    return table


def assumption_table(traced) -> Table:
    table = Table(title="The recording depends on")
    for column in ("kind", "what", "line"):
        table.add_column(column)
    for entry in traced.assumptions:
        table.add_row(entry["kind"], entry["text"], entry["line"])
    return table
