"""`onemlir explore`: one HTML page that shows a model through all stages of the compiler. It needs no network."""
from __future__ import annotations

import pathlib

from ...dialect.output_file import write_file
from ..models import parse_sizes, random_inputs, read_model
from ..profile import profile
from ..progress import working
from .page import page
from .record import record


def run(model: str, output: str | None, sizes: list[str]) -> None:
    path = pathlib.Path(output or pathlib.Path(model).with_suffix(".html").name)
    traced = read_model(model)
    inputs = random_inputs(traced, parse_sizes(sizes), 0)
    with working("Compiling"):
        recording = record(traced.program)
    with working("Measuring"):
        recording.times = profile(traced, inputs)
    write_file(path, page(pathlib.Path(model).name, recording))
    print(f"{path}: {len(recording.stages)} stages, {len(recording.passes)} passes")
