"""What small things take: loading a library, a cached session, a compiled training step, 1,000 steps of a scan: python test/bench/latency.py"""
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

import onemlir as om
from onemlir import nn, ops, optim
from onemlir.cli import digits

LOAD = """
import time, numpy as np
start = time.process_time()
from onemlir.runtime import Session
import sys
Session(sys.argv[1]).run({"input": np.zeros((2, 16), np.float32)})
print(time.process_time() - start)
"""


def seconds(function, rounds: int = 10) -> float:
    """The shortest of some runs."""
    function()
    times = []
    for _ in range(rounds):
        start = time.perf_counter()
        function()
        times.append(time.perf_counter() - start)
    return min(times)


def library(folder: Path) -> float:
    """Import, load and first run over `import numpy`, in processor time, the best of five processes."""
    path = folder / "net.so"
    nn.Sequential(nn.Linear(16, 32), nn.ReLU(), nn.Linear(32, 4)).trace(om.zeros((2, 16))).compile(path)
    command = [sys.executable, "-c", LOAD, path]
    return min(float(subprocess.run(command, check=True, capture_output=True, text=True, cwd=folder).stdout) for _ in range(5))


def sessions(folder: Path) -> tuple[float, float]:
    """The first session of a model, and one out of the cache."""
    os.environ["ONEMLIR_CACHE"] = str(folder / "cache")
    traced = nn.Sequential(*[layer for _ in range(8) for layer in (nn.Linear(64, 64), nn.GELU())]).trace(om.zeros((5, 64)))
    start = time.perf_counter()
    traced.session(threads=1)
    first = time.perf_counter() - start
    return first, seconds(lambda: traced.session(threads=1))


def training_steps() -> tuple[float, float]:
    """One step of Adam on 64 scans of digits: eager, and recorded and compiled."""
    data = digits.load()
    x, y = om.tensor(data.train_images[:64].astype(np.float32)), om.tensor(data.train_labels[:64].astype(np.int64))
    model = nn.Sequential(nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 32), nn.ReLU(), nn.Linear(32, 10))
    eager, functional = optim.Adam(model.parameters()), optim.Adam(())
    parameters = {name: p.detach() for name, p in model.named_parameters()}
    state = functional.init(parameters)

    def eager_step():
        eager.zero_grad()
        nn.losses.cross_entropy(model(x), y).backward()
        eager.step()

    @om.jit
    def step(parameters, state, x, y):
        loss, slopes = om.value_and_grad(lambda p: nn.losses.cross_entropy(nn.functional_call(model, p, x), y))(parameters)
        return *functional.update(parameters, slopes, state), loss

    return seconds(eager_step), seconds(lambda: step(parameters, state, x, y))


def scan() -> float:
    """1,000 steps on four elements."""
    traced = om.trace(lambda xs: ops.scan(lambda c, x: (c * 0.5 + x, c.sum()), om.zeros((4,)), xs), om.zeros((10, 4)), axes=("time", None))
    session, xs = traced.session(threads=1), np.ones((1000, 4), np.float32)
    return seconds(lambda: session(xs), 20)


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as name:
        print(f"import, load and first run of a library   {library(Path(name)) * 1e3:8.1f} ms")
        first, again = sessions(Path(name))
        print(f"first session, session out of the cache   {first * 1e3:8.1f} ms {again * 1e3:8.1f} ms")
    eager, compiled = training_steps()
    print(f"training step, eager and compiled         {eager * 1e3:8.2f} ms {compiled * 1e3:8.2f} ms")
    print(f"scan of 1,000 steps                       {scan() * 1e6:8.1f} us")
