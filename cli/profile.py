"""`onemlir profile`: time per operation, with the module path and line that it comes from, and the rates it achieves."""
from __future__ import annotations

import html
import pathlib
import time
from dataclasses import dataclass

from rich.console import Console
from rich.table import Table

from ..dialect.output_file import write_file
from .models import parse_sizes, random_inputs, read_model


@dataclass(frozen=True)
class Row:
    """One operation: seconds of its fastest run and its share of the whole."""

    what: str
    where: str
    seconds: float
    share: float
    gflops: float | None
    gbytes: float | None

    def cells(self) -> list[str]:
        rates = ["" if rate is None else f"{rate:.1f}" for rate in (self.gflops, self.gbytes)]
        return [f"{self.seconds * 1e3:.3f}", f"{self.share * 100:.1f} %", *rates, self.what, self.where]


def profile(traced, inputs, threads: int = 1, rounds: int = 20) -> list[Row]:
    """Rows of the operations of a traced model, slowest first. Adds one timer reading per operation to the compiled code."""
    import numpy as np

    from ..lowering.instrument import Instrument
    from ..runtime.jit import jit_session

    instrument = Instrument()
    session = jit_session(traced.program, threads=threads, observe=instrument.observe)
    session.run(inputs)
    instrument.counts()
    taken, stamps = [], []
    for _ in range(rounds):
        begin = time.perf_counter()
        session.run(inputs)
        stamps.append(time.perf_counter() - begin)
        taken.append(instrument.counts())
    counts = np.array(taken, float)
    ticks = np.min(counts, axis=0)  # a busy machine only ever adds
    second = float(np.sum(counts) / np.sum(stamps)) or 1.0  # ticks; what lies outside of the operations is small
    return _rows(instrument.labelled, ticks / second)


def _rows(labelled, seconds) -> list[Row]:
    total = float(sum(seconds)) or 1.0
    rows = []
    for label, taken in zip(labelled, map(float, seconds)):
        if taken > 0:
            rate = lambda work: None if work is None else work / taken / 1e9
            rows.append(Row(label.what, label.where, taken, taken / total, rate(label.operations), rate(label.bytes)))
    return sorted(rows, key=lambda row: -row.seconds)


def run(model: str, sizes: list[str], threads: int, rounds: int, output: str | None) -> None:
    traced = read_model(model)
    rows = profile(traced, random_inputs(traced, parse_sizes(sizes), 0), threads, rounds)
    Console().print(table(rows, f"{pathlib.Path(model).name}, {threads} thread{'s' * (threads > 1)}"))
    if output:
        write_file(output, chart(rows))


def table(rows: list[Row], title: str) -> Table:
    result = Table(title=title)
    for column in ("ms", "share", "GFLOP/s", "GB/s"):
        result.add_column(column, justify="right")
    for column in ("operation", "where"):
        result.add_column(column)
    for row in rows:
        result.add_row(*row.cells())
    return result


def chart(rows: list[Row]) -> str:
    """A bar chart as an HTML page."""
    most = max((row.share for row in rows), default=1.0)
    lines = [f"<tr>{''.join(f'<td>{html.escape(cell)}</td>' for cell in row.cells())}"
             f'<td><div style="background:#4a7;height:1em;width:{30 * row.share / most:.2f}em"></div></td></tr>' for row in rows]
    heads = "".join(f"<th>{name}</th>" for name in ("ms", "share", "GFLOP/s", "GB/s", "operation", "where", ""))
    table = f'<table style="font:13px sans-serif"><tr>{heads}</tr>{"".join(lines)}</table>'
    return f'<!doctype html><meta charset="utf-8"><title>Time per operation</title>{table}\n'
