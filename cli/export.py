"""`onemlir export`."""
from __future__ import annotations

import pathlib

from ..errors import OnemlirError
from .models import read_model
from .progress import working


def run(model: str, output: str) -> None:
    traced = read_model(model)
    writers = {".onnx": traced.save_onnx, ".onemodel": traced.save}
    suffix = pathlib.Path(output).suffix
    if suffix not in writers:
        raise OnemlirError(f"the output must end in .onnx or .onemodel, found {output!r}")
    with working(f"Writing {output}"):
        writers[suffix](output)
