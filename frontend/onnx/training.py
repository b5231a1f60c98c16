"""Steps of optimizers, which are arithmetic."""
from __future__ import annotations

from typing import Callable

from ...dialect import dtypes
from .registry import reads

TRAINING = "ai.onnx.preview.training"


def _grouped(node, kinds: int, step: Callable) -> tuple:
    """The inputs after rate and count are `kinds` equal groups; the results of a step for each tensor are grouped alike."""
    tensors = node.tensors()[2:]
    count = len(tensors) // kinds
    results = [step(*tensors[i::count]) for i in range(count)]
    return tuple(result for group in zip(*results) for result in group)


@reads("Momentum", domain=TRAINING)
def read_momentum(node, ops):
    rate, count = node.tensor(0), node.tensor(1)
    alpha, beta, norm = node.float("alpha"), node.float("beta"), node.float("norm_coefficient")
    nesterov = node.text("mode") == "nesterov"
    factor = ops.where(count > 0, beta, 1.0)

    def step(x, gradient, velocity):
        gradient = x * norm + gradient
        velocity = velocity * alpha + gradient * factor.astype(x.dtype)
        return x - rate * (gradient + velocity * alpha if nesterov else velocity), velocity

    return _grouped(node, 3, step)


@reads("Adagrad", domain=TRAINING)
def read_adagrad(node, ops):
    decay, epsilon, norm = node.float("decay_factor", 0.0), node.float("epsilon", 1e-6), node.float("norm_coefficient", 0.0)
    rate = node.tensor(0) / (node.tensor(1).astype(dtypes.float32) * decay + 1.0)

    def step(x, gradient, squares):
        gradient = x * norm + gradient
        squares = squares + gradient * gradient
        return x - rate * gradient / (ops.sqrt(squares) + epsilon), squares

    return _grouped(node, 3, step)


@reads("Adam", domain=TRAINING)
def read_adam(node, ops):
    alpha, beta, epsilon = node.float("alpha", 0.9), node.float("beta", 0.999), node.float("epsilon", 1e-6)
    norm, post = node.float("norm_coefficient", 0.0), node.float("norm_coefficient_post", 0.0)
    rate, count = node.tensor(0), node.tensor(1).astype(dtypes.float32)
    corrected = rate * ops.sqrt(1.0 - ops.pow(beta, count)) / (1.0 - ops.pow(alpha, count))
    rate = ops.where(count > 0, corrected, rate)

    def step(x, gradient, mean, squares):
        gradient = x * norm + gradient
        mean = mean * alpha + gradient * (1 - alpha)
        squares = squares * beta + gradient * gradient * (1 - beta)
        return (x - rate * mean / (ops.sqrt(squares) + epsilon)) * (1 - post), mean, squares

    return _grouped(node, 4, step)
