"""`onemlir demo`: the main job on real input, scanned digits."""
from __future__ import annotations

import pathlib
import tempfile
import time

import numpy as np
from rich.console import Console
from rich.table import Table

from .progress import working


def run(keep: str | None) -> None:
    console = Console()
    if keep is None:
        with tempfile.TemporaryDirectory() as folder:
            demonstrate(console, pathlib.Path(folder))
    else:
        pathlib.Path(keep).mkdir(parents=True, exist_ok=True)
        demonstrate(console, pathlib.Path(keep))


def classifier():
    """The trained classifier of 8x8 scans, as a module."""
    from ..frontend import nn
    from .digits import load_weights

    model = nn.Sequential(nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 32), nn.ReLU(), nn.Linear(32, 10))
    model.load_state_dict(load_weights())
    return model.eval()


def demonstrate(console: Console, folder: pathlib.Path) -> None:
    """Trace, show, compile, run, save, export."""
    from ..frontend.tensor import tensor
    from ..traced import load
    from .digits import load as load_digits

    digits = load_digits()
    model = classifier()
    console.rule("1. Trace: one run on an example, with a symbolic batch")
    traced = model.trace(tensor(digits.held_out_images[:4]), axes=("batch", None))
    console.print(traced.mlir(), highlight=False, markup=False, soft_wrap=True)
    console.rule("2. Compile and run on held-out scans")
    with working("Compiling"):
        session = traced.session()
    console.print(f"ready in {sum(session.timing.values()):.2f} s")
    console.print(results_table(model, session, digits))
    console.rule("3. Save and export")
    traced.save(folder / "digits.onemodel")
    traced.save_onnx(folder / "digits.onnx")
    again = load(folder / "digits.onemodel").session()
    same = np.array_equal(again(digits.held_out_images), session(digits.held_out_images))
    for path in sorted(folder.glob("digits.*")):
        console.print(f"{path.name}: {path.stat().st_size:,} bytes")
    console.print(f"the saved model gives the same outputs: {'yes' if same else 'NO'}")


def results_table(model, session, digits) -> Table:
    """Accuracy and time per batch of eager and compiled, on the held-out scans."""
    from ..frontend.tensor import tensor

    images, labels = digits.held_out_images, digits.held_out_labels
    runs = {"eager": lambda: model(tensor(images)).numpy(), "compiled": lambda: session(images)}
    table = Table(title=f"{len(labels)} held-out scans")
    for column in ("", "accuracy", "median of 50 runs"):
        table.add_column(column, justify="left" if not column else "right")
    for name, function in runs.items():
        accuracy = float((function().argmax(1) == labels).mean())
        table.add_row(name, f"{accuracy:.1%}", f"{median_seconds(function, 50) * 1e6:.0f} us")
    return table


def median_seconds(function, rounds: int) -> float:
    """Median time of a call."""
    times = []
    for _ in range(rounds):
        start = time.perf_counter()
        function()
        times.append(time.perf_counter() - start)
    return float(np.median(times))
