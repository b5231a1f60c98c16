"""Loops over blocks of rows compute what their ops do one by one, on any number of threads."""
import numpy as np
import pytest

import onemlir as om
from onemlir import ops


def softmax(x):
    e = np.exp(x - x.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


def normalized(x):
    centered = x - x.mean(-1, keepdims=True)
    return centered / np.sqrt((centered * centered).mean(-1, keepdims=True) + 1e-5)


CASES = {
    "softmax": (lambda x, m: ops.softmax(x, axis=-1), lambda x, m: softmax(x)),
    "mask": (lambda x, m: ops.softmax(x * 0.5 + m, axis=-1) + x, lambda x, m: softmax(x * 0.5 + m) + x),
    "layer_norm": (lambda x, m: ops.layer_norm(x, x.shape[-1], m[0], m[1]), lambda x, m: normalized(x) * m[0] + m[1]),
    "both": (lambda x, m: ops.softmax(ops.layer_norm(ops.relu(x), x.shape[-1]), axis=-1) * 2 - 1, lambda x, m: softmax(normalized(np.maximum(x, 0))) * 2 - 1),
    "twice": (lambda x, m: ops.softmax(x, axis=-1) + ops.softmax(-x, axis=-1), lambda x, m: softmax(x) + softmax(-x)),
    "transposed": (lambda x, m: ops.transpose(ops.softmax(x, axis=-1), axes=(0, 2, 1)), lambda x, m: softmax(x).transpose(0, 2, 1)),
}


SHAPES = [(name, (3, 17, 300)) for name in CASES] + [("both", (1, 64, 100)), ("mask", (40, 2, 70)), ("both", (2, 20, 5000))]


@pytest.mark.parametrize("name, shape", SHAPES)
def test_rows(name, shape):
    """Blocks that divide the rows, and a last one that is shorter; rows too long for a block's buffer."""
    rng = np.random.default_rng(0)
    x, m = rng.standard_normal(shape).astype(np.float32), rng.standard_normal(shape[1:]).astype(np.float32)
    function, reference = CASES[name]
    traced = om.trace(function, x, m)
    one, two = (traced.session(threads=n)(x, m) for n in (1, 2))
    np.testing.assert_array_equal(one, two)
    np.testing.assert_allclose(one, reference(x.astype(np.float64), m.astype(np.float64)), rtol=1e-5, atol=5e-6)
