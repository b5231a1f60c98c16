"""`onemlir bisect`: which pass changed the numbers.

The first n passes of the default pipeline run; what they leave is executed and compared with the reference interpreter's outputs. A binary
search over n finds the first pass after which they differ. No pass is left out, so each is judged on what it gets in a real compilation.
"""
from __future__ import annotations

from rich.console import Console
from rich.table import Table

from ...errors import OnemlirError
from ..models import parse_sizes, random_inputs, read_inputs, read_model
from .search import bisect, passes, Trial  # noqa: F401


def run(model: str, inputs: str | None, sizes: list[str], rtol: float, atol: float) -> None:
    traced = read_model(model)
    arrays = read_inputs(inputs, traced.input_names) if inputs else random_inputs(traced, parse_sizes(sizes), 0)
    culprit, trials = bisect(traced.program, arrays, rtol, atol)
    console = Console()
    console.print(table(trials))
    if culprit is not None:
        raise OnemlirError(f"the numbers change with {culprit}")
    console.print("All passes keep the numbers.")


def table(trials: list[Trial]) -> Table:
    """One row a trial, in the order of the passes."""
    result = Table(title="After the first n passes, against the reference")
    result.add_column("n", justify="right")
    for column in ("the last of them", "executed by", "largest difference"):
        result.add_column(column)
    names = passes()
    for trial in sorted(trials, key=lambda t: t.passes):
        last = names[trial.passes - 1] if trial.passes else ""
        result.add_row(str(trial.passes), last, trial.executed_by, str(trial), style="" if trial.good else "red")
    return result
