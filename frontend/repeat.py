"""Recording again on perturbed examples: what differs then depends on something besides the inputs' data.

The program runs once more on other data, and where axes are named on other sizes: one more than the example's and no two alike, then 1
(or the least that is declared). Reads are answered as they were the first time. The user's Python runs each time; random states are
put back. A size at which the model itself raises is noted among the assumptions.
"""
from __future__ import annotations

import random
import warnings
from contextlib import contextmanager
from typing import Callable, Iterator, Sequence

import numpy as np
from mlir import ir

from ..dialect.bindings import file_line
from ..errors import TraceError
from . import random as own_random


@contextmanager
def states_restored():
    """Python's, numpy's and our random states are the same afterwards."""
    before = random.getstate(), np.random.get_state(), own_random.get_state()
    try:
        yield
    finally:
        random.setstate(before[0])
        np.random.set_state(before[1])
        own_random.set_state(before[2])


def check_repeats(first, record_on: Callable, axes: Sequence[Sequence]) -> None:
    """Compare the recording `first` with recordings on perturbed examples, which ``record_on(arrays)`` makes. TraceError for a difference.

    axes: for each input its named axes, None where the size is fixed.
    """
    arrays = [example for _, example, _ in first.inputs]
    with states_restored():
        for sizes in perturbed_sizes(axes, first.examples):
            changed = [perturbed(array, named, sizes) for array, named in zip(arrays, axes)]
            second = _recorded_again(first, record_on, changed, sizes)
            if second is not None:
                compare_streams(first, second)


def _recorded_again(first, record_on: Callable, arrays: Sequence[np.ndarray], sizes: dict[str, int]):
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return record_on(arrays)
    except TraceError:
        raise
    except Exception as error:  # whatever the user's program raises
        shown = ", ".join(f"{name} = {size}" for name, size in sizes.items()) or "other data"
        first.assume("refused size", shown, f"with {shown} the model raises {type(error).__name__}: {str(error).partition(chr(10))[0]}")
        return None


# Examples.
def perturbed_sizes(axes: Sequence[Sequence], examples: dict[str, int]) -> Iterator[dict[str, int]]:
    """Sizes by axis for each repeat; none where no axis is named."""
    named = {str(axis): axis for group in axes for axis in group if axis is not None}
    if not named:
        yield {}
        return
    larger: dict[str, int] = {}
    for name, axis in named.items():
        larger[name] = next((n for n in allowed(axis, examples[name] + 1) if n not in larger.values()), examples[name])
    yield larger
    least = {name: next(allowed(axis, 1), examples[name]) for name, axis in named.items()}
    if least not in (larger, examples):
        yield least


def allowed(axis, start: int) -> Iterator[int]:
    """Sizes from `start` that the axis may have, a few hundred at most; then smaller ones."""
    least, most, step = getattr(axis, "min", 0), getattr(axis, "max", None), getattr(axis, "multiple_of", 1)
    first = -(-max(start, least, 1) // step) * step
    yield from (n for n in range(first, first + 200 * step, step) if most is None or n <= most)
    yield from (n for n in range(first - step, max(least, 1) - 1, -step))


def perturbed(array: np.ndarray, axes: Sequence, sizes: dict[str, int]) -> np.ndarray:
    """The example with other data, and other sizes of its named axes."""
    shape = tuple(n if axis is None else sizes[str(axis)] for n, axis in zip(array.shape, axes))
    if array.dtype == np.bool_:
        changed = ~array
    elif array.dtype.kind in "iu":
        changed = np.roll(array, 1)  # the same numbers, which may be indices
    else:
        with np.errstate(all="ignore"):
            changed = (np.roll(array, 1) * array.dtype.type(0.75) + array.dtype.type(0.125)).astype(array.dtype)
    return np.resize(changed, shape) if changed.size else np.zeros(shape, array.dtype)


# Op streams.
def compare_streams(first, second) -> None:
    """TraceError when two recordings are not the same ops on the same constants, with both lines."""
    if str(first.ir_module) != str(second.ir_module):
        a, b = _stream(first), _stream(second)
        place = next((i for i, (x, y) in enumerate(zip(a, b)) if x[0] != y[0]), min(len(a), len(b)))
        raise TraceError(f"recorded a second time on other data and sizes, the program does something else:\n  the first time {_show(a, place)}\n"
                         f"  then {_show(b, place)}\n"
                         "  it depends on something besides its inputs (a counter, a global, a random number, the example); make it an argument, or pass check=False to record once")
    for name, array in first.weights.items():
        if name.startswith("constant_") and not np.array_equal(array, second.weights[name], equal_nan=array.dtype.kind in "fc"):
            line = next(e["line"] for e in first.assumptions if e["name"] == name)
            raise TraceError(f"recorded a second time, the program uses other numbers at {line}\n  a random or changing array is a constant of the "
                             "recording: make it an input, or pass check=False to record once")


def _stream(recorder) -> list[tuple[str, ir.Operation]]:
    """Each op as text with numbered operands, in program order."""
    numbers: dict[ir.Value, int] = {}
    found: list = []

    def visit(operation):
        for region in operation.regions:
            for block in region.blocks:
                for argument in block.arguments:
                    numbers.setdefault(argument, len(numbers))
        operands = [numbers.get(v, -1) for v in operation.operands]
        attributes = sorted(str(operation.attributes[i]) for i in range(len(operation.attributes)))
        found.append((f"{operation.name} {operands} {attributes} {[str(r.type) for r in operation.results]}", file_line(operation.location)))
        for result in operation.results:
            numbers[result] = len(numbers)
        return ir.WalkResult.ADVANCE

    recorder.function.operation.walk(visit, ir.WalkOrder.PRE_ORDER)
    return found[1:]


def _show(stream: list, place: int) -> str:
    if place >= len(stream):
        return "it ends"
    text, line = stream[place]
    name = text.split()[0].removeprefix("om.")
    return f"'{name}' at {line[0]}:{line[1]}" if line else f"'{name}'"
