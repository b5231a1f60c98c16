"""Softmax, its logarithm and attention over axes that are empty only at run time, against torch."""
import numpy as np
import pytest

import onemlir as om
from onemlir import ops

torch = pytest.importorskip("torch")


@pytest.mark.parametrize("name", ["softmax", "log_softmax", "logsumexp"])
def test_over_an_empty_axis(name):
    function, empty = getattr(ops, name), np.zeros((2, 0), np.float32)
    traced = om.trace(lambda x: function(x, axis=1), om.tensor(np.ones((2, 3), np.float32)), axes=(None, "n"))
    want = getattr(torch, name)(torch.tensor(empty), 1).numpy()
    np.testing.assert_array_equal(np.asarray(traced.session(threads=1)(empty)), want)
    np.testing.assert_array_equal(function(om.tensor(empty), axis=1).numpy(), want)


def test_attention_without_keys():
    q, k, none = (np.ones((1, 2, size, 4), np.float32) for size in (3, 5, 0))
    axes = (None, *[(None, None, "keys", None)] * 2)
    traced = om.trace(ops.scaled_dot_product_attention, om.tensor(q), om.tensor(k), om.tensor(k), axes=axes)
    want = torch.nn.functional.scaled_dot_product_attention(*map(torch.tensor, (q, none, none))).numpy()
    np.testing.assert_array_equal(np.asarray(traced.session(threads=1)(q, none, none)), want)


def test_a_maximum_still_refuses():
    traced = om.trace(lambda x: ops.max(x, axis=1), om.tensor(np.ones((2, 3), np.float32)), axes=(None, "n"))
    with pytest.raises(om.ShapeError, match="max over axis 1, which is empty"):
        traced.session(threads=1)(np.zeros((2, 0), np.float32))
