"""Arrays that are views of a file mapped into memory: they cost nothing until they are read, and their pages can be given back."""
from __future__ import annotations

import mmap
from typing import Iterable

import numpy as np


def mapping_of(array: np.ndarray) -> mmap.mmap | None:
    """The mapping behind an array where it, and all arrays it is a view of, are read-only views of one."""
    base = array
    while isinstance(base, np.ndarray):
        if base.flags.writeable:
            return None
        base = base.base
    base = base.obj if isinstance(base, memoryview) else base
    return base if isinstance(base, mmap.mmap) else None


def release_pages(arrays: Iterable[np.ndarray]) -> None:
    """Take pages that were read out of this process; they are read again when they are needed."""
    mappings = {id(found): found for found in map(mapping_of, arrays) if found is not None}
    for mapping in mappings.values():
        if hasattr(mmap, "MADV_DONTNEED") and memoryview(mapping).readonly:
            mapping.madvise(mmap.MADV_DONTNEED)
