"""Plain descriptions of a compiled function: its inputs and outputs, and what its status codes mean."""
from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Callable, Mapping

import numpy as np

from ..dialect.status import StatusWord

OUT_OF_MEMORY = -1


@dataclass(frozen=True)
class Spec:
    """One input or output. A size is an int or an expression of named axes: an object with `evaluate({axis: size})` and `str()`.

    `shape` shows expressions as text: ``("batch", 784)``.
    """

    name: str
    sizes: tuple
    dtype: np.dtype
    data_dependent: bool = False

    def __init__(self, name: str, sizes, dtype, data_dependent: bool = False):
        object.__setattr__(self, "name", name)
        object.__setattr__(self, "sizes", tuple(sizes))
        object.__setattr__(self, "dtype", np.dtype(dtype))
        object.__setattr__(self, "data_dependent", data_dependent)

    @property
    def shape(self) -> tuple:
        return tuple(size if isinstance(size, int) else str(size) for size in self.sizes)

    def __repr__(self) -> str:
        return f"Spec({self.name!r}, {self.shape}, {self.dtype})"


@dataclass(frozen=True)
class Message:
    """What a status code means: the name of an error class, and a text with {found}, {expected} and {index}, see `dialect.status`."""

    error: str
    text: str

    def format(self, found: int, expected: int, index: int) -> str:
        return self.text.format(found=StatusWord(found), expected=StatusWord(expected), index=index)


@dataclass
class Compiled:
    """Machine code that follows the calling convention, whoever made it."""

    entry: int
    """Address of `int32_t entry(int64_t *table)`."""
    free: int
    """Address of `void onemlir_free(void *)`: gives back an output that compiled code allocated."""
    release: int
    """Address of `void onemlir_release(int64_t *context)`: gives back the arena of a context."""
    pool: Callable[[], tuple[int, int]] | None = None
    """Gives the addresses of `parallel_for` and of the pool's state; None where the code has no parallel loop."""
    keep: Any = None
    """What must live as long as the code."""
    messages: Mapping[int, Message] = field(default_factory=dict)
