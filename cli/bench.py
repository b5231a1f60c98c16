"""`onemlir bench`: medians of interleaved rounds, beside onnxruntime with the same number of threads in the same process."""
from __future__ import annotations

import pathlib
import tempfile
import time
from dataclasses import dataclass
from typing import Callable

import numpy as np
from rich.console import Console
from rich.table import Table

from .models import parse_sizes, random_inputs, read_model
from .progress import working


@dataclass(frozen=True)
class Measurement:
    """Times in seconds of one runner."""

    median: float
    low: float
    high: float

    def __str__(self) -> str:
        return f"{self.median * 1e3:.3f} ({self.low * 1e3:.3f}-{self.high * 1e3:.3f})"


def measure(runners: dict[str, Callable], rounds: int) -> dict[str, Measurement]:
    """Run all runners in turn, `rounds` times; the median and the quartiles of each."""
    times: dict[str, list[float]] = {name: [] for name in runners}
    for function in runners.values():
        function()
    for _ in range(rounds):
        for name, function in runners.items():
            start = time.perf_counter()
            function()
            times[name].append(time.perf_counter() - start)
    return {name: Measurement(*np.percentile(values, (50, 25, 75))) for name, values in times.items()}


def run(model: str | None, sizes: list[str], threads: int, rounds: int) -> None:
    console = Console()
    table = Table(title=f"{threads} thread{'s' * (threads > 1)}, median (quartiles) in ms of {rounds} interleaved rounds")
    for column in ("model", "ready in s", "onemlir", "onnxruntime", "ratio", "largest difference"):
        table.add_column(column, justify="left" if column == "model" else "right")
    ratios = []
    for name, traced, inputs in models(model, sizes):
        with working(f"Measuring {name}"):
            row, ratio = measure_model(traced, inputs, threads, rounds)
        table.add_row(name, *row)
        ratios += [ratio] if ratio else []
    console.print(table)
    if len(ratios) > 1:
        console.print(f"geometric mean of the ratios: {np.exp(np.mean(np.log(ratios))):.2f}")


def models(path: str | None, sizes: list[str]):
    """(name, traced model, inputs) of the file given, or of the built-in families."""
    if path is not None:
        traced = read_model(path)
        yield pathlib.Path(path).name, traced, random_inputs(traced, parse_sizes(sizes), 0)
        return
    from ..frontend.random import manual_seed
    from ..frontend.tensor import tensor
    from .families import FAMILIES

    batch = parse_sizes(sizes).get("batch")
    for family in FAMILIES:
        manual_seed(0)
        example = family.example(batch or (64 if family.name == "mlp" else 1))
        yield family.name, family.build().trace(tensor(example)), {"input": example}


def measure_model(traced, inputs, threads: int, rounds: int) -> tuple[list[str], float | None]:
    """The cells of one row, and the ratio to onnxruntime."""
    start = time.perf_counter()
    session = traced.session(threads=threads)
    ready = time.perf_counter() - start
    runners = {"onemlir": lambda: session.run(inputs)}
    peer = onnxruntime_session(traced, threads)
    if peer is not None:
        runners["onnxruntime"] = lambda: peer.run(None, inputs)
    results = measure(runners, rounds)
    if peer is None:
        return [f"{ready:.2f}", str(results["onemlir"]), "not installed", "", ""], None
    difference = max(float(np.max(np.abs(a - b), initial=0)) for a, b in zip(session.run(inputs).values(), peer.run(None, inputs)))
    ratio = results["onemlir"].median / results["onnxruntime"].median
    return [f"{ready:.2f}", str(results["onemlir"]), str(results["onnxruntime"]), f"{ratio:.2f}", f"{difference:.1e}"], ratio


def onnxruntime_session(traced, threads: int):
    """onnxruntime's session of the exported model; None when it is not installed."""
    try:
        import onnxruntime
    except ImportError:
        return None
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.log_severity_level = 3
    with tempfile.TemporaryDirectory() as folder:
        traced.save_onnx(pathlib.Path(folder) / "model.onnx")
        return onnxruntime.InferenceSession(pathlib.Path(folder) / "model.onnx", options)
