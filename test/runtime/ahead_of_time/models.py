"""Models for the tests of native libraries."""
import platform

import numpy as np

import onemlir as om
from onemlir import nn, ops

CPU = "x86-64-v3" if platform.machine() == "x86_64" else ""  # what valgrind understands


def mlp():
    om.manual_seed(0)
    model = nn.Sequential(nn.Linear(16, 32), nn.ReLU(), nn.Linear(32, 4))
    return model, model.trace(om.zeros((3, 16)), axes=("batch", None))


def mlp_by_numpy(model, x):
    """The same in float64."""
    weights = [np.asarray(p.numpy(), np.float64) for p in model.parameters()]
    hidden = np.maximum(x @ weights[0].T + weights[1], 0)
    return hidden @ weights[2].T + weights[3]


def gathering():
    """Indices that may be out of range, an output whose size depends on data, one whose size is a formula, and bool."""
    def run(x, i):
        taken = ops.take(x, i, axis=0)
        return {"taken": taken, "where": ops.nonzero(taken > 0)[0], "twice": taken.reshape(-1) * 2, "positive": taken > 0}

    return om.trace(run, om.zeros((4, 3)), om.tensor(np.array([0, 1])), axes={"x": ("n", None), "i": ("k",)})


def large():
    """Loops that are long enough for the thread pool."""
    om.manual_seed(0)
    model = nn.Sequential(nn.Linear(256, 512), nn.ReLU(), nn.Linear(512, 64))
    return model, model.trace(om.zeros((4, 256)), axes=("batch", None))


def tiny():
    """3 x + 1 of 16 columns: quick to compile."""
    return om.trace(lambda x: x * 3 + 1, om.zeros((3, 16)), axes=("batch", None))
