"""Padding and searchsorted: against numpy, and decomposed against their references."""
import numpy as np
import pytest

import onemlir as om
from onemlir import ops

rng = np.random.default_rng(0)
X = rng.standard_normal((3, 5)).astype(np.float32)


@pytest.mark.parametrize("mode", ["constant", "reflect", "edge", "wrap"])
@pytest.mark.parametrize("pads", [((1, 2), (0, 3)), ((0, 0), (7, 9)), ((4, 0), (0, 0))])
def test_pad_is_numpys(mode, pads, assert_decomposes):
    function = lambda x: ops.pad(x, pads, mode=mode)
    np.testing.assert_array_equal(function(om.tensor(X)).numpy(), np.pad(X, pads, mode=mode))
    assert_decomposes(function, [X], rtol=0, atol=0)
    assert_decomposes(function, [X], examples=[X[:2, :4]], axes=("rows", "columns"), rtol=0, atol=0)


@pytest.mark.parametrize("right", [True, False])
@pytest.mark.parametrize("dtype", [np.float32, np.int64])
def test_searchsorted_is_numpys(right, dtype, assert_decomposes):
    edges = np.array([1, 2, 2, 5], dtype)
    v = np.array([[0, 1, 2], [3, 5, 9]], dtype)
    function = lambda s, x: ops.searchsorted(s, x, right=right)
    np.testing.assert_array_equal(function(om.tensor(edges), om.tensor(v)).numpy(), np.searchsorted(edges, v, "right" if right else "left"))
    assert_decomposes(function, [edges, v])


def test_searchsorted_puts_nan_last(assert_decomposes):
    edges, v = np.array([1, 2, np.nan, np.nan], np.float32), np.array([np.nan, 1.5, np.inf], np.float32)
    for right in (True, False):
        assert_decomposes(lambda s, x: ops.searchsorted(s, x, right=right), [edges, v])
