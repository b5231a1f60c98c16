"""`Axis`: a named axis with a declared range."""
from __future__ import annotations

from dataclasses import dataclass

from ..errors import OnemlirError


def is_axis_name(name) -> bool:
    """Whether this can be the name of an axis."""
    return isinstance(name, str) and (name[:1].isalpha() or name[:1] == "_")


@dataclass(frozen=True)
class Axis:
    """A symbolic axis whose size is known to lie in a range and to be a multiple; checked on every run."""

    name: str
    min: int = 0
    max: int | None = None
    multiple_of: int = 1

    def __post_init__(self):
        if not is_axis_name(self.name):
            raise OnemlirError(f"the name of an axis is text that starts with a letter, found {self.name!r}")
        for field, value in (("min", self.min), ("max", self.max), ("multiple_of", self.multiple_of)):
            if not (isinstance(value, int) or (field == "max" and value is None)):
                raise OnemlirError(f"axis '{self.name}': '{field}' must be an int, found {value!r}")
        if self.min < 0 or self.multiple_of < 1 or (self.max is not None and self.max < self.min):
            raise OnemlirError(f"axis '{self.name}': the range from {self.min} to {self.max} in steps of {self.multiple_of} is empty")

    def __str__(self) -> str:
        return self.name
