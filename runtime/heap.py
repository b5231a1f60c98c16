"""Giving memory back to the system."""
from __future__ import annotations

import ctypes
import gc
import sys


def trim() -> None:
    """What the compiler has freed goes back to the system; glibc would keep it for later."""
    if not sys.platform.startswith("linux"):
        return
    gc.collect()  # contexts of MLIR sit in cycles
    process = ctypes.CDLL(None)
    if hasattr(process, "malloc_trim"):
        process.malloc_trim(0)
