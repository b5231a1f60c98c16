"""Giving memory back to the system."""
from __future__ import annotations

import ctypes
import functools
import mmap
import os
import sys

SLACK = 1 << 20  # bytes that the process may grow before giving some back is worth its millisecond
LONG = 0.3  # seconds of a compilation beside which the 5 ms are nothing that it takes to map the compiler's code again
COMPILER = ("libLLVM", "libMLIR")  # starts of the names of its libraries
_held = 0  # bytes after the last time


def trim() -> None:
    """What the compiler has freed goes back to the system, if it can be much; glibc would keep it for later. Nothing has to be collected
    for it: contexts of MLIR go with their last reference."""
    global _held
    if not sys.platform.startswith("linux") or held() - _held < SLACK:
        return
    if _libc_function("malloc_trim") is not None:
        _libc_function("malloc_trim")(0)
    _held = held()


def release_code(seconds: float) -> None:
    """Take the compiler's code out of this process after a compilation of so many seconds, unless it was short. The pages are the
    files', unchanged: a later compilation maps them again."""
    if seconds < LONG or not sys.platform.startswith("linux") or not hasattr(mmap, "MADV_DONTNEED"):
        return
    for start, size in _code():
        _libc_function("madvise")(ctypes.c_void_p(start), ctypes.c_size_t(size), mmap.MADV_DONTNEED)


@functools.cache
def _code() -> list[tuple[int, int]]:
    """Where the code of the compiler's libraries is mapped, and its size. Not what is only read: relocated pages look like it."""
    with open("/proc/self/maps") as file:
        fields = [line.split(maxsplit=5) for line in file]
    places = [f[0].split("-") for f in fields if f[1] == "r-xp" and os.path.basename(f[-1]).startswith(COMPILER)]
    return [(int(start, 16), int(end, 16) - int(start, 16)) for start, end in places]


@functools.cache
def _libc_function(name: str):
    """A function of the C library; None with one that does not have it."""
    return getattr(ctypes.CDLL(None), name, None)


def held() -> int:
    """Bytes of this process that lie in memory, without pages of files."""
    with open("/proc/self/statm", "rb") as file:
        resident, of_files = map(int, file.read().split()[1:3])
    return (resident - of_files) * os.sysconf("SC_PAGE_SIZE")
