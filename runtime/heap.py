"""Giving memory back to the system."""
from __future__ import annotations

import ctypes
import gc
import os
import sys

SLACK = 64 << 20  # bytes that the process may grow before it is worth the time: collecting visits every object there is
_resident = 0  # bytes after the last time


def trim() -> None:
    """What the compiler has freed goes back to the system, if it can be much; glibc would keep it for later."""
    global _resident
    if not sys.platform.startswith("linux") or resident() - _resident < SLACK:
        return
    gc.collect()  # contexts of MLIR sit in cycles
    process = ctypes.CDLL(None)
    if hasattr(process, "malloc_trim"):
        process.malloc_trim(0)
    _resident = resident()


def resident() -> int:
    """Bytes of this process that lie in memory."""
    with open("/proc/self/statm", "rb") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
