"""A spinner for work of unknown length, on terminals only."""
from __future__ import annotations

import time
from contextlib import contextmanager

from rich.console import Console


@contextmanager
def working(what: str):
    """Show `what` with a spinner while the block runs, and how long it took when that was over a second."""
    console = Console(stderr=True)
    start = time.perf_counter()
    with console.status(f"{what} …"):
        yield
    seconds = time.perf_counter() - start
    if seconds > 1 and console.is_terminal:
        console.print(f"{what}: {seconds:.1f} s", style="dim")
