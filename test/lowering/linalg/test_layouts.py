"""Chains of convolutions, which run in NHWC, against eager runs: what transpositions move through, and where they must stop."""
import re

import numpy as np
import onemlir as om
import pytest
from onemlir import lowering, ops

def normal(rng, *shape):
    return (rng.standard_normal(shape) / np.sqrt(np.prod(shape[1:]))).astype(np.float32)


@pytest.fixture
def weights(rng):
    return normal(rng, 20, 3, 3, 3), normal(rng, 24, 20, 1, 1), normal(rng, 24, 1, 3, 3), normal(rng, 24, 24, 2, 2), normal(rng, 20)


def agrees(model, x, *weights, axes=(), more=()):
    """The compiled model, its weights part of it, against the eager one."""
    weights = [om.tensor(w) for w in weights]
    run = lambda x: model(x, *weights)
    traced = om.trace(run, om.tensor(x), axes=(*axes, *[None] * (x.ndim - len(axes))))
    session = traced.session(threads=1)
    for inputs in (x, *more):
        expected = run(om.tensor(inputs))
        expected = expected if isinstance(expected, tuple) else (expected,)
        for number, (found, wanted) in enumerate(zip(session.run({traced.input_names[0]: inputs}).values(), expected)):
            np.testing.assert_allclose(found, np.asarray(wanted), rtol=1e-4, atol=1e-4, err_msg=f"result {number} for {inputs.shape}")
    return traced


IMAGE = (2, 3, 9, 10)


def image(rng, *shape):
    return rng.standard_normal(shape or IMAGE).astype(np.float32)


def residual_and_scale(x, a, b, c, d, bias):
    """A residual, a depthwise convolution, and a block that scales the channels by a mean of them."""
    x = ops.relu(ops.conv(x, a, bias, padding=1))
    y = ops.conv(ops.relu(ops.conv(x, b)), c, padding=1, groups=24, stride=2)
    s = ops.sigmoid(ops.conv(ops.mean(y, axis=(2, 3), keepdims=True), d[:, :, :1, :1]))
    y = y * s
    return ops.relu(y + ops.max_pool(ops.conv(x, b), kernel_size=3, stride=2, padding=1))


def encoder_and_decoder(x, a, b, c, d, bias):
    """Pooling, a transposed convolution, a concatenation with what was before, a slice, padding."""
    x = ops.relu(ops.conv(x, a, padding=1))
    y = ops.conv(ops.avg_pool(x, kernel_size=2, stride=2), b)
    y = ops.conv_transpose(y, d, stride=2)
    y = ops.concat([x[:, :, :8, :], y], axis=1)
    y = ops.pad(y, ((0, 0), (0, 0), (1, 0), (0, 1)))
    return ops.conv(y[:, 20:], b.reshape((20, 24, 1, 1))), ops.softmax(y, axis=1)


def shuffled_groups(x, a, b, c, d, bias):
    """Channels in two halves, groups of channels interleaved."""
    x = ops.conv(ops.relu(ops.conv(x, a, padding=1)), b)
    left, right = x[:, :12], x[:, 12:]
    right = ops.conv(right, c[12:], padding=1, groups=12)
    x = ops.concat([left, right], axis=1)
    n, channels, h, w = x.shape
    x = ops.reshape(ops.transpose(ops.reshape(x, shape=(n, 2, 12, h, w)), axes=(0, 2, 1, 3, 4)), shape=(n, channels, h, w))
    return ops.conv(x, d[:, :12], groups=2), ops.reshape(x, shape=(n, channels * h * w))


def to_channels_last(x, a, b, c, d, bias):
    """The model's own transpositions, a linear layer over the last axis, upsampling, a result in both layouts."""
    x = ops.conv(x, a, bias, padding=1)
    y = ops.transpose(x, axes=(0, 2, 3, 1))
    y = ops.tanh(ops.matmul(y, b.reshape((24, 20)).T))
    y = ops.conv(ops.transpose(y, axes=(0, 3, 1, 2)), c, padding=1, groups=24)
    n, channels, h, w = y.shape
    return ops.resize(y, sizes=(n, channels, 2 * h, 2 * w), mode="nearest"), x, ops.conv(ops.relu(y), d)


@pytest.mark.parametrize("axes", [(), ("n",)], ids=["static", "batch"])
@pytest.mark.parametrize("model", [residual_and_scale, encoder_and_decoder, shuffled_groups, to_channels_last])
def test_chains(rng, weights, model, axes):
    agrees(model, image(rng), *weights, axes=axes, more=[image(rng, 1, *IMAGE[1:])] if axes else [])


def test_images_of_any_size(rng, weights):
    more = [image(rng, 1, 3, 4, 7), image(rng, 3, 3, 17, 18)]
    agrees(residual_and_scale, image(rng), *weights, axes=("n", None, "h", "w"), more=more)


def test_slices_are_read_by_kernels(rng, weights):
    """Of the channels, of rows and columns, with steps: as views or as copies, never by plain loops."""
    def build(x, a, b, c, d, bias):
        y = ops.conv(x[:, :, 2:], a, padding=1)
        return (ops.conv(y[:, :16], b[:, :16]), ops.conv(y[:, 4:, 1:-1, ::2], c[:16], padding=1, groups=16),
                ops.max_pool(ops.conv(y, b)[:, 3:20], kernel_size=2), ops.conv(x[:, 1:], a[:, :2]))
    agrees(build, image(rng), *weights)


def test_signals(rng):
    """One axis: convolutions in a row, groups, a transposed one."""
    a, b, c, d = normal(rng, 20, 3, 5), normal(rng, 20, 20, 3), normal(rng, 20, 1, 3), normal(rng, 20, 6, 4)

    def build(x, a, b, c, d):
        x = ops.relu(ops.conv(x, a, padding=2))
        y = x + ops.conv(ops.conv(x, b, padding=2, dilation=2), c, padding=1, groups=20)
        return ops.conv_transpose(y, d, stride=2, padding=1), ops.max_pool(y, kernel_size=2, stride=2)
    for axes, more in (((), []), (("n", None, "t"), [image(rng, 3, 3, 40)])):
        agrees(build, image(rng, 2, 3, 15), a, b, c, d, axes=axes, more=more)


def test_nothing_is_transposed_between_convolutions(rng, weights):
    """The image is read as it is, all that follows runs along the channels, and the result is transposed once."""
    traced = agrees(residual_and_scale, image(rng), *weights)
    text = lowering.stages(traced)["linalg"]
    assert len(re.findall(r"linalg.generic.*\n *\^bb0\(%in: f32, %out: f32\):\n *linalg.yield %in", text)) <= 1, text
