"""``x[key] = value``: as an op that gives the changed x."""
from __future__ import annotations

import numpy as np

from ...ops.assignment import assigned as put_item
from ...symbolic_int import size_of
from ...tensor import Tensor

__all__ = ["is_basic", "put_item"]


def is_basic(key) -> bool:
    """Whether a key has only ints, slices, None and Ellipsis, so that it selects a view."""
    entries = key if isinstance(key, tuple) else (key,)
    return all(e is None or e is Ellipsis or isinstance(e, slice) or _is_size(e) for e in entries)


def _is_size(entry) -> bool:
    return not isinstance(entry, (bool, Tensor, np.ndarray)) and size_of(entry) is not None
