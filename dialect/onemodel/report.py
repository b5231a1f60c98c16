"""How a refusal reads: the file, the entry, what was found, what was expected, and what to do."""
from __future__ import annotations

import reprlib

from ...errors import FormatError

_LONGEST_QUOTE = 80


def refusal(where: str, found: str, expected: str, advice: str = "") -> FormatError:
    """The error to raise for something at `where` (a path, or `entry_of` one)."""
    return FormatError(f"{where}: found {found}; expected {expected}" + (f" ({advice})" if advice else ""))


def entry_of(path: str, entry: str) -> str:
    return f"{path}: {entry}"


def quote(value: object) -> str:
    """`value` as a short, printable piece of a message, however long or deep it is."""
    text = repr(value) if isinstance(value, (str, bytes)) and len(value) <= _LONGEST_QUOTE else _short.repr(value)
    return text.encode("ascii", "backslashreplace").decode("ascii")


_short = reprlib.Repr()
_short.maxstring = _short.maxother = _short.maxlong = _LONGEST_QUOTE
