"""`onemlir run`."""
from __future__ import annotations

import numpy as np
from rich.console import Console

from .models import parse_sizes, random_inputs, read_inputs, read_model, write_arrays
from .progress import working


def run(model: str, inputs: str | None, output: str | None, sizes: list[str], seed: int, threads: int | None) -> None:
    traced = read_model(model)
    arrays = read_inputs(inputs, traced.input_names) if inputs else random_inputs(traced, parse_sizes(sizes), seed)
    with working("Compiling"):
        session = traced.session(threads=threads, isolate=True)
    results = session.run(arrays)
    if output:
        write_arrays(output if output.endswith(".npz") else output + ".npz", results)
    console = Console()
    for name, array in results.items():
        console.print(f"[bold]{name}[/bold]: {array.dtype}{array.shape}")
        console.print(np.array2string(array, threshold=40, precision=5), highlight=False)
