"""Symbolic sizes as a library stores them, for a loader that needs numpy alone."""
from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Mapping, Union

from ..dialect.symbolic import FUNCTIONS


@dataclass(frozen=True)
class StoredAxis:
    """A named axis with the range that was declared for it."""

    name: str
    minimum: int = field(default=0, compare=False)
    maximum: Union[int, None] = field(default=None, compare=False)
    multiple_of: int = field(default=1, compare=False)

    def __str__(self) -> str:
        return self.name


class StoredSize:
    """A sum of integer multiples of products of axes and function calls, see `ahead_of_time.metadata.size_json`."""

    def __init__(self, content: Mapping):
        self._text: str = content["text"]
        self._terms: list = content["terms"]

    def __str__(self) -> str:
        return self._text

    def __repr__(self) -> str:
        return f"StoredSize({self._text})"

    def symbols(self) -> set[StoredAxis]:
        found: set[StoredAxis] = set()
        _collect({"text": self._text, "terms": self._terms}, found)
        return found

    def evaluate(self, sizes: Mapping[str, int]) -> int:
        """The value for given sizes of the axes. KeyError names an axis that is missing."""
        return _evaluate({"terms": self._terms}, sizes)


def stored_size(content: Any) -> int | StoredSize:
    return content if isinstance(content, int) else StoredSize(content)


def _collect(size: Any, found: set[StoredAxis]) -> None:
    for _, atoms in () if isinstance(size, int) else size["terms"]:
        for atom in atoms:
            if "axis" in atom:
                found.add(StoredAxis(atom["axis"], atom["minimum"], atom["maximum"], atom["multiple_of"]))
            else:
                _collect(atom["left"], found)
                _collect(atom["right"], found)


def _call(atom: Mapping, sizes: Mapping[str, int]) -> int:
    return FUNCTIONS[atom["call"]](_evaluate(atom["left"], sizes), _evaluate(atom["right"], sizes))


def _evaluate(size: Any, sizes: Mapping[str, int]) -> int:
    if isinstance(size, int):
        return size
    total = 0
    for factor, atoms in size["terms"]:
        for atom in atoms:
            factor *= sizes[atom["axis"]] if "axis" in atom else _call(atom, sizes)
        total += factor
    return total
