"""Comparing a recording with the model it was made of, input by input."""
from __future__ import annotations

from dataclasses import dataclass
from typing import Callable, Mapping, Sequence

import numpy as np

from ..errors import OnemlirError
from .tensor import Tensor
from .tracer import evaluation_mode, output_names
from ..dialect.structure import flatten


@dataclass(frozen=True)
class Row:
    """One input: the outputs of both sides by name (None where that side raised), whether they agree, the largest difference."""

    input: str
    eager: Mapping[str, np.ndarray] | None
    traced: Mapping[str, np.ndarray] | None
    match: bool
    error: float
    message: str = ""


@dataclass(frozen=True)
class Comparison:
    """The rows of a comparison; prints as a table with a summary."""

    rows: list[Row]

    @property
    def match(self) -> bool:
        """Whether every row agrees."""
        return all(row.match for row in self.rows)

    def __str__(self) -> str:
        header = ("Input", "Eager", "Traced", "Match", "Largest error")
        cells = [(r.input, _short(r.eager, r.message), _short(r.traced, r.message), "yes" if r.match else "no", f"{r.error:.3g}") for r in self.rows]
        matched = sum(r.match for r in self.rows)
        largest = max((r.error for r in self.rows), default=0.0)
        cells.append(("all", "", "", f"{matched} of {len(self.rows)}", f"{largest:.3g}"))
        widths = [max(len(row[i]) for row in [header, *cells]) for i in range(len(header))]
        line = lambda row: " | ".join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip()
        rule = "-+-".join("-" * width for width in widths)
        return "\n".join([line(header), rule, *map(line, cells[:-1]), rule, line(cells[-1])])


def _short(outputs: Mapping[str, np.ndarray] | None, message: str) -> str:
    if outputs is None:
        return message.partition("\n")[0][:40]
    text = ", ".join(np.array2string(v, precision=4, threshold=4, edgeitems=1) for v in outputs.values())
    return " ".join(text.split())[:40]


def compare(eager: Callable, session: Callable[[list], Mapping[str, np.ndarray]], inputs, rtol: float, atol: float,
            names: Sequence[str] = ()) -> Comparison:  # fmt: skip
    """Run both sides on each input: a tensor, a tuple of arguments, or a mapping of arguments by name; `inputs` may name the rows."""
    rows = inputs.items() if isinstance(inputs, Mapping) else [(None, value) for value in inputs]
    with evaluation_mode(eager):
        return Comparison([_row(eager, session, label, _arguments(value, names), rtol, atol) for label, value in rows])


def _arguments(value, names: Sequence[str]) -> Sequence:
    """Positional arguments. OnemlirError for a mapping that is not one of the inputs by name."""
    if not isinstance(value, Mapping):
        return value if isinstance(value, (tuple, list)) else (value,)
    if set(value) != set(names):
        raise OnemlirError(f"an input must name {', '.join(map(repr, names))}; found {', '.join(map(repr, value))}")
    return [value[name] for name in names]


def _row(eager, session, label: str | None, values: Sequence, rtol: float, atol: float) -> Row:
    leaves: list = []
    flatten(list(values), lambda v: isinstance(v, Tensor) or hasattr(v, "__array__"), leaves)
    arrays = [v._array if isinstance(v, Tensor) else np.asarray(v) for _, v in leaves]
    name = label or ", ".join(_short({"": a}, "") if a.size <= 8 else f"{a.dtype}{a.shape}" for a in arrays)
    expected, first = _attempt(lambda: named_outputs(eager(*values)))
    got, second = _attempt(lambda: session(arrays))
    if expected is None or got is None:
        return Row(name, expected, got, False, float("inf"), first or second)
    error, match = 0.0, set(expected) == set(got)
    for key in expected:
        if key in got:
            error = max(error, _largest_difference(expected[key], got[key]))
            match = match and expected[key].shape == got[key].shape and np.allclose(expected[key], got[key], rtol, atol, equal_nan=True)
    return Row(name, expected, got, bool(match), error)


def _attempt(function: Callable):
    try:
        return function(), ""
    except (OnemlirError, ValueError, TypeError, RuntimeError) as error:
        return None, f"{type(error).__name__}: {error}"


def _largest_difference(a: np.ndarray, b: np.ndarray) -> float:
    if a.shape != b.shape:
        return float("inf")
    if not a.size:
        return 0.0
    with np.errstate(all="ignore"):
        difference = np.abs(a.astype(np.float64) - b.astype(np.float64))
    return float(np.max(np.where((a == b) | (np.isnan(difference) & (a != a) & (b != b)), 0.0, difference)))


def named_outputs(result) -> dict[str, np.ndarray]:
    """The outputs of an eager call by the names that a recording gives them."""
    leaves: list = []
    flatten(result, lambda v: isinstance(v, Tensor) or hasattr(v, "__array__"), leaves)
    return {name: value._array if isinstance(value, Tensor) else np.asarray(value.detach() if hasattr(value, "detach") else value)
            for name, (_, value) in zip(output_names(leaves), leaves)}
