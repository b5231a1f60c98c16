"""Many mutants at once: ``python fuzz.py FIRST COUNT [--compile]`` prints how many were read and refused, and what went wrong."""
from __future__ import annotations

import collections
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parent))

from suite import run_cases  # noqa: E402

WORKER = pathlib.Path(__file__).with_name("fuzz_worker.py")


def run_mutants(first: int, count: int, workers: int = 2, options=()) -> dict[str, dict]:
    """Results by number."""
    return run_cases(names=[str(n) for n in range(first, first + count)], workers=workers, timeout=60, options=options, script=WORKER)


if __name__ == "__main__":
    found = run_mutants(int(sys.argv[1]), int(sys.argv[2]), options=sys.argv[3:])
    print(collections.Counter(r["status"] for r in found.values()))
    for result in found.values():
        if result["status"] not in ("read", "refused"):
            print(result["name"], result["status"], result["message"])
