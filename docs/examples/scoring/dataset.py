"""What the examples of scoring have in common: a model, a dataset in partitions, and the comparison with one process."""
import sys
import time
from typing import Callable

import numpy as np

import onemlir as om
from onemlir import nn

FEATURES, CHUNK = 128, 8192


def make_session():
    """A session of one thread: the engine runs as many workers as there are processors."""
    model = nn.Sequential(nn.Linear(FEATURES, 256), nn.ReLU(), nn.Linear(256, 8))
    return model.trace(om.zeros((2, FEATURES)), axes=("batch", None)).session(threads=1)


def partitions(rows: int) -> list[tuple[int, int]]:
    """(seed, rows) of each partition."""
    return [(seed, min(CHUNK, rows - start)) for seed, start in enumerate(range(0, rows, CHUNK))]


def score(session, seed: int, rows: int) -> np.ndarray:
    """One partition; here it is made up, elsewhere it would be read from a file."""
    x = np.random.default_rng(seed).standard_normal((rows, FEATURES), np.float32)
    return session(x).sum(axis=0, dtype=np.float64)


def compare(engine: str, session, score_all: Callable[[list], np.ndarray]) -> None:
    """Print the throughput of `score_all(partitions)` and of one process. Their sums must be equal."""
    rows = int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000
    parts = partitions(rows)
    alone, one = timed(lambda: sum(score(session, *part) for part in parts))
    together, many = timed(lambda: score_all(parts))
    print(f"one process: {rows / one:,.0f} rows a second; {engine} with two workers: {rows / many:,.0f}")
    np.testing.assert_allclose(together, alone, rtol=1e-9, atol=1e-6)


def timed(function: Callable) -> tuple:
    """The result, and the seconds that it took."""
    start = time.perf_counter()
    return function(), time.perf_counter() - start
