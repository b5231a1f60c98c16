"""Gradients against finite differences in f64, along random directions."""
import numpy as np

import onemlir as om
from onemlir.frontend import autograd

STEP = 1e-6


def first(result):
    """The floating results of an op, summed with fixed weights to one number."""
    results = [r for r in (result if isinstance(result, tuple) else (result,)) if r.dtype.kind == "f"]
    rng = np.random.default_rng(5)
    total = 0.0
    for r in results:
        total = total + (r * rng.uniform(0.5, 1.5, r.shape)).sum()
    return total


def floating(array) -> bool:
    return isinstance(array, np.ndarray) and array.dtype.kind == "f"


def scalar(function, arrays) -> float:
    return float(first(function(*map(om.tensor, arrays))))


def gradients(function, arrays, create_graph=False):
    """The tensors and the gradients of `first(function(...))` by each floating one."""
    tensors = [om.tensor(a, requires_grad=floating(a)) for a in arrays]
    chosen = [t for t in tensors if t.requires_grad]
    found = autograd.gradients([first(function(*tensors))], chosen, create_graph=create_graph)
    return chosen, [om.tensor(np.zeros(t.shape)) if g is None else g for t, g in zip(chosen, found)]


def along(arrays, number: int, direction, step: float):
    return [a + step * direction if i == number else a for i, a in enumerate(arrays)]


def check(function, *arrays, tolerance=2e-6):
    """First derivatives of a function of arrays by each of those that are f64."""
    rng = np.random.default_rng(6)
    _, found = gradients(function, arrays)
    for gradient, number in zip(found, [i for i, a in enumerate(arrays) if floating(a)]):
        assert gradient.shape == arrays[number].shape and gradient.dtype == arrays[number].dtype
        for _ in range(2):
            direction = rng.standard_normal(arrays[number].shape)
            expected = (scalar(function, along(arrays, number, direction, STEP)) - scalar(function, along(arrays, number, direction, -STEP))) / (2 * STEP)
            np.testing.assert_allclose((gradient.numpy() * direction).sum(), expected, rtol=tolerance, atol=tolerance)


def check_second(function, *arrays, tolerance=2e-5):
    """Second derivatives: the gradient of (gradient . direction) against differences of the gradient."""
    rng = np.random.default_rng(7)
    numbers = [i for i, a in enumerate(arrays) if floating(a)]
    directions = [rng.standard_normal(arrays[i].shape) for i in numbers]

    def slope(values):
        return sum((g.numpy() * d).sum() for g, d in zip(gradients(function, values)[1], directions))

    tensors, found = gradients(function, arrays, create_graph=True)
    total = 0.0
    for g, d in zip(found, directions):
        total = total + (g * d).sum()
    again = autograd.gradients([total], tensors) if total.requires_grad else [None] * len(tensors)
    for gradient, number in zip(again, numbers):
        direction = rng.standard_normal(arrays[number].shape)
        expected = (slope(along(arrays, number, direction, STEP)) - slope(along(arrays, number, direction, -STEP))) / (2 * STEP)
        actual = 0.0 if gradient is None else (gradient.numpy() * direction).sum()
        np.testing.assert_allclose(actual, expected, rtol=tolerance, atol=tolerance)
