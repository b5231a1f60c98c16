"""The numbers that a failed check reports: 64-bit words, which messages show as integers, floats or truth values. Needs numpy alone."""
from __future__ import annotations

from dataclasses import dataclass
from typing import Mapping

import numpy as np

from .. import errors
from .symbolic import Size


class Blank(str):
    """Words that stand in a message for a value that is not known, whatever its format."""

    def __format__(self, spec: str) -> str:
        return str(self)


class StatusWord(int):
    """A 64-bit word. In a message, ``{found}`` shows the integer, ``{found:f64}`` the float with these bits, ``{found:bool}`` True or False."""

    def __format__(self, spec: str) -> str:
        if spec == "f64":
            return f"{np.int64(self).view(np.float64):.9g}"
        return str(bool(self)) if spec == "bool" else int.__format__(self, spec)

    @classmethod
    def of(cls, scalar: np.ndarray) -> "StatusWord":
        """The word for one integer, bool or float."""
        scalar = np.asarray(scalar)
        return cls(int(scalar)) if scalar.dtype.kind in "iub" else cls(int(scalar.astype(np.float64).view(np.int64)))


HOLDS = {"om.equal": lambda a, b: a == b, "om.not_equal": lambda a, b: a != b, "om.less_equal": lambda a, b: a <= b}


@dataclass(frozen=True)
class SizeCheck:
    """``comparison(left, right)`` of two sizes (ints, or objects with `evaluate`), else the error `kind` with the message."""

    comparison: str
    left: Size
    right: Size
    message: str
    kind: str

    def __call__(self, sizes: Mapping[str, int]) -> None:
        """Raise when the check fails for these sizes of the axes."""
        found, expected = (size if isinstance(size, int) else size.evaluate(sizes) for size in (self.left, self.right))
        if not HOLDS[self.comparison](found, expected):
            raise getattr(errors, self.kind)(self.message.format(found=StatusWord(found), expected=StatusWord(expected), index=0))
