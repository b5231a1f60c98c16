"""Expected messages (error, warning, remark, note) in comments: ``// expected-error @+1 {{text}}``, as mlir-opt's --verify-diagnostics.

The place is `@+N`, `@-N`, `@above`, `@below` or `@unknown`, or the comment's own line. With `-re` the text may hold patterns in braces:
``// expected-error-re {{size {{[0-9]+}} does not fit}}``.
"""
from __future__ import annotations

import re
from dataclasses import dataclass


@dataclass(frozen=True)
class Expectation:
    """Line within the text (None for any), and what a message of this severity must contain; `comment` is the line and column that the
    expectation stands in."""

    severity: str
    line: int | None
    text: str
    pattern: bool
    comment: tuple[int, int]

    def met_by(self, message) -> bool:
        if message.severity != self.severity or (self.line is not None and message.line and self.line != message.line):
            return False
        return bool(re.search(_regular(self.text), message.text)) if self.pattern else self.text in message.text


def _regular(text: str) -> str:
    """What stands in double braces is a regular expression, the rest is literal."""
    parts = re.split(r"\{\{(.*?)\}\}", text)
    return "".join(part if number % 2 else re.escape(part) for number, part in enumerate(parts))


def expectations(text: str) -> list[Expectation]:
    """The expected messages of a text."""
    found = []
    for number, line in enumerate(text.splitlines(), 1):
        for column, kind, pattern, place, message in _comments(line):
            found.append(Expectation(kind, _line(number, place), message, bool(pattern), (number, column)))
    return found


def _comments(line: str):
    """(column, kind, "-re" or None, place, message) of each expectation in a line; braces in a message are balanced."""
    for match in re.finditer(r"expected-(error|warning|note|remark)(-re)?\s*(?:@([+-]\d+|above|below|unknown))?\s*\{\{", line):
        if "//" not in line[:match.start()]:
            continue
        depth, end = 1, match.end()
        while depth and end < len(line):
            step = 2 if line[end:end + 2] in ("{{", "}}") else 1
            depth += {"{{": 1, "}}": -1}.get(line[end:end + step], 0)
            end += step
        yield (match.start() + 1, *match.groups(), line[match.end():end - 2])


def _line(number: int, place: str | None) -> int | None:
    if place == "unknown":
        return None
    named = {None: 0, "above": -1, "below": 1}
    return number + (named[place] if place in named else int(place))


def mismatches(text: str | bytes, messages: list, first_line: int, filename: str) -> list[str]:
    """What was expected and not reported, and what was reported and not expected. Notes need not be expected."""
    wanted = expectations(text) if isinstance(text, str) else []
    problems = []
    at = lambda line, column: f"{filename}:{max(line, 1) + first_line - 1}:{max(column, 1)}: error:"
    for message in messages:
        match = next((w for w in wanted if w.met_by(message)), None)
        if match is not None:
            wanted.remove(match)
        elif message.severity != "note":
            problems.append(f"{at(message.line, message.column)} unexpected {message.severity}: {message.text}")
    return problems + [f'{at(*w.comment)} expected {w.severity} "{w.text}" was not produced' for w in wanted]
