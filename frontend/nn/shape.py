"""Layers that change the shape alone."""
from __future__ import annotations

from functools import reduce
from operator import mul
from typing import Sequence

from .. import ops
from ...dialect.shapes import normalize_axis
from .module import Module


class Flatten(Module):
    """Axes `start_dim` to `end_dim` become one."""

    def __init__(self, start_dim: int = 1, end_dim: int = -1):
        super().__init__()
        self.start_dim, self.end_dim = start_dim, end_dim

    def forward(self, x):
        start, end = (normalize_axis(axis, x.ndim) for axis in (self.start_dim, self.end_dim))
        return ops.reshape(x, (*x.shape[:start], reduce(mul, x.shape[start:end + 1], 1), *x.shape[end + 1:]))

    def extra_repr(self) -> str:
        return f"start_dim={self.start_dim}, end_dim={self.end_dim}"


class Unflatten(Module):
    """Axis `dim` becomes axes of the sizes `unflattened_size`, of which one may be -1."""

    def __init__(self, dim: int, unflattened_size: Sequence[int]):
        super().__init__()
        self.dim, self.unflattened_size = dim, tuple(unflattened_size)

    def forward(self, x):
        axis = normalize_axis(self.dim, x.ndim)
        known = reduce(mul, (s for s in self.unflattened_size if s != -1), 1)
        sizes = tuple(x.shape[axis] // known if s == -1 else s for s in self.unflattened_size)
        return ops.reshape(x, (*x.shape[:axis], *sizes, *x.shape[axis + 1:]))

    def extra_repr(self) -> str:
        return f"dim={self.dim}, unflattened_size={self.unflattened_size}"
