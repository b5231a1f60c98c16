"""The search: each kind of change is tried in halves, quarters and so on, and all kinds again until none helps."""
from __future__ import annotations

import re
from typing import Callable, Sequence

from ...dialect import bindings
from ...dialect.verify import verify
from ...errors import OnemlirError
from .changes import bypass_operations, drop_arguments, drop_functions, drop_operations, drop_results, unwrap_regions

CHANGES = (("results", drop_results), ("functions", drop_functions), ("operations", drop_operations), ("regions", unwrap_regions),
           ("bypassed operations", bypass_operations), ("arguments", drop_arguments))
SIZE = re.compile(r"(?<=[<x ,])(\d+)(?=x|[,\]>])")


def reduce_text(text: str, fails: Callable[[str], bool], report: Callable[[str, int], None] = lambda what, size: None) -> str:
    """The smallest text found on which `fails` is true. Candidates are valid modules if the text is one."""
    text = canonical(text) if canonical(text) and fails(canonical(text)) else text
    before = None
    while before != text:
        before = text
        for what, change in CHANGES:
            text = _minimize(text, change, fails)
            report(what, operation_count(text))
        text = _shrink_sizes(text, fails)
    return text


def canonical(text: str) -> str | None:
    """The text as the printer writes it; None when it is no valid module."""
    try:
        module = bindings.parse_module(text, bindings.new_context())
    except OnemlirError:
        return None
    return None if verify(module) else str(module)


def operation_count(text: str) -> int:
    return sum(bool(re.match(r"\s*(%[\w:]+ = )?\"?\w+\.\w+", line)) for line in text.splitlines())


def _minimize(text: str, change: Callable, fails: Callable[[str], bool]) -> str:
    """ddmin: drop the largest groups of things that can go. `change(text, None)` counts them, `change(text, places)` drops some."""
    size = max(1, change(text, None) // 2)
    while True:
        count, start, progress = change(text, None), 0, False
        while start < count:
            candidate = change(text, range(start, min(start + size, count)))
            if candidate is not None and candidate != text and fails(candidate):
                text, progress = candidate, True
                count = change(text, None)
            else:
                start += size
        if size == 1 and not progress:
            return text
        size = max(1, size // 2)


def _shrink_sizes(text: str, fails: Callable[[str], bool]) -> str:
    """Sizes in types and attributes, all equal ones together, as small as they go."""
    for number in sorted({int(n) for n in SIZE.findall(text)}, reverse=True):
        for smaller in _smaller(number):
            candidate = canonical(SIZE.sub(lambda match: str(smaller) if int(match.group(1)) == number else match.group(1), text))
            if candidate is not None and candidate != text and fails(candidate):
                text = candidate
                break
    return text


def _smaller(number: int) -> Sequence[int]:
    return [n for n in dict.fromkeys((1, 2, 3, 4, number // 4, number // 2)) if 0 < n < number]
