"""Expected diagnostics in comments: ``// expected-error @+1 {{text}}``, as mlir-opt's --verify-diagnostics.

The place is `@+N`, `@-N`, `@above`, `@below` or `@unknown`, or the comment's own line. With `-re` the text may hold patterns in braces:
``// expected-error-re {{size {{[0-9]+}} does not fit}}``.
"""
from __future__ import annotations

import re
from dataclasses import dataclass


@dataclass(frozen=True)
class Expectation:
    """Line within the text (None for any), and what the message must contain."""

    line: int | None
    text: str
    pattern: bool = False

    def met_by(self, line: int, message: str) -> bool:
        if self.line is not None and line and self.line != line:
            return False
        return bool(re.search(_regular(self.text), message)) if self.pattern else self.text in message


def _regular(text: str) -> str:
    """What stands in double braces is a regular expression, the rest is literal."""
    parts = re.split(r"\{\{(.*?)\}\}", text)
    return "".join(part if number % 2 else re.escape(part) for number, part in enumerate(parts))


def expectations(text: str) -> list[Expectation]:
    """The expected errors of a text."""
    found = []
    for number, line in enumerate(text.splitlines(), 1):
        for kind, pattern, place, message in _comments(line):
            if kind == "error":
                found.append(Expectation(_line(number, place), message, bool(pattern)))
    return found


def _comments(line: str):
    """(kind, "-re" or None, place, message) of each expectation in a line; braces in a message are balanced."""
    for match in re.finditer(r"expected-(error|warning|note|remark)(-re)?\s*(?:@([+-]\d+|above|below|unknown))?\s*\{\{", line):
        if "//" not in line[:match.start()]:
            continue
        depth, end = 1, match.end()
        while depth and end < len(line):
            step = 2 if line[end:end + 2] in ("{{", "}}") else 1
            depth += {"{{": 1, "}}": -1}.get(line[end:end + step], 0)
            end += step
        yield (*match.groups(), line[match.end():end - 2])


def _line(number: int, place: str | None) -> int | None:
    if place == "unknown":
        return None
    named = {None: 0, "above": -1, "below": 1}
    return number + (named[place] if place in named else int(place))


def mismatches(text: str, diagnostics: list[tuple[int, str]], first_line: int, filename: str) -> list[str]:
    """What was expected and not reported, and what was reported and not expected. diagnostics: (line, message); line 0 is anywhere else."""
    wanted = expectations(text)
    problems = []
    for line, message in diagnostics:
        match = next((w for w in wanted if w.met_by(line, message)), None)
        if match is None:
            problems.append(f"{filename}:{line + first_line - 1}: unexpected error: {message}")
        else:
            wanted.remove(match)
    problems += [f"{filename}:{(w.line or 0) + first_line - 1}: expected error \"{w.text}\" was not produced" for w in wanted]
    return problems
