"""How many threads a session uses unless somebody says.

ONEMLIR_NUM_THREADS, or else OMP_NUM_THREADS, where one of them is a positive number; otherwise the processors that this process may run
on, at most what the quota of its control group allows. Sources: sched_setaffinity(2); the kernel's cgroup-v2.rst (`cpu.max`) and
sched-bwc.rst (`cpu.cfs_quota_us`); OpenMP 5.2, section 21.1.2.
"""
from __future__ import annotations

import os

VARIABLES = ("ONEMLIR_NUM_THREADS", "OMP_NUM_THREADS")
GROUPS = "/sys/fs/cgroup"


def default_threads() -> int:
    """At least 1."""
    return _given() or max(1, min(_allowed(), _quota()))


def _given() -> int:
    for name in VARIABLES:
        first = os.environ.get(name, "").partition(",")[0].strip()  # OpenMP takes a list, one number for each level of nesting
        if first.isdigit() and 0 < int(first) < 65536:
            return int(first)
    return 0


def _allowed() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _quota() -> int:
    """Processors' worth of time that the group of this process, and those around it, may use; rounded up."""
    group = next((line[3:] for line in _read("/proc/self/cgroup").splitlines() if line.startswith("0::")), "")
    limits = [_ratio(_read(f"{GROUPS}/cpu/cpu.cfs_quota_us").split() + _read(f"{GROUPS}/cpu/cpu.cfs_period_us").split())]
    while True:
        limits.append(_ratio(_read(f"{GROUPS}{group}/cpu.max").split()))
        if "/" not in group:
            return min(limits)
        group = group.rpartition("/")[0]


def _ratio(words: list[str]) -> int:
    """Quota / period; a large number where there is no quota."""
    if len(words) < 2 or not words[0].isdigit() or not words[1].isdigit() or "0" in words[:2]:
        return 1 << 30
    return -(-int(words[0]) // int(words[1]))


def _read(path: str) -> str:
    try:
        with open(path) as file:
            return file.read()
    except OSError:
        return ""
