"""Reductions and running sums, compiled, against numpy."""
import ml_dtypes
import numpy as np
import pytest

DTYPES = (np.float32, np.float64, np.float16, ml_dtypes.bfloat16, np.int8, np.uint8, np.int64, np.uint64)


def numbers(rng, shape, dtype) -> np.ndarray:
    dtype = np.dtype(dtype)
    if dtype.kind in "iu":
        return rng.integers(np.iinfo(dtype).min, np.iinfo(dtype).max, shape, dtype, endpoint=True)
    return rng.standard_normal(shape).astype(dtype)


@pytest.mark.parametrize("dtype", DTYPES, ids=lambda d: np.dtype(d).name)
def test_reductions(agrees, rng, dtype):
    def build(ops, x):
        return (ops.sum(x), ops.sum(x, axis=(0, 2)), ops.prod(x, axis=1, keepdims=True), ops.max(x, axis=2), ops.min(x, axis=(0, 1), keepdims=True),
                ops.argmax(x, axis=1), ops.argmin(x, axis=0, keepdims=True), ops.argmax(x, axis=2), ops.cumsum(x, axis=1),
                ops.cumprod(x, axis=2, exclusive=True), ops.cumsum(x, axis=0, reverse=True, exclusive=True))
    x = numbers(rng, (3, 4, 5), dtype)
    if dtype == np.float32:
        agrees(build, x, scale=20)
    agrees(build, x, axes=[("a", "b", "c")], more=[(numbers(rng, s, dtype),) for s in ((1, 1, 1), (2, 7, 1))], scale=20)


def test_nan_and_equals(agrees):
    """NaN wins everywhere; of equals the first position is named."""
    x = np.array([[1, np.nan, 3, np.nan], [2, 2, -1, -1], [np.inf, 0, np.inf, -np.inf], [-np.inf] * 4, [np.nan] * 4], np.float32)

    def build(ops, x):
        return [ops.cast(y, dtype=np.int64) if "arg" in name else y for name in ("max", "min", "argmax", "argmin")
                for axis in (0, 1) for y in [getattr(ops, name)(x, axis=axis)]]
    agrees(build, x)
    agrees(build, x.astype(np.float16))


def test_bool(agrees, rng):
    x = rng.random((4, 5)) > 0.6

    def build(ops, x):
        return ops.any(x), ops.all(x, axis=0), ops.any(x, axis=1, keepdims=True), ops.sum(x, axis=1), ops.prod(x), ops.cumsum(x, axis=1)
    agrees(build, x, axes=[("a", "b")], more=[(x[:0],), (np.ones((2, 3), bool),)])


def test_long_sum_is_wide(agrees, rng):
    """Sums of narrow floats are made in f32 and rounded once."""
    x = np.full((3000,), 0.1, np.float16)
    agrees(lambda ops, x: (ops.sum(x), ops.cumsum(x, axis=0)), x)


def test_several_results_of_one_kind(agrees, rng):
    """Ops that start from equal fills keep their results apart."""
    x = rng.standard_normal((4, 5, 3)).astype(np.float32)
    agrees(lambda ops, x: (ops.argmax(x, axis=1), ops.argmin(x, axis=1), ops.sum(x, axis=1), ops.sum(ops.exp(x), axis=1)), x)


def test_empty_axes(compiled):
    code = compiled(lambda ops, x: (ops.sum(x, axis=0), ops.prod(x, axis=0), ops.cumsum(x, axis=0)), np.zeros((2, 3), np.float32), axes=[("n",)])
    total, product, running = code(np.zeros((0, 3), np.float32))
    assert total.tolist() == [0, 0, 0] and product.tolist() == [1, 1, 1] and running.shape == (0, 3)


@pytest.mark.parametrize("name", ("max", "min", "argmax", "argmin"))
def test_empty_axis_without_a_result(compiled, name):
    code = compiled(lambda ops, x: getattr(ops, name)(x, axis=0), np.zeros((2, 3), np.float32), axes=[("n",)])
    assert code.error(np.zeros((0, 3), np.float32)).startswith(f"ShapeError: {name} over axis 0, which is empty")
