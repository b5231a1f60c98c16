"""Reads and writes at places that index tensors name: results, negative indices, indices out of range."""
import ml_dtypes
import numpy as np
import pytest

REDUCTIONS = ("none", "add", "mul", "max", "min")
BOTH = pytest.mark.parametrize("dynamic", (False, True), ids=("static", "dynamic"))


@BOTH
def test_gather(agrees, rng, dynamic):
    x, i = rng.standard_normal((4, 5, 3)).astype(np.float32), np.array([[0, -1, 3], [2, 2, -4]])

    def build(ops, x, i):
        return ops.gather(x, i, axis=0), ops.gather(x, ops.cast(i, dtype=np.int32), axis=1), ops.gather(x, np.array(-1), axis=2)
    axes = [("a", "b", None), ("k",)] if dynamic else ()
    agrees(build, x, i, axes=axes, more=[(np.zeros((4, 4, 3), np.float32), i[:1]), (x, i[:0])] if dynamic else [])


@BOTH
def test_take_along_axis_and_scatter(agrees, rng, dynamic):
    x, u = rng.standard_normal((4, 5, 3)).astype(np.float32), rng.standard_normal((3, 6, 2)).astype(np.float32)
    i = rng.integers(-5, 5, (3, 6, 2))

    def build(ops, x, i, u):
        return ops.take_along_axis(x, i, axis=1), *(ops.scatter(x, i, u, axis=1, reduction=r) for r in REDUCTIONS)
    axes = [("a", "b", "c"), ("k", None, "m"), ("k", None, "m")] if dynamic else ()
    agrees(build, x, i, u, axes=axes, scale=4)


@pytest.mark.parametrize("dtype", (bool, np.uint8, np.float16, ml_dtypes.bfloat16), ids=lambda d: np.dtype(d).name)
def test_scatter_dtypes(agrees, rng, dtype):
    x, u, i = (rng.integers(0, 2, 6).astype(dtype) for _ in range(2)), None, None
    x, u = x
    i = np.array([0, 3, 3, -1, 0, 1])
    agrees(lambda ops, x, i, u: [ops.scatter(x, i, u, reduction=r) for r in REDUCTIONS], x, i, u)


@BOTH
def test_nd(agrees, rng, dynamic):
    x, y = rng.standard_normal((4, 5, 3)).astype(np.float32), rng.standard_normal((2, 4, 5, 3)).astype(np.float32)
    i, u, j = rng.integers(-4, 4, (2, 3, 2)), rng.standard_normal((2, 3, 3)).astype(np.float32), rng.integers(-4, 4, (2, 6, 2))

    def build(ops, x, i, u, y, j):
        return (ops.gather_nd(x, i), *(ops.scatter_nd(x, i, u, reduction=r) for r in REDUCTIONS), ops.gather_nd(y, j, batch_dims=1))
    axes = [("a", "b", "c"), ("k",), ("k", None, "c"), ("q",), ("q",)] if dynamic else ()
    agrees(build, x, i, u, y, j, axes=axes, scale=4)


@BOTH
def test_slices_at_computed_places(agrees, rng, dynamic):
    """Starts are clamped so that the slice fits; x itself is left alone."""
    x, u, s = rng.standard_normal((4, 5, 3)).astype(np.float32), rng.standard_normal((2, 5, 1)).astype(np.float32), np.array([-3, 2, 9])

    def build(ops, x, u, s):
        return ops.dynamic_slice(x, s, shape=(2, 3, 1)), ops.dynamic_update(x, u, s), ops.dynamic_update(ops.exp(x), u, s), ops.add(x, 1.0)
    agrees(build, x, u, s, axes=[("a", "b", "c"), ("k", "b")] if dynamic else (), scale=4)


@pytest.mark.parametrize("dynamic", (False, True), ids=("static", "dynamic"))
def test_first_index_out_of_range_is_named(compiled, dynamic):
    x, i = np.zeros((4, 3), np.float32), np.array([[0, 1], [-1, 2]])
    axes = [("a",), ("k",)] if dynamic else ()
    gather = compiled(lambda ops, x, i: ops.gather(x, i), x, i, axes=axes)
    assert gather.error(x, np.array([[0, 3], [-7, 9]])) == "IndexRangeError: gather: index -7 is out of range for axis 0 of size 4"
    assert gather.error(x, np.array([[4, -5], [0, 0]])) == "IndexRangeError: gather: index 4 is out of range for axis 0 of size 4"
    assert gather(x, i)[0].shape == (2, 2, 3)


def test_check_that_llvm_unrolls(compiled):
    """A chain of 256 choices, each of which used the last one twice, took LLVM 2 ** 256 steps."""
    i = np.zeros((8, 32), np.int64)
    gather = compiled(lambda ops, x, i: ops.gather(x, i), np.zeros(4, np.float32), i)
    i[3, 1], i[5, 0] = 7, -9
    assert gather.error(np.zeros(4, np.float32), i) == "IndexRangeError: gather: index 7 is out of range for axis 0 of size 4"


def test_out_of_range_of_each_op(compiled):
    x, u = np.zeros((4, 3), np.float32), np.ones((2, 3), np.float32)
    bad = np.array([[0, 1, 2], [3, 4, 0]])
    for name, extra in (("take_along_axis", {}), ("scatter", {"updates": u})):
        code = compiled(lambda ops, x, i: getattr(ops, name)(x, i, axis=0, **extra), x, np.zeros_like(bad))
        assert code.error(x, bad) == f"IndexRangeError: {name}: index 4 is out of range for axis 0 of size 4"
    tuples = np.array([[3, 2], [1, -4]])
    for name, extra in (("gather_nd", {}), ("scatter_nd", {"updates": np.ones(2, np.float32)})):
        code = compiled(lambda ops, x, i: getattr(ops, name)(x, i, **extra), x, np.zeros_like(tuples))
        assert code.error(x, tuples) == f"IndexRangeError: {name}: index -4 is out of range for axis 1 of size 3"


def test_empty_source(compiled):
    code = compiled(lambda ops, x, i: ops.gather(x, i), np.zeros((2, 3), np.float32), np.zeros(2, np.int64), axes=[("a",), ("k",)])
    assert code.error(np.zeros((0, 3), np.float32), np.array([0])) == "IndexRangeError: gather: index 0 is out of range for axis 0 of size 0"
    assert code(np.zeros((0, 3), np.float32), np.zeros(0, np.int64))[0].shape == (0, 3)
