"""Giving memory back to the system."""
from __future__ import annotations

import ctypes
import functools
import os
import sys

SLACK = 8 << 20  # bytes that the process may grow before giving some back is worth its milliseconds
_resident = 0  # bytes after the last time


def trim() -> None:
    """What the compiler has freed goes back to the system, if it can be much; glibc would keep it for later. Nothing has to be collected
    for it: contexts of MLIR go with their last reference."""
    global _resident
    if not sys.platform.startswith("linux") or resident() - _resident < SLACK:
        return
    if _malloc_trim() is not None:
        _malloc_trim()(0)
    _resident = resident()


@functools.cache
def _malloc_trim():
    """glibc's function; None with another library."""
    return getattr(ctypes.CDLL(None), "malloc_trim", None)


def resident() -> int:
    """Bytes of this process that lie in memory."""
    with open("/proc/self/statm", "rb") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
