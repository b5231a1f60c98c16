"""Products of f16 and bf16 by weights: summed in f32, by pairs of bf16 where the processor has them, rounded as they are stored."""
import ml_dtypes
import numpy as np
import pytest

import onemlir as om
from onemlir import ops
from onemlir.lowering import targets

TARGETS = [targets.AVX512_BF16, targets.AVX512, targets.AVX2]


@pytest.mark.parametrize("target", TARGETS, ids=lambda t: t.name)
@pytest.mark.parametrize("dtype", (np.float16, ml_dtypes.bfloat16), ids=lambda d: np.dtype(d).name)
def test_products_by_weights(dtype, target):
    """Odd and even numbers of steps, more than a block holds, rows of several axes, columns that fill no vector, epilogues short and long."""
    detected = targets._detected()
    if target.pair_products and not detected.pair_products or target.vector_bits > detected.vector_bits:
        pytest.skip("needs another processor")
    rng = np.random.default_rng(3)
    draw = lambda *shape: rng.standard_normal(shape).astype(dtype)
    inputs = [draw(5, 18), draw(2, 3, 7), draw(1, 1100), draw(6, 4)]
    weights = [draw(33, 18), draw(40, 7), draw(17, 1100), draw(19, 6)]
    bias = draw(33)

    def products(a, b, c, d):
        w, v, u, t = map(om.tensor, weights)
        return (ops.relu(ops.linear(a, w, om.tensor(bias))), ops.linear(b, v), ops.gelu(ops.linear(c, u)),
                ops.linear(ops.swapaxes(d, 0, 1), t), ops.matmul(a, om.tensor(np.ascontiguousarray(weights[0].T))))
    with targets.lowering_for(target):
        found = om.trace(products, *map(om.tensor, inputs)).session(threads=1)(*inputs)
    wide = lambda array: array.astype(np.float32)
    a, b, c, d = map(wide, inputs)
    w, v, u, t = map(wide, weights)
    gelu = products(*map(om.tensor, inputs))[2].numpy()
    want = [np.maximum(a @ w.T + wide(bias), 0), b @ v.T, wide(gelu), d.T @ t.T, a @ w.T]
    for result, expected in zip(found, want):
        assert result.dtype == dtype
        np.testing.assert_allclose(wide(result), expected, rtol=2 * float(ml_dtypes.finfo(dtype).eps), atol=1e-3)
