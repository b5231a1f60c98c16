"""Products of batches whose right operand has axes of size 1 (grouped heads), and of few rows by columns that lie one after the other."""
import numpy as np
import pytest

import onemlir as om
from onemlir import ops

rng = np.random.default_rng(0)
SHAPES = [((2, 4, 2, 3, 8), (2, 4, 1, 8, 5)), ((4, 2, 3, 8), (1, 8, 5)), ((2, 3, 4, 8), (1, 1, 8, 5)), ((2, 3, 4, 8), (1, 3, 8, 5)), ((3, 2, 4, 8), (3, 1, 8, 5))]


def swapped(x):
    return ops.transpose(x, axes=(*range(x.ndim - 2), x.ndim - 1, x.ndim - 2))


@pytest.mark.parametrize("axes", [False, True], ids=["fixed", "open"])
def test_right_operands_that_are_shared(axes):
    """As it is, and as the transpose of another tensor; all cases in one program, by kernels."""
    pairs = [tuple(rng.standard_normal(shape).astype(np.float32) for shape in shapes) for shapes in SHAPES]
    arrays = [a for x, y in pairs for a in (x, y, y.swapaxes(-1, -2).copy())]

    def program(*inputs):
        return [z for x, y, turned in zip(inputs[::3], inputs[1::3], inputs[2::3]) for z in (x @ y, x @ swapped(turned))]

    names = [tuple("rows" if axes and i == a.ndim - 2 and number % 3 == 0 and a.shape[i] == 4 else None for i in range(a.ndim)) for number, a in enumerate(arrays)]
    session = om.trace(program, *map(om.tensor, arrays), axes=names).session(threads=2)
    want = [x @ y for x, y in pairs for _ in range(2)]
    for found, expected in zip(session(*arrays), want):
        np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("steps", [1, 16, 37])
def test_few_rows_by_columns_in_memory_order(steps):
    """Up to four rows are summed along the steps; sizes that fill no vector; infinities and NaN stay in their rows."""
    keys = rng.standard_normal((2, 19, steps)).astype(np.float32)
    scores = lambda q, k: q @ swapped(k)
    session = om.trace(scores, om.tensor(np.ones((2, 3, steps), np.float32)), om.tensor(keys), axes=[(None, "m", None), (None, "n", None)]).session(threads=1)
    for m, n in [(1, 19), (2, 1), (4, 16), (5, 19), (0, 19), (1, 0)]:
        q = rng.standard_normal((2, m, steps)).astype(np.float32)
        if m > 1:
            q[0, 0, 0] = np.inf
        with np.errstate(invalid="ignore"):
            np.testing.assert_allclose(session(q, keys[:, :n]), q @ keys[:, :n].swapaxes(-1, -2), rtol=1e-4, atol=1e-5)
