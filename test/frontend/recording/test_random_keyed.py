"""Random numbers from a key: published numbers of SplitMix64, distributions, and the same bits eager and compiled."""
import statistics

import numpy as np
import pytest

import onemlir as om
from onemlir import ops


def test_the_published_sequence():
    published = [6457827717110365317, 3203168211198807973, 9817491932198370423, 4593380528125082431, 16408922859458223821]
    assert ops.random_bits(1234567, (5,)).tolist() == published


def test_distributions():
    n = 20000
    uniform = ops.random_uniform(1, (n,), -1.0, 3.0).numpy()
    assert uniform.min() >= -1 and uniform.max() < 3 and abs(uniform.mean() - 1) < 0.05
    normal = ops.random_normal(2, (n,), dtype=om.float64).numpy()
    expected = statistics.NormalDist()
    for x in (-3.0, -2.0, -1.0, 0.0, 0.5, 1.0, 2.0, 3.0):
        assert abs((normal <= x).mean() - expected.cdf(x)) < 0.02
    assert np.bincount(ops.random_randint(3, (n,), 2, 5).numpy()).tolist()[:2] == [0, 0]
    assert abs(ops.random_bernoulli(4, 0.25, (n,)).numpy().mean() - 0.25) < 0.02


def test_keys_split_apart():
    keys = ops.random_split(7, 3)
    drawn = [ops.random_bits(keys[i], (100,)).tolist() for i in range(3)] + [ops.random_bits(7, (100,)).tolist()]
    assert len({v for row in drawn for v in row}) == 400


def test_the_same_bits_eager_and_compiled():
    def function(key, x):
        first, second = ops.random_split(key)
        return (ops.random_bits(first, (5,)), x + ops.random_uniform(second, x.shape), ops.random_normal(first, x.shape),
                ops.random_randint(key, (4,), -3, 9, om.int32), ops.random_bernoulli(key, 0.5, x.shape))

    traced = om.trace(function, om.tensor(3), om.zeros((2, 3)), axes={"x": ("n", None)})
    session = traced.session()
    for key, n in [(3, 2), (-1, 7), (2**62, 1)]:
        x = np.zeros((n, 3), np.float32)
        for a, b in zip(session(np.array(key), x), function(om.tensor(key), om.tensor(x))):
            assert a.tobytes() == b.numpy().tobytes() and a.dtype == b.dtype


def test_without_a_key_there_is_no_recording():
    for draw in (lambda: ops.rand(3), lambda: ops.randn(3), lambda: ops.bernoulli(om.tensor([0.5] * 3)), lambda: ops.randint(3, shape=(3,))):
        with pytest.raises(om.TraceError, match="random"):
            om.trace(lambda x: x + draw(), om.zeros((3,)))


@pytest.mark.parametrize("dtype", [om.float64, om.float32, om.float16])
def test_normal_numbers_are_the_same_bits_compiled(dtype):
    session = om.trace(lambda key: ops.random_normal(key, (20000,), dtype=dtype), om.tensor(0)).session()
    for key in (1, 2**63 - 1):
        found, expected = session(np.array(key)), ops.random_normal(key, (20000,), dtype=dtype).numpy()
        assert found.tobytes() == expected.tobytes()
    assert abs(expected.mean(dtype=np.float64)) < 0.03 and abs(expected.std(dtype=np.float64) - 1) < 0.03


def test_the_quantiles_are_those_of_the_normal_distribution():
    from statistics import NormalDist

    from onemlir.frontend.ops.random_keyed import normal_quantile

    p = np.concatenate([2.0**-np.arange(1, 54), 1 - 2.0**-np.arange(1, 54), np.linspace(0.001, 0.999, 101)])
    np.testing.assert_allclose(normal_quantile(om.tensor(p)).numpy(), [NormalDist().inv_cdf(v) for v in p], rtol=1e-13, atol=1e-14)
