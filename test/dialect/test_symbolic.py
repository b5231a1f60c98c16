"""Symbolic sizes: equal sizes have one form, and forms, bounds and comparisons hold for all sizes of the axes."""
import random

from onemlir.dialect import symbolic
from onemlir.dialect.symbolic import Dim, floordiv, mod

H, W, N = Dim.symbol("h", multiple_of=4), Dim.symbol("w", multiple_of=6), Dim.symbol("n")


def test_quotients_of_an_axis_that_is_a_multiple_are_exact():
    assert 2 * (H // 4) == H // 2 and 4 * (H // 4) == H and (H // 2) // 2 == H // 4 and (H // 4) // 2 == H // 8
    assert (H + 1) // 2 == H // 2 and (H + 3) // 8 == H // 8 and -(-H // 2) == H // 2 and H + H // 4 == 5 * (H // 4)
    assert H // (H // 4) == 4 and (H * W) // 8 == (H // 4) * (W // 2) and (H * W) % 24 == 0 and H % 2 == 0
    assert 2 * (N // 4) != N // 2 and str(H // 8) == "((h) // 8)"


def test_comparisons_with_the_arguments_of_min_and_max():
    assert symbolic.less_equal(symbolic.minimum(N, W), N) and symbolic.less_equal(N, symbolic.maximum(N, W) + 1)
    assert symbolic.less_equal(symbolic.minimum(N, W), N - 1) is None


def sized(draw, depth):
    """A random size and the function that computes it."""
    kind = draw.random()
    if depth == 0 or kind < 0.25:
        leaf = draw.choice([H, W, N, 1, 2, 5, -1])
        return leaf, (lambda sizes: leaf if isinstance(leaf, int) else leaf.evaluate(sizes))
    a, f = sized(draw, depth - 1)
    if kind < 0.7:
        b, g = sized(draw, 0 if kind > 0.6 else depth - 1)
        if kind > 0.6:
            return a * b, lambda sizes: f(sizes) * g(sizes)
        return (a + b, lambda sizes: f(sizes) + g(sizes)) if kind < 0.5 else (a - b, lambda sizes: f(sizes) - g(sizes))
    by = draw.choice([2, 3, 4, 6, 8, 12])
    if kind < 0.95:
        return (floordiv(a, by), lambda sizes: f(sizes) // by) if kind < 0.88 else (mod(a, by), lambda sizes: f(sizes) % by)
    b, g = sized(draw, depth - 1)
    return symbolic.minimum(a, b), lambda sizes: min(f(sizes), g(sizes))


def test_random_sizes():
    draw = random.Random(0)
    cases = [{"h": 4 * draw.randint(0, 9), "w": 6 * draw.randint(0, 7), "n": draw.randint(0, 30)} for _ in range(8)]
    for _ in range(400):
        (a, f), (b, g) = sized(draw, draw.randint(1, 5)), sized(draw, 2)
        low, high = symbolic.bounds(a)
        decided = symbolic.less_equal(a, b)
        for sizes in cases:
            value = f(sizes)
            assert (a if isinstance(a, int) else a.evaluate(sizes)) == value, str(a)
            assert (low is None or low <= value) and (high is None or value <= high), str(a)
            assert decided in (None, value <= g(sizes)), f"{a} <= {b}"
