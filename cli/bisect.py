"""`onemlir bisect`: which pass changed the numbers.

The model is compiled with the first n optional passes, the necessary ones always among them, and its outputs are compared with the
reference interpreter's. A binary search over n finds the first pass with which they differ. Each compilation runs in a process of its own.
"""
from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from rich.console import Console
from rich.table import Table

from ..errors import OnemlirError
from .models import parse_sizes, random_inputs, read_inputs, read_model
from .opt.isolate import Crash, isolated


@dataclass(frozen=True)
class Trial:
    """The result of one compilation: the largest difference over the tolerance (at most 1 is good), or why there is none."""

    passes: int
    excess: float | None
    failure: str = ""

    @property
    def good(self) -> bool:
        return self.excess is not None and self.excess <= 1

    def __str__(self) -> str:
        return self.failure or f"{self.excess:.2g} of the tolerance"


def run(model: str, inputs: str | None, sizes: list[str], rtol: float, atol: float) -> None:
    traced = read_model(model)
    arrays = read_inputs(inputs, traced.input_names) if inputs else random_inputs(traced, parse_sizes(sizes), 0)
    culprit, trials = bisect(traced.program, arrays, rtol, atol)
    table = Table(title="Compiled with the first n optional passes, against the reference")
    table.add_column("n", justify="right")
    table.add_column("the last of them")
    table.add_column("largest difference")
    names = optional_passes()
    for trial in sorted(trials, key=lambda t: t.passes):
        table.add_row(str(trial.passes), names[trial.passes - 1] if trial.passes else "", str(trial), style="" if trial.good else "red")
    console = Console()
    console.print(table)
    if culprit is None:
        console.print("All passes keep the numbers.")
        return
    raise OnemlirError(f"the numbers change with {culprit}")


def optional_passes() -> list[str]:
    """The default pipeline's passes that may be left out, in order."""
    from ..lowering.stages import NECESSARY, passes_of, STAGES

    return [step.name for stage in STAGES for step in passes_of(stage) if step.name not in NECESSARY]


def bisect(program, inputs, rtol: float, atol: float) -> tuple[str | None, list[Trial]]:
    """What changes the numbers (None: nothing does), and the trials."""
    expected = reference(program.module, program, inputs)
    names = optional_passes()
    trials = [_trial(program, inputs, expected, len(names), rtol, atol)]
    if trials[0].good:
        return None, trials
    trials.append(_trial(program, inputs, expected, 0, rtol, atol))
    if not trials[-1].good:
        return _necessary(program, inputs, expected, rtol, atol), trials
    good, bad = 0, len(names)
    while bad - good > 1:
        middle = (good + bad) // 2
        trials.append(_trial(program, inputs, expected, middle, rtol, atol))
        good, bad = (middle, bad) if trials[-1].good else (good, middle)
    return f"pass '{names[bad - 1]}' (number {bad} of {len(names)})", trials


def _necessary(program, inputs, expected, rtol: float, atol: float) -> str:
    """Of the passes that cannot be left out, those on om can be judged by the interpreter."""
    from ..lowering.stages import copy_module, run_step, Step

    module = copy_module(program.module)
    run_step(module, Step("om-decompose"))
    found = _excess(reference(module, program, inputs), expected, rtol, atol)
    return "pass 'om-decompose'" if found > 1 else "a pass that cannot be left out, after om-decompose"


def reference(module, program, inputs) -> list[np.ndarray]:
    """The outputs by the declarations' references."""
    from ..dialect.interpreter import Interpreter
    from ..dialect.program import entry_function

    with module.context:
        return Interpreter(program.weights).run(entry_function(module), [inputs[name] for name in program.input_names])


def _trial(program, inputs, expected, count: int, rtol: float, atol: float) -> Trial:
    outcome = isolated(lambda progress: _compiled(program, inputs, count))
    if isinstance(outcome, Crash):
        return Trial(count, None, f"the process ended ({outcome.cause})")
    if isinstance(outcome, str):
        return Trial(count, None, outcome)
    return Trial(count, _excess(outcome, expected, rtol, atol))


def _compiled(program, inputs, count: int) -> list[np.ndarray] | str:
    """Outputs of the program compiled with the first `count` optional passes, or why there are none."""
    from ..lowering.stages import first_optional_passes
    from ..runtime.jit import jit_session

    try:
        with first_optional_passes(count):
            return [np.array(a) for a in jit_session(program, threads=1).run(inputs).values()]
    except OnemlirError as error:
        return str(error).partition("\n")[0]


def _excess(found: list[np.ndarray], expected: list[np.ndarray], rtol: float, atol: float) -> float:
    """The largest difference, as a multiple of what is allowed; infinite where shapes, dtypes or NaNs differ."""
    worst = 0.0
    for a, b in zip(found, expected, strict=True):
        if a.shape != b.shape or a.dtype != b.dtype or not np.array_equal(a != a, b != b):
            return float("inf")
        wide = np.result_type(a.dtype, np.float64)
        a, b = a.astype(wide), b.astype(wide)
        with np.errstate(invalid="ignore"):
            excess = np.where((a == b) | (b != b), 0, np.abs(a - b) / (atol + rtol * np.abs(b)))
        worst = max(worst, float(np.max(excess, initial=0)))
    return worst
