"""Random functions: seeds, ranges, moments, and refusal in recordings."""
import ml_dtypes
import numpy as np
import pytest

from onemlir.errors import DTypeError, OnemlirError, TraceError
from onemlir.frontend import ops
from onemlir.frontend.random import manual_seed
from onemlir.frontend.tensor import tensor
from onemlir.frontend.tracer import record

DRAWS = {
    "rand": lambda: ops.rand(3, 4), "randn": lambda: ops.randn((3, 4)), "uniform": lambda: ops.uniform(2, 5, (3, 4)),
    "normal": lambda: ops.normal(1.0, 2.0, (3, 4)), "randint": lambda: ops.randint(5, 9, (3, 4)), "randperm": lambda: ops.randperm(12),
    "bernoulli": lambda: ops.bernoulli(np.full((3, 4), 0.5, np.float32)), "rand_like": lambda: ops.rand_like(tensor(np.ones((3, 4)))),
    "randn_like": lambda: ops.randn_like(tensor(np.ones((3, 4)))), "dropout": lambda: ops.dropout(np.ones((3, 4), np.float32)),
}


@pytest.mark.parametrize("name", DRAWS)
def test_seed_fixes_the_sequence(name):
    manual_seed(7)
    first, second = DRAWS[name]().numpy(), DRAWS[name]().numpy()
    manual_seed(7)
    np.testing.assert_array_equal(DRAWS[name]().numpy(), first)
    assert first.size == 12 and not np.array_equal(first, second)


@pytest.mark.parametrize("name", DRAWS)
def test_refused_in_a_recording(name):
    with pytest.raises(TraceError, match=f"{name} cannot be recorded.*test_random"):
        record(lambda x: x + DRAWS[name]().sum(), [np.ones(3, np.float32)], {}, None, "error", {})


@pytest.mark.parametrize("dtype", ["float16", ml_dtypes.bfloat16, "float32", "float64"])
def test_moments_and_ranges(dtype):
    manual_seed(0)
    x = ops.rand(20000, dtype=dtype).numpy()
    assert x.dtype == dtype and x.min() >= 0 and x.max() < 1
    np.testing.assert_allclose([x.astype(float).mean(), x.astype(float).var()], [0.5, 1 / 12], atol=0.01)
    y = ops.normal(1.0, 2.0, (20000,), dtype).numpy().astype(float)
    np.testing.assert_allclose([y.mean(), y.std()], [1, 2], atol=0.06)
    z = ops.uniform(-2, 4, (20000,), dtype).numpy().astype(float)
    assert z.min() >= -2 and z.max() <= 4 and abs(z.mean() - 1) < 0.06


def test_integers():
    x = ops.randint(3, 6, (1000,), "int8")
    assert x.dtype == np.int8 and set(x.tolist()) == {3, 4, 5}
    assert set(ops.randint(2, shape=(100,)).tolist()) == {0, 1}
    assert sorted(ops.randperm(9).tolist()) == list(range(9))
    assert ops.bernoulli(np.array([0.0, 1.0])).tolist() == [0, 1]


def test_dropout():
    manual_seed(0)
    x = tensor(np.full((100, 100), 3, np.float32))
    y = ops.dropout(x, p=0.25).numpy()
    assert set(np.unique(y)) == {0.0, 4.0} and abs((y == 0).mean() - 0.25) < 0.02
    assert ops.dropout(x, training=False) is x and ops.dropout(x, p=0.0) is x
    assert not ops.dropout(x, p=1.0).numpy().any()
    half = ops.dropout(x.half(), 0.5)
    assert half.dtype == np.float16
    record(lambda x: ops.dropout(x, training=False) + 1, [np.ones(3)], {}, None, "error", {})


@pytest.mark.parametrize("call, error, words", [
    (lambda: ops.dropout(np.ones(3), p=1.5), OnemlirError, ["[0, 1]", "1.5"]),
    (lambda: ops.randint(3, 3, (2,)), OnemlirError, ["[3, 3)"]),
    (lambda: ops.randint(3, dtype="float32"), DTypeError, ["integer", "float32"]),
    (lambda: ops.rand(3, dtype="int32"), DTypeError, ["floating", "int32"]),
    (lambda: ops.bernoulli(np.array([1.5])), OnemlirError, ["[0, 1]"]),
    (lambda: ops.normal(0.0, -1.0, (2,)), OnemlirError, ["std", "-1"]),
])
def test_errors(call, error, words):
    with pytest.raises(error) as caught:
        call()
    assert all(word in str(caught.value) for word in words), caught.value
