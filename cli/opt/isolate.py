"""Running a function in a child process, so that what ends the process ends only the child.

MLIR's libraries are built with assertions: IR that an upstream pass does not expect ends the process with SIGABRT.
"""
from __future__ import annotations

import os
import pickle
import signal
import sys
import traceback
from dataclasses import dataclass
from typing import Any, Callable


@dataclass(frozen=True)
class Crash:
    """The child ended without an answer. `step` is what it last said it was doing, `cause` the signal or exit status."""

    cause: str
    step: str | None


class Progress:
    """Where a child says what it is doing."""

    def __init__(self, file):
        self.file = file

    def __call__(self, step: str) -> None:
        pickle.dump(("step", step), self.file)
        self.file.flush()


def isolated(function: Callable[[Callable[[str], None]], Any]) -> Any:
    """`function(progress)` run in a child process; its value, or a Crash. An exception in it is one as well, its traceback printed."""
    sys.stdout.flush()
    sys.stderr.flush()
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reader)
        _answer(function, writer)
    os.close(writer)
    with os.fdopen(reader, "rb") as file:
        step, value = _listen(file)
    _, status = os.waitpid(child, 0)
    code = os.waitstatus_to_exitcode(status)
    return Crash(_cause(code), step) if code else value


def _answer(function: Callable, writer: int) -> None:
    code = 1
    try:
        with os.fdopen(writer, "wb") as file:
            pickle.dump(("value", function(Progress(file))), file)
        code = 0
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


def _listen(file) -> tuple[str | None, Any]:
    step = value = None
    while True:
        try:
            kind, content = pickle.load(file)
        except (EOFError, pickle.UnpicklingError):
            return step, value
        step, value = (content, value) if kind == "step" else (step, content)


def _cause(code: int) -> str:
    return f"signal {signal.Signals(-code).name}" if code < 0 else f"exit status {code}"
