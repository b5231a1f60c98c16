"""What the tools read, text in UTF-8 or bytecode, the streams that they are started with, and how they end."""
from __future__ import annotations

import contextlib
import io
import os
import sys
from typing import Iterator

BYTECODE = b"ML\xefR"


def open_streams() -> None:
    """Streams that take any text: one that was closed leads nowhere, and characters that an encoding lacks are written as escapes."""
    if sys.stdout is None:
        sys.stdout = open(os.devnull, "w", encoding="utf-8")
    if sys.stderr is None:
        sys.stderr = open(os.devnull, "w", encoding="utf-8")
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")  # names that the terminal's encoding does not have


def read_source(path: str) -> str | bytes:
    """Text, or the bytes of bytecode, from a file or ("-") from standard input. FormatError names the place of what is no text."""
    if path != "-":
        with open(path, "rb") as file:
            return decoded(file.read(), path)
    if sys.stdin is None:
        raise OSError("standard input is closed")
    return decoded(sys.stdin.buffer.read(), path)


def decoded(content: bytes, path: str) -> str | bytes:
    if content.startswith(BYTECODE):
        return content
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError as error:
        from ..errors import FormatError

        before = content[:error.start]
        line, column = before.count(b"\n") + 1, len(before) - (before.rfind(b"\n") + 1) + 1
        problem = f"byte 0x{content[error.start]:02x} is no UTF-8: the file is neither text nor bytecode"
        raise FormatError(f"{path}:{line}:{column}: error: {problem}") from None


def reason(error: OSError) -> str:
    """``file: what is wrong with it`` of an error of the operating system."""
    return f"{error.filename}: {error.strerror}" if error.filename is not None and error.strerror else str(error)


@contextlib.contextmanager
def ending(program: str) -> Iterator[None]:
    """Exit status 1 for a refusal of the library or of the operating system, with one message that starts with `program`; and, without a
    message, where nobody reads the output to its end."""
    from ..errors import OnemlirError

    try:
        yield
    except BrokenPipeError:
        leave_output()
        sys.exit(1)
    except OSError as error:
        print(f"{program}: {reason(error)}", file=sys.stderr)
        sys.exit(1)
    except OnemlirError as error:
        print(message(program, error), file=sys.stderr)
        sys.exit(1)


def leave_output() -> None:
    """Let what is still buffered for a closed pipe go nowhere."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def message(program: str, error: Exception) -> str:
    """An error as one message: as it is where it starts with a place in a file, as MLIR's tools print, else after the program's name."""
    return str(error) if ": error: " in str(error) else f"{program}: {error}"
