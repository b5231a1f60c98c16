"""Textual pipelines: ``builtin.module(om-decompose,om-to-linalg{a=1 b=2},func.func(cse))``. Reading one needs no MLIR."""
from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Iterator

from .registry import PASSES

ANCHOR = re.compile(r"\s*([\w.$-]+)\s*\(")


@dataclass(frozen=True)
class Step:
    """One pass of a pipeline: its name and options, inside of the ops that it is nested in: ``func.func(cse)``."""

    text: str

    @property
    def anchors(self) -> list[str]:
        """The ops that the pass is nested in, the outermost first."""
        return re.findall(ANCHOR, self.text.partition("{")[0])

    @property
    def _inner(self) -> str:
        depth = len(self.anchors)
        text = self.text.split("(", depth)[-1].strip()
        for _ in range(depth):
            text = text.removesuffix(")").strip()
        return text

    @property
    def name(self) -> str:
        return self._inner.partition("{")[0].strip()

    @property
    def options(self) -> dict[str, str]:
        body = re.sub(r"\s*=\s*", "=", self._inner.partition("{")[2].rstrip().removesuffix("}"))
        return dict(item.partition("=")[::2] for item in body.split()) if body else {}

    @property
    def ours(self) -> bool:
        return self.name in PASSES


def parse_pipeline(text: str) -> list[Step]:
    """Steps of ``builtin.module(a,b{x=1},func.func(c,d))``, or of a bare comma-separated list; each pass of a nest is a step of its own.
    ValueError for unbalanced brackets and passes without a name."""
    text = text.strip()
    if text.startswith("builtin.module("):
        if not text.endswith(")"):
            raise ValueError(f"pipeline is not closed: {text!r}")
        text = text[len("builtin.module("):-1]
    return list(_steps(text))


def _steps(text: str) -> Iterator[Step]:
    parts = [part.strip() for part in _split(text)]
    if parts == [""]:
        return
    for part in parts:
        anchor = ANCHOR.match(part.partition("{")[0])
        if not part or part.startswith("{"):
            raise ValueError(f"a pass without a name in {text!r}")
        if anchor is None:
            yield Step(part)
        elif not part.endswith(")"):
            raise ValueError(f"pipeline is not closed: {part!r}")
        else:
            yield from (Step(f"{anchor.group(1)}({inner.text})") for inner in _steps(part[anchor.end():-1]))


def _split(text: str) -> Iterator[str]:
    """The parts between commas outside of brackets."""
    open_brackets, start = [], 0
    for place, character in enumerate(text):
        if character in "({":
            open_brackets.append(character)
        elif character in ")}" and (not open_brackets or open_brackets.pop() != {")": "(", "}": "{"}[character]):
            raise ValueError(f"pipeline has an unmatched '{character}' at {place}: {text!r}")
        if character == "," and not open_brackets:
            yield text[start:place]
            start = place + 1
    if open_brackets:
        raise ValueError(f"pipeline is not closed: {text!r}")
    yield text[start:]
