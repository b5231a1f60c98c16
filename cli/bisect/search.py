"""The search for the first pass after which the numbers are wrong."""
from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...errors import OnemlirError
from ..opt.isolate import Crash, isolated

INTERPRETER, UPSTREAM, COMPILER = "the interpreter", "upstream's passes", "the compiler"


@dataclass(frozen=True)
class Trial:
    """What came of the first `passes` passes: the largest difference over the tolerance (at most 1 is good), or why there is none."""

    passes: int
    executed_by: str
    excess: float | None
    failure: str = ""

    @property
    def good(self) -> bool:
        return self.excess is not None and self.excess <= 1

    def __str__(self) -> str:
        return self.failure or f"{self.excess:.2g} of the tolerance"


def passes() -> list[str]:
    """The passes of the default pipeline, in order."""
    from ...lowering.compilation import passes_of, STAGES
    from ...lowering.registry import known_passes

    known_passes()
    return [step.text for stage in STAGES for step in passes_of(stage)]


def bisect(program, inputs, rtol: float, atol: float) -> tuple[str | None, list[Trial]]:
    """What changes the numbers (None: nothing does), and the trials. OnemlirError for inputs that a session would refuse."""
    inputs = checked_inputs(program, inputs)
    expected = interpreted(program.module, program, inputs)
    names = passes()
    trial = lambda count: run_first(program, inputs, expected, count, rtol, atol)
    trials = [trial(len(names))]
    if trials[0].good:
        return None, trials
    good, bad = 0, len(names)
    while bad - good > 1:
        middle = (good + bad) // 2
        trials.append(trial(middle))
        good, bad = (middle, bad) if trials[-1].good else (good, middle)
    return f"pass '{names[bad - 1]}' (number {bad} of {len(names)})", trials


def checked_inputs(program, inputs) -> dict[str, np.ndarray]:
    """The inputs as a session takes them. Raises what it raises for wrong names, dtypes and shapes."""
    from ...dialect.size_checks import size_checks
    from ...runtime.arrays import as_input, refuse_names
    from ...runtime.jit import specs
    from ...runtime.shapes import bind

    described, _ = specs(program)
    if set(inputs) != {spec.name for spec in described}:
        refuse_names([spec.name for spec in described], inputs)
    arrays = {spec.name: as_input(spec, inputs[spec.name]) for spec in described}
    sizes = bind(described, [array.shape for array in arrays.values()])
    for check in size_checks(program):
        check(sizes)
    return arrays


def interpreted(module, program, inputs) -> list[np.ndarray]:
    """The outputs by the declarations' references."""
    from ...dialect.interpreter import Interpreter
    from ...dialect.program import entry_function

    with module.context:
        return Interpreter(program.weights).run(entry_function(module), [inputs[name] for name in program.input_names])


def run_first(program, inputs, expected, count: int, rtol: float, atol: float) -> Trial:
    """The trial of the first `count` passes, in a process of its own."""
    names = passes()
    converted = names.index("om-to-linalg") + 1
    executed_by = COMPILER if count == len(names) else UPSTREAM if count >= converted else INTERPRETER
    outcome = isolated(lambda progress: _outputs(program, inputs, expected, count, executed_by))
    if isinstance(outcome, Crash):
        return Trial(count, executed_by, None, f"the process ended ({outcome.cause})")
    if isinstance(outcome, str):
        return Trial(count, executed_by, None, outcome)
    return Trial(count, executed_by, _excess(outcome, expected, rtol, atol))


def _outputs(program, inputs, expected, count: int, executed_by: str) -> list[np.ndarray] | str:
    """Outputs after the first `count` passes, or why there are none."""
    from ...lowering.compilation import copy_module
    from ...lowering.pipeline import run_pipeline
    from ...runtime.jit import jit_session
    from .execution import executed

    try:
        if executed_by == COMPILER:
            return [np.array(a) for a in jit_session(program, threads=1, cache=False).run(inputs).values()]
        module = copy_module(program.module)
        run_pipeline(module, passes()[:count])
        if executed_by == INTERPRETER:
            return interpreted(module, program, inputs)
        return executed(module, [inputs[name] for name in program.input_names], program.weights, expected)
    except OnemlirError as error:
        return str(error).partition("\n")[0]
    except Exception as error:  # of an extension, or of ours: a trial that failed
        return f"{type(error).__name__}: {error}"


def _excess(found: list[np.ndarray], expected: list[np.ndarray], rtol: float, atol: float) -> float:
    """The largest difference, as a multiple of what is allowed; infinite where shapes, dtypes or NaNs differ."""
    worst = 0.0
    for a, b in zip(found, expected, strict=True):
        if a.shape != b.shape or a.dtype != b.dtype or not np.array_equal(a != a, b != b):
            return float("inf")
        wide = np.result_type(a.dtype, np.float64)
        a, b = a.astype(wide), b.astype(wide)
        with np.errstate(invalid="ignore", over="ignore"):
            excess = np.where((a == b) | (b != b), 0, np.abs(a - b) / (atol + rtol * np.abs(b)))
        worst = max(worst, float(np.max(excess, initial=0)))
    return worst
