"""`onemlir compile`."""
from __future__ import annotations

import pathlib

from rich.console import Console

from .models import read_model
from .progress import working


def run(model: str, output: str, memory: int | None, **options) -> None:
    """memory: limit in MiB; the other options are those of `TracedModel.compile`."""
    with working("Compiling"):
        written = read_model(model).compile(output, memory_limit=memory and memory << 20, **options)
    Console().print(f"{written}: {pathlib.Path(written).stat().st_size:,} bytes", highlight=False)
