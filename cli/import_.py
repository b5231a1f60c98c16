"""`onemlir import`."""
from __future__ import annotations

import pathlib

from ..errors import OnemlirError
from .progress import working


def run(model: str, output: str) -> None:
    from ..traced import from_onnx

    if pathlib.Path(output).suffix != ".onemodel":
        raise OnemlirError(f"the output must end in .onemodel, found {output!r}")
    with working(f"Reading {model}"):
        traced = from_onnx(model)
        traced.save(output)
