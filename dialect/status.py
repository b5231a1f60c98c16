"""The numbers that a failed check reports: 64-bit words, which messages show as integers, floats or truth values. Needs numpy alone."""
from __future__ import annotations

import numpy as np


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
