"""Writes the table of docs/torch_traps.md: what om.trace, torch.export and torch's ONNX exporter make of the trap programs.

    python test/frontend/torch/compare_traps.py        (needs onnxscript and onnxruntime; about a minute)
"""
from __future__ import annotations

import contextlib
import io
import logging
import pathlib
import re
import sys
import tempfile
import warnings

import numpy as np
import onnxruntime
import torch

import onemlir as om

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from torch_traps import TRAPS  # noqa: E402

PAGE = pathlib.Path(__file__).parents[3] / "docs" / "torch_traps.md"
EACH_TIME = "draws anew each time"


def copies(inputs) -> tuple:
    return tuple(t.clone() if isinstance(t, torch.Tensor) else t for t in inputs)


def dynamic_shapes(trap):
    """The symbolic axes of a trap as torch.export takes them."""
    if trap.axes is None:
        return None
    return tuple({place: torch.export.Dim(name) for place, name in enumerate(axes) if name} for axes in trap.axes)


def by_onemlir(trap):
    traced = om.trace(trap.make(), *copies(trap.example), axes=trap.axes)
    return lambda inputs: traced(*inputs)


def exported(trap):
    return torch.export.export(trap.make_eval(), copies(trap.example), dynamic_shapes=dynamic_shapes(trap))


def by_export(trap):
    module = exported(trap).module()
    return lambda inputs: module(*inputs)


def by_onnx(trap):
    with tempfile.TemporaryDirectory() as folder:
        path = str(pathlib.Path(folder) / "trap.onnx")
        torch.onnx.export(trap.make_eval(), copies(trap.example), path, dynamo=True, dynamic_shapes=dynamic_shapes(trap))
        session = onnxruntime.InferenceSession(path)
    names = [i.name for i in session.get_inputs()]
    return lambda inputs: session.run(None, dict(zip(names, (t.numpy() for t in inputs if t is not None))))


def leaves(result) -> list[np.ndarray]:
    return [np.asarray(t) for t in torch.utils._pytree.tree_leaves(result)]


def same(found, expected) -> bool:
    found, expected = leaves(found), leaves(expected)
    return len(found) == len(expected) and all(a.shape == b.shape and a.dtype == b.dtype and np.allclose(a, b, 1e-4, 1e-5, equal_nan=True)
                                               for a, b in zip(found, expected))


def attempt(run, inputs):
    """The result for copies of the inputs; None where the program or the recording raises."""
    try:
        return run(copies(inputs))
    except Exception:
        return None


def outcome(record, trap) -> str:
    """What becomes of a trap: the example, another input and that one again are run as recorded and by torch."""
    try:
        run = record(trap)
    except Exception as error:
        return "refuses, with the line" if isinstance(error, om.OnemlirError) and "torch_traps.py" in str(error) else "refuses"
    eager = trap.make_eval()
    for number, inputs in enumerate((trap.example, trap.other, trap.other)):
        expected, found = attempt(lambda given: eager(*given), inputs), attempt(run, inputs)
        if expected is None or found is None:
            if expected is found:
                continue
            where = "the example" if number == 0 else "another input"
            return "the assertion is dropped" if expected is None else f"error when run on {where}"
        if trap.name == "random numbers" and not same(found, run(copies(inputs))):
            return EACH_TIME
        if not same(found, expected):
            return f"**wrong**{' on the example' if number == 0 else ''}"
    return "right"


@contextlib.contextmanager
def quiet():
    """The recorders' own messages are left out."""
    logging.disable(logging.CRITICAL)
    with warnings.catch_warnings(), contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        warnings.simplefilter("ignore")
        yield


def rows():
    """Lines of the table."""
    yield "| program | om.trace | torch.export | torch.onnx |\n| --- | --- | --- | --- |"
    for trap in TRAPS:
        with quiet(), torch.no_grad():
            found = [outcome(record, trap) for record in (by_onemlir, by_export, by_onnx)]
        yield f"| {trap.name} | {' | '.join(found)} |"


def main() -> None:
    versions = f"torch {torch.__version__.partition('+')[0]}, onnxruntime {onnxruntime.__version__}."
    table = "\n".join(rows())
    text = re.sub(r"torch [\d.]+, onnxruntime [\d.]+\.", versions, PAGE.read_text())
    PAGE.write_text(re.sub(r"(?m)^\|.*\|$(\n^\|.*\|$)*", lambda match: table, text))
    print(table)


if __name__ == "__main__":
    main()
