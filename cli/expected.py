"""Expected diagnostics in comments: ``// expected-error @+1 {{text}}``, as mlir-opt's --verify-diagnostics."""
from __future__ import annotations

import re

EXPECTED = re.compile(r"//\s*expected-(error|warning|note|remark)(-re)?\s*(?:@([+-]\d+|above|below|unknown))?\s*\{\{(.*?)\}\}")


def expectations(text: str) -> list[tuple[int | None, str]]:
    """(line within the text, message part) of each expected error; the line is None for `@unknown`."""
    found = []
    for number, line in enumerate(text.splitlines(), 1):
        for match in EXPECTED.finditer(line):
            if match.group(1) == "error":
                found.append((_line(number, match.group(3)), match.group(4)))
    return found


def _line(number: int, offset: str | None) -> int | None:
    if offset == "unknown":
        return None
    return number + {None: 0, "above": -1, "below": 1}.get(offset, 0 if offset in (None, "above", "below") else int(offset))


def mismatches(text: str, diagnostics: list[tuple[int, int, str]], first_line: int, filename: str) -> list[str]:
    """What was expected and not reported, and what was reported and not expected."""
    wanted = expectations(text)
    problems = []
    for line, _, message in diagnostics:
        match = next((w for w in wanted if (w[0] is None or w[0] == line or not line) and w[1] in message), None)
        if match is None:
            problems.append(f"{filename}:{line + first_line - 1}: unexpected error: {message}")
        else:
            wanted.remove(match)
    problems += [f"{filename}:{(line or 0) + first_line - 1}: expected error \"{message}\" was not produced" for line, message in wanted]
    return problems
