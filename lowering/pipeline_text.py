"""Textual pipelines: ``builtin.module(om-decompose,om-to-linalg{a=1 b=2},func.func(cse))``. Reading one needs no MLIR."""
from __future__ import annotations

from dataclasses import dataclass
from typing import Iterator

from .registry import PASSES


@dataclass(frozen=True)
class Step:
    """One entry of a pipeline: a name (or a nested upstream pipeline as text) and its options."""

    text: str

    @property
    def name(self) -> str:
        return self.text.partition("{")[0].strip()

    @property
    def options(self) -> dict[str, str]:
        body = self.text.partition("{")[2].rstrip().removesuffix("}")
        return dict(item.partition("=")[::2] for item in body.split()) if body else {}

    @property
    def ours(self) -> bool:
        return self.name in PASSES


def parse_pipeline(text: str) -> list[Step]:
    """Steps of ``builtin.module(a,b{x=1},func.func(c))``, or of a bare comma-separated list. ValueError for unbalanced brackets."""
    text = text.strip()
    if text.startswith("builtin.module("):
        if not text.endswith(")"):
            raise ValueError(f"pipeline is not closed: {text!r}")
        text = text[len("builtin.module("):-1]
    return [Step(part.strip()) for part in _split(text) if part.strip()]


def _split(text: str) -> Iterator[str]:
    depth, start = 0, 0
    for place, character in enumerate(text):
        depth += character in "({"
        depth -= character in ")}"
        if depth < 0:
            raise ValueError(f"pipeline has an unmatched '{character}' at {place}: {text!r}")
        if character == "," and depth == 0:
            yield text[start:place]
            start = place + 1
    if depth:
        raise ValueError(f"pipeline is not closed: {text!r}")
    yield text[start:]
