"""Random nets of images, split and whole: the same numbers, bit for bit; and the same when compiled, to rounding."""
import numpy as np
import pytest
from hypothesis import example, given, settings, strategies as st

import onemlir as om
from onemlir import ops
from onemlir.dialect.interpreter import Interpreter
from onemlir.lowering.compilation import copy_module, lower
from onemlir.lowering.om.split_batch import split_batch

STEPS = ("conv", "grouped", "pool", "bias", "relu", "gate", "norm", "softmax", "concat", "shuffle", "crop", "pad", "resize", "residual", "double", "across")


def step(name, y, earlier, weights, draw):
    n, channels = y.shape[0], y.shape[1]
    if name == "conv":
        return ops.conv2d(y, weights[:4, :channels], padding=1)
    if name == "grouped":
        return ops.conv2d(y, weights[:channels, :1], padding=1, groups=channels)
    if name == "pool":
        return ops.max_pool2d(y, 3, stride=1, padding=1)
    if name == "bias":
        return y + weights[0, :channels, :1, :1]
    if name == "gate":
        return y * ops.sigmoid(ops.mean(y, axis=(2, 3), keepdims=True))
    if name == "norm":
        return ops.layer_norm(y, y.shape[-1:])
    if name == "softmax":
        return ops.softmax(y, axis=1)
    if name == "concat":
        return ops.concat([y[:, :2], y], axis=1)[:, :4]
    if name == "shuffle" and channels % 2 == 0:
        return ops.reshape(ops.transpose(ops.reshape(y, (n, 2, channels // 2, *y.shape[2:])), (0, 2, 1, 3, 4)), y.shape)
    if name == "crop":
        return y[:, :, 1:, 1:] if y.shape[2] > 3 else y
    if name == "pad":
        return ops.pad(y, ((0, 0), (0, 0), (1, 0), (0, 1))) if y.shape[2] < 9 else y
    if name == "residual":
        return y + (earlier if earlier.shape == y.shape else y)
    if name == "double":
        return y * 2.0 if draw else y + y[:1]
    if name == "across":
        return y - ops.max(y, axis=0, keepdims=True)
    return ops.relu(y)


def net(steps, x, weights):
    y = first = ops.conv2d(x, weights[:4, :3], padding=1)
    for number, name in enumerate(steps):
        y = step(name, y, first, weights, number % 2)
        if number == 2:
            first = y
    return y, first, ops.mean(y, axis=(2, 3))


@example(["conv"] * 4 + ["double", "conv", "residual"], 2)  # one chain reads what another one computes
@given(st.lists(st.sampled_from(STEPS), min_size=2, max_size=9), st.sampled_from([2, 3]))
@settings(max_examples=60, deadline=None)
@pytest.mark.parametrize("symbolic", [False, True])
def test_no_bit_changes(symbolic, steps, count):
    rng = np.random.default_rng(0)
    x, weights = rng.standard_normal((count, 3, 5, 5)).astype(np.float32), rng.standard_normal((4, 4, 3, 3)).astype(np.float32)
    traced = om.trace(lambda x, weights: net(steps, x, weights), om.tensor(x), om.tensor(weights), check=False,
                      axes={"x": (om.Axis("n", min=2), None, None, None)} if symbolic else None)
    program = traced.program
    module = copy_module(program.module)
    with module.context:
        split_batch(module, cache=64)
        module.operation.verify()
        main = next(op for op in module.body.operations if "main" in str(op.attributes["sym_name"]))
        found = Interpreter(program.weights).run(main.operation, [x, weights])
    with program.context:
        expected = Interpreter(program.weights).run(program.main, [x, weights])
    for a, b in zip(found, expected):
        np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("symbolic", [False, True])
def test_compiled_a_batch_is_its_samples(symbolic):
    """Layers of some 7 MB; the samples one by one are not split."""
    rng = np.random.default_rng(0)
    x, weights = rng.standard_normal((3, 3, 192, 192)).astype(np.float32), rng.standard_normal((8, 8, 3, 3)).astype(np.float32)

    def model(x):
        y = ops.relu(ops.conv2d(x, om.tensor(weights[:, :3]), padding=1))
        y = ops.relu(ops.conv2d(y, om.tensor(weights), padding=1)) + y
        return ops.conv2d(y, om.tensor(weights), stride=4), ops.mean(y, axis=(2, 3))

    traced = om.trace(model, om.tensor(x), check=False, axes={"x": ("n", None, None, None)} if symbolic else None)
    steps = []
    lower(traced.program, until="linalg", observe=lambda name, module: steps.append(str(module).count("scf.for")))
    assert steps == [0, 1]
    found = traced.session(threads=2)(x)
    one = om.trace(model, om.tensor(x[:1]), check=False).session(threads=1)
    for number in range(3):
        for whole, sample in zip(found, one(x[number:number + 1])):
            np.testing.assert_allclose(whole[number:number + 1], sample, rtol=2e-5, atol=1e-5)
    if symbolic:
        assert [a.shape for a in traced.session()(x[:0])] == [(0, 8, 48, 48), (0, 8)]
