"""A fork waits for what other threads compile: a lock of LLVM, MLIR or an import that they hold would stay taken in the child for ever."""
from __future__ import annotations

import concurrent.futures.thread  # noqa: F401  registers for forks too: not while one waits
import contextlib
import os
import threading
from collections import Counter
from typing import Iterator

LONGEST = 60.0  # seconds that a fork waits; the thread that compiles may itself wait for the one that forks


class _Gate:
    """How often each thread is inside of `whole_in_child`. The lock is held over a fork, and made anew in the child."""

    def __init__(self):
        self.changed = threading.Condition(threading.Lock())
        self.inside: Counter = Counter()

    def enter(self, step: int) -> None:
        with self.changed:
            self.inside[threading.get_ident()] += step
            self.inside = +self.inside
            self.changed.notify_all()

    def close(self) -> None:
        self.changed.acquire()
        self.changed.wait_for(lambda: not self.inside.keys() - {threading.get_ident()}, LONGEST)

    def open(self) -> None:
        self.changed.release()

    def renew(self) -> None:
        here = threading.get_ident()
        own = self.inside[here]
        self.__init__()
        self.inside[here] = own


_GATE = _Gate()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_GATE.close, after_in_parent=_GATE.open, after_in_child=_GATE.renew)


@contextlib.contextmanager
def whole_in_child() -> Iterator[None]:
    """What happens inside happens before a fork by another thread, or after it. Also a decorator."""
    _GATE.enter(1)
    try:
        yield
    finally:
        _GATE.enter(-1)
