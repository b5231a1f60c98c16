"""Score a large dataset with Dask: the compiled session is sent to each worker once; throughput against one process.

Needs `pip install dask distributed`. Run: python scoring_dask.py [ROWS]
"""
import sys
import time

import numpy as np
from distributed import Client, LocalCluster

import onemlir as om
from onemlir import nn

FEATURES, CHUNK = 128, 8192


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
    with LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster, Client(cluster) as client:
        sent = client.scatter(session, broadcast=True)
        client.gather(client.map(lambda seed, session: score(session, seed, 1), range(4), session=sent))  # workers are up
        start = time.perf_counter()
        together = sum(client.gather([client.submit(score, sent, *part) for part in parts]))
        many = rows / (time.perf_counter() - start)
    print(f"one process: {one:,.0f} rows a second; Dask with two workers: {many:,.0f}")
    return float(np.abs(together - alone).max())


if __name__ == "__main__":
    assert main(int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000) < 1e-6
