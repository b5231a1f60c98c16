"""Score a large dataset with Ray: the compiled session is put into the object store once; throughput against one process.

Needs `pip install ray`. Run: python scoring_ray.py [ROWS]
"""
import sys
import time

import numpy as np
import ray

import onemlir as om
from onemlir import nn

FEATURES, CHUNK = 128, 8192


@ray.remote(num_cpus=1)
class Scorer:
    """A worker that holds the session."""

    def __init__(self, session):
        self.session = session

    def score(self, seed, rows):
        return score(self.session, seed, rows)


def score(session, seed, rows):
    """One partition; here it is made up, elsewhere it would be read from a file."""
    x = np.random.default_rng(seed).standard_normal((rows, FEATURES), np.float32)
    return session(x).sum(axis=0, dtype=np.float64)


def main(rows: int) -> float:
    """The largest difference between the sums of both ways of scoring."""
    model = nn.Sequential(nn.Linear(FEATURES, 256), nn.ReLU(), nn.Linear(256, 8))
    session = model.trace(om.zeros((2, FEATURES)), axes=("batch", None)).session(threads=1)
    parts = [(seed, min(CHUNK, rows - start)) for seed, start in enumerate(range(0, rows, CHUNK))]
    start = time.perf_counter()
    alone = sum(score(session, *part) for part in parts)
    one = rows / (time.perf_counter() - start)
    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False)
    sent = ray.put(session)
    scorers = [Scorer.remote(sent) for _ in range(2)]
    ray.get([scorer.score.remote(0, 1) for scorer in scorers])  # workers are up
    start = time.perf_counter()
    together = sum(ray.get([scorers[i % 2].score.remote(*part) for i, part in enumerate(parts)]))
    many = rows / (time.perf_counter() - start)
    ray.shutdown()
    print(f"one process: {one:,.0f} rows a second; Ray with two workers: {many:,.0f}")
    return float(np.abs(together - alone).max())


if __name__ == "__main__":
    assert main(int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000) < 1e-6
