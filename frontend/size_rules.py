"""The rules of a recording for sizes: deciding on a symbolic size, and sizes that a shape rule wants to agree."""
from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import Sequence

from mlir import ir

from ..dialect import symbolic
from ..dialect.graph import plain_symbol
from ..dialect.shapes import SizePolicy
from ..dialect.symbolic import Dim, Size
from .locations import user_line, UserLine

SIGNS = {"eq": "==", "ne": "!=", "le": "<="}
COMPARISONS = {"eq": "equal", "ne": "not_equal", "le": "less_equal"}


class RecordingPolicy(SizePolicy):
    """Sizes that must agree: an error when a named axis is forced, a run-time guard for anonymous axes."""

    def __init__(self, recorder):
        self.recorder = recorder
        self._numbers = itertools.count()  # the same names in every recording of a program

    def require_equal(self, left: Size, right: Size, why: str) -> None:
        super().require_equal(left, right, why)
        self.recorder.require_size("eq", left, right, why)

    def fresh(self, name: str) -> Dim:
        return Dim.symbol(f"?{name}{next(self._numbers)}", anonymous=True)

    def require(self, holds, condition, why) -> None:
        super().require(holds, condition, why)
        if holds is None:
            self.recorder.require_size(*condition, why)


@dataclass(frozen=True)
class SizeCheck:
    """``left kind right`` is checked on every run; else `error` with the message."""

    kind: str
    left: Size
    right: Size
    message: str
    error: str
    line: UserLine | None


def literal(text: str) -> str:
    """Text as a part of a message in which {found} and {expected} stand for values."""
    return text.replace("{", "{{").replace("}", "}}")


def axis_dim(axis) -> Dim:
    """The symbolic size of a named axis: a name, or an object with `name`, `min`, `max`, `multiple_of`."""
    if isinstance(axis, str):
        return Dim.symbol(axis)
    return Dim.symbol(axis.name, minimum=axis.min, maximum=axis.max, multiple_of=axis.multiple_of)


def forced_axis_message(left: Size, right: Size, why: str) -> str:
    """What to say when a shape rule fixes a named axis."""
    if plain_symbol(left) is None and plain_symbol(right) is not None:
        left, right = right, left
    if plain_symbol(left) is not None:
        start = f"axis '{left}' must be {right}"
    else:
        names = " and ".join(f"'{s}'" for s in sorted(symbolic.symbols_of(left) | symbolic.symbols_of(right)))
        start = f"axis {names} must be such that {left} equals {right}"
    bound = _bound_of(left, right)
    advice = "name both axes alike" if isinstance(right, Dim) else "leave the axis unnamed, so that its size is fixed"
    advice = advice if bound is None else f"give its range, om.Axis('{left}', max={bound})"
    return f"{start}: {why}, at {user_line()}\n  {advice}, or change the operation so that it holds for any size"


def _bound_of(axis: Size, size: Size) -> int | None:
    """The maximum of the axis with which min(maximum, axis) is the axis."""
    calls = [atom for monomial in size.terms for atom in monomial if isinstance(atom, symbolic.Call)] if isinstance(size, Dim) else []
    if len(calls) != 1 or calls[0].function != "min" or size != Dim({(calls[0],): 1}):
        return None
    (bound, other) = (calls[0].left, calls[0].right) if isinstance(calls[0].left, int) else (calls[0].right, calls[0].left)
    return bound if isinstance(bound, int) and other == axis else None


def condition_text(kind: str, left: Size, right: Size) -> str:
    """A condition as text, the symbolic side first."""
    if isinstance(left, int) and kind == "le":
        return f"{right} >= {left}"
    return f"{right} {SIGNS[kind]} {left}" if isinstance(left, int) else f"{left} {SIGNS[kind]} {right}"


def condition_words(kind: str, left: Size, right: Size) -> str:
    """What a failed condition says about the two values."""
    found, expected = ("{expected}", "{found}") if isinstance(left, int) else ("{found}", "{expected}")
    relation = {"eq": "", "ne": "another than ", "le": "at least " if isinstance(left, int) else "at most "}[kind]
    return f"found {found}, expected {relation}{expected}"


def known_at_entry(recorder, *sizes: Size) -> bool:
    """Whether sizes follow from the inputs' sizes alone."""
    arguments = list(recorder.block.arguments)
    return all(recorder.origins.get(s.name, (None,))[0] in arguments for size in sizes for s in symbolic.symbols_of(size))


def emit_check(recorder, check: SizeCheck) -> None:
    """The guard of a check at the insertion point."""
    left, right = recorder.from_size(check.left), recorder.from_size(check.right)
    predicate = recorder.call(COMPARISONS[check.kind], left, right)
    recorder.call("guard", predicate, left, right, message=check.message, kind=check.error)


def emit_entry_checks(recorder, checks: Sequence[SizeCheck]) -> None:
    """All checks on sizes of inputs, in front of everything else."""
    with ir.InsertionPoint.at_block_begin(recorder.block):
        for check in checks:
            recorder.user_line = check.line
            emit_check(recorder, check)
    recorder.user_line = None
