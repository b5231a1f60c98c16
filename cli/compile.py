"""`onemlir compile`."""
from __future__ import annotations

import pathlib

from rich.console import Console

from .models import read_model
from .progress import working


def run(model: str, output: str, target: str, cpu: str, threads: int | None, name: str | None, weights: str | None, executable: bool, **limits) -> None:
    with working("Compiling"):
        written = read_model(model).compile(output, target=target, cpu=cpu, threads=threads, name=name, weights=weights, executable=executable, **limits)
    Console().print(f"{written}: {pathlib.Path(written).stat().st_size:,} bytes")
