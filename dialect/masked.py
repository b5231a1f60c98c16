"""Masked arrays: a tensor has no mask, so one that says something is refused. Needs numpy alone."""
from __future__ import annotations

from typing import Any

import numpy as np

from ..errors import OnemlirError


def refuse_masked(value: Any, what: str) -> None:
    """OnemlirError for a numpy masked array with masked elements, whose mask would be lost."""
    if isinstance(value, np.ma.MaskedArray) and np.ma.is_masked(value):
        count, size = np.ma.count_masked(value), value.size
        raise OnemlirError(f"{what} is a masked array with {count} of {size} elements masked, and a tensor has no mask: "
                           "give x.filled(value), or x.data and the mask as a tensor of its own")
