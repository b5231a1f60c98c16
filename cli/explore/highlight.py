"""IR and assembly as HTML with classes for what a reader's eye looks for."""
from __future__ import annotations

import re
from html import escape

TOKENS = re.compile(r"""(?P<s>"[^"]*")|(?P<c>//.*$|;.*$)|(?P<v>[%@#][\w.$-]+)
|(?P<o>\b(?:linalg|tensor|arith|math|scf|func|memref|vector|llvm|cf|affine|bufferization)\.[\w.]+)
|(?P<t>\b(?:tensor|memref|vector)<[^<>]*>|\b(?:[fi]\d+|ui\d+|bf16|index)\b)|(?P<n>\b-?\d+(?:\.\d+(?:e[+-]?\d+)?)?\b)""", re.VERBOSE)


def highlighted(text: str) -> str:
    """One line."""
    parts, place = [], 0
    for match in TOKENS.finditer(text):
        parts.append(escape(text[place:match.start()]))
        kind = "o" if match.lastgroup == "s" and re.fullmatch(r'"(?:om|tensor)\.\w+"', match.group()) else match.lastgroup
        parts.append(f'<b class="{kind}">{escape(match.group())}</b>')
        place = match.end()
    return "".join(parts) + escape(text[place:])
