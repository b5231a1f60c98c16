"""The line of the user's program that is being executed."""
from __future__ import annotations

import contextlib
import functools
import linecache
import pathlib
import sys
import sysconfig
from dataclasses import dataclass

import numpy as np

_ROOT = pathlib.Path(__file__).resolve().parent.parent
_FOLDERS = tuple(str(_ROOT / folder) + "/" for folder in ("frontend", "dialect", "lowering", "runtime", "cli"))
_OURS = (*_FOLDERS, str(_ROOT / "traced.py"), str(_ROOT / "__init__.py"), contextlib.__file__, "<frozen")
_SKIPPED = list(_OURS)
_PYTHON = (sysconfig.get_paths()["stdlib"] + "/", str(pathlib.Path(np.__file__).parent) + "/")
_PACKAGES = ("/site-packages/", "/dist-packages/")


def skip_folder(folder: str) -> None:
    """Count a library's folder as no user's code, such as torch's own."""
    prefix = str(folder).rstrip("/") + "/"
    if prefix not in _SKIPPED:
        _SKIPPED.append(prefix)
        is_library_file.cache_clear()
        is_user_file.cache_clear()


@dataclass(frozen=True)
class UserLine:
    """File and line of the user's code, with its text."""

    filename: str
    line: int

    @property
    def text(self) -> str:
        return linecache.getline(self.filename, self.line).strip()

    def __str__(self) -> str:
        place = f"{self.filename}:{self.line}"
        return f"{place}: {self.text}" if self.text else place


def user_line() -> UserLine:
    """The innermost frame that is neither the library's own nor of Python's library or numpy."""
    frame = sys._getframe(1)
    while frame is not None and not is_user_file(frame.f_code.co_filename):
        frame = frame.f_back
    return UserLine("<unknown>", 0) if frame is None else UserLine(frame.f_code.co_filename, frame.f_lineno)


def line_of_error(error: BaseException) -> UserLine | None:
    """The innermost line of the user's code in an error's traceback."""
    found, trace = None, error.__traceback__
    while trace is not None:
        if is_user_file(trace.tb_frame.f_code.co_filename):
            found = UserLine(trace.tb_frame.f_code.co_filename, trace.tb_lineno)
        trace = trace.tb_next
    return found


def is_library_frame(depth: int) -> bool:
    """Whether the frame so many calls above the caller is the library's own."""
    return is_library_file(sys._getframe(depth + 1).f_code.co_filename)


@functools.lru_cache(maxsize=None)
def is_library_file(filename: str) -> bool:
    """Whether a file is the library's own, or that of another library that counts as such."""
    return filename.startswith(tuple(_SKIPPED))


@functools.lru_cache(maxsize=None)
def is_user_file(filename: str) -> bool:
    """Whether a file is neither the library's own nor one of Python's library or numpy."""
    own, numpy = _PYTHON
    is_python = filename.startswith(own) and not any(folder in filename for folder in _PACKAGES)
    return not is_library_file(filename) and not is_python and not filename.startswith(numpy)


def function_line(function) -> UserLine:
    """Where a function, method, module or partial is defined."""
    for step in ("forward", "func", "__func__", "__wrapped__"):
        function = getattr(function, step, function)
    code = getattr(function, "__code__", None)
    return user_line() if code is None else UserLine(code.co_filename, code.co_firstlineno)
