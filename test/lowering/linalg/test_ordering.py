"""Sorts and what finds elements, compiled, against numpy: stability, NaN, dtypes, sizes that depend on the data."""
import ml_dtypes
import numpy as np
import pytest


@pytest.mark.parametrize("dtype", (np.float32, ml_dtypes.bfloat16, np.int8, np.uint64, bool), ids=lambda d: np.dtype(d).name)
def test_sorts(agrees, rng, dtype):
    """Few distinct numbers, so that the order of equals shows."""
    x = rng.integers(0, 2 if dtype is bool else 5, (3, 9, 2)).astype(dtype)
    if np.dtype(dtype).kind not in "biu":
        x[0, 2], x[1, 3:5, 0], x[2, 4] = np.nan, np.inf, -np.inf

    def build(ops, x):
        return (ops.sort(x, axis=1), ops.sort(x, axis=0, descending=True), ops.argsort(x, axis=1), ops.argsort(x, axis=1, descending=True),
                *ops.topk(x, k=(2,), axis=1), *ops.topk(x, k=(3,), axis=1, largest=False), ops.nonzero(x))
    agrees(build, x, axes=[("a", "b")], more=[(x[:, :3],), (x[:1],), (x[:0],)])


def test_sort_sizes(compiled, rng):
    code = compiled(lambda ops, x: (ops.sort(x), ops.argsort(x, descending=True)), np.zeros(3, np.float32), axes=[("n",)])
    for size in (0, 1, 2, 31, 64, 100):
        x = rng.standard_normal(size).astype(np.float32)
        found, order = code(x)
        np.testing.assert_array_equal(found, np.sort(x))
        np.testing.assert_array_equal(x[order], np.sort(x)[::-1])


@pytest.mark.parametrize("dynamic", (False, True), ids=("static", "dynamic"))
def test_unique(agrees, rng, dynamic):
    """Each NaN is distinct; slices along an axis compare element by element."""
    x, z = rng.integers(0, 4, (3, 4)).astype(np.int32), rng.integers(0, 2, (6, 2)).astype(np.uint8)
    f = np.array([2, 1, np.nan, 2, 1, np.nan, 0], np.float32)

    def build(ops, x, f, z):
        return (*ops.unique(x), *ops.unique(f, sorted=False), *ops.unique(z, axis=0), *ops.unique(z, axis=1, sorted=False))
    axes = [("a", "b"), ("n",), ("k",)] if dynamic else ()
    agrees(build, x, f, z, axes=axes, more=[(x[:1], f[:1], z[:2]), (x[:0], f[:0], z)] if dynamic else [])


def test_sizes_of_the_data_flow_on(agrees, rng):
    """What was found is used by further ops."""
    x = rng.integers(-1, 2, (4, 5)).astype(np.float32)

    def build(ops, x):
        places = ops.nonzero(x)
        values = ops.gather_nd(x, ops.transpose(places))
        return ops.cumsum(values, axis=0), ops.sum(values), ops.sort(ops.add(values, values))
    agrees(build, x, axes=[("n",)], more=[(np.zeros((2, 5), np.float32),), (x[:0],)])
