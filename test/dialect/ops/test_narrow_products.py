"""Products and convolutions of f16 and bf16 by weights: summed in f32, by pairs of bf16 where the processor has them, rounded as stored."""
import ml_dtypes
import numpy as np
import pytest

import onemlir as om
from onemlir import ops
from onemlir.lowering import targets

CASES = [(ml_dtypes.bfloat16, targets.AVX512_BF16), (ml_dtypes.bfloat16, targets.AVX512), (np.float16, targets.AVX2)]


def skip_unless_it_runs(target):
    detected = targets._detected()
    if target.pair_products and not detected.pair_products or target.vector_bits > detected.vector_bits:
        pytest.skip("needs another processor")


@pytest.mark.parametrize("dtype, target", CASES, ids=lambda value: getattr(value, "name", ""))
def test_products_by_weights(dtype, target):
    """Odd and even numbers of steps, more than a block holds, rows of several axes, columns that fill no vector, epilogues."""
    skip_unless_it_runs(target)
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


WINDOWS = [
    ("conv", (2, 20, 7, 6), (33, 20, 3, 3), dict(padding=1, stride=2)), ("conv", (1, 32, 5, 6), (34, 16, 2, 3), dict(groups=2, dilation=2)),
    ("conv", (1, 18, 5, 7), (20, 18, 1, 1), {}), ("conv", (1, 16, 40), (32, 16, 5), dict(padding=2)),
    ("conv", (1, 5, 6, 6), (16, 5, 3, 3), {}),
    ("conv", (1, 16, 4, 5, 6), (19, 16, 2, 3, 3), dict(padding=1)), ("conv_transpose", (1, 18, 4, 5), (18, 7, 3, 2), dict(stride=2)),
    ("conv", (1, 16, 20, 20), (16, 16, 3, 3), dict(padding=1)), ("conv", (1, 20, 5, 6), (20, 1, 3, 3), dict(groups=20)),
]  # fmt: skip


@pytest.mark.parametrize("dtype, target", CASES[::2], ids=lambda value: getattr(value, "name", ""))
def test_convolutions_by_weights(dtype, target):
    """Alone, and in chains whose ends have the channels last."""
    skip_unless_it_runs(target)
    rng = np.random.default_rng(4)
    images, filters = ([rng.standard_normal(case[i]).astype(dtype) for case in WINDOWS] for i in (1, 2))

    def convolutions(*images):
        return [getattr(ops, name)(x, om.tensor(w), **options) for x, w, (name, _, _, options) in zip(images, filters, WINDOWS)]

    def chain(x):
        y = ops.conv(ops.relu(ops.conv(x, om.tensor(filters[2]))), om.tensor(filters[0]))
        return ops.conv(ops.relu(y), om.tensor(weight), stride=2)

    weight, model = rng.standard_normal((9, 33, 1, 1)).astype(dtype), lambda *images: [*convolutions(*images), chain(images[2])]
    with targets.lowering_for(target):
        found = om.trace(model, *map(om.tensor, images)).session(threads=1)(*images)
    for result, expected in zip(found, model(*map(om.tensor, images))):
        eager = expected.numpy().astype(np.float32)
        error = 6 * float(ml_dtypes.finfo(dtype).eps) * np.abs(eager).max()
        np.testing.assert_allclose(result.astype(np.float32), eager, rtol=0, atol=error)


def test_integers_are_rounded_to_bf16_by_our_code():
    """LLVM calls a function that no library has for the conversion in one op, on processors that do not round to bf16."""
    traced = om.trace(lambda x: ops.cast(x, dtype=ml_dtypes.bfloat16), om.tensor(np.arange(5, dtype=np.int32)))
    assert "sitofp" in (text := om.lowering.stages(traced)["llvm"]) and "to bf16" not in text
