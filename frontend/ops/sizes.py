"""Sizes of symbolic axes: the smaller and the larger of two, without deciding which it is."""
from __future__ import annotations

from ...dialect import symbolic
from ...errors import OnemlirError
from ..symbolic_int import size_of, SymbolicInt, wrap

__all__ = ["sym_min", "sym_max"]


def sym_min(a, b):
    """The smaller of two sizes, as a size: Python's min would decide on them. Source: torch.sym_min."""
    return _of_two("sym_min", symbolic.minimum, a, b)


def sym_max(a, b):
    """The larger of two sizes, as a size: Python's max would decide on them. Source: torch.sym_max."""
    return _of_two("sym_max", symbolic.maximum, a, b)


def _of_two(name: str, function, a, b):
    sizes = [size_of(value) for value in (a, b)]
    if None in sizes:
        raise OnemlirError(f"{name} takes ints and sizes of axes, found {type(a).__name__} and {type(b).__name__}")
    recorder = next((value.recorder for value in (a, b) if isinstance(value, SymbolicInt)), None)
    return wrap(function(*sizes), recorder)
