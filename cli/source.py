"""What the tools read, text in UTF-8 or bytecode, and the streams that they are started with."""
from __future__ import annotations

import os
import sys

BYTECODE = b"ML\xefR"


def open_streams() -> None:
    """Give a program that was started with a closed output or error stream one that leads nowhere."""
    if sys.stdout is None:
        sys.stdout = open(os.devnull, "w", encoding="utf-8")
    if sys.stderr is None:
        sys.stderr = open(os.devnull, "w", encoding="utf-8")


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
