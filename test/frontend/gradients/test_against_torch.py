"""Gradients against torch's, also at places where the derivative is a matter of choice."""
import numpy as np
import pytest

import onemlir as om
from onemlir import nn, ops

torch = pytest.importorskip("torch")
F = torch.nn.functional
EDGES = np.array([-6.0, -3.0, -1.0, -0.5, 0.0, 0.25, 0.5, 1.0, 3.0, 6.0, 25.0])


def compare(ours, theirs, *arrays, rtol=1e-9, atol=1e-12):
    """Values and gradients by every floating argument, with a fixed gradient of the result."""
    floating = [a.dtype.kind == "f" for a in arrays]
    mine = [om.tensor(a, requires_grad=f) for a, f in zip(arrays, floating)]
    other = [torch.tensor(a, requires_grad=f) for a, f in zip(arrays, floating)]
    y, z = ours(*mine), theirs(*other)
    np.testing.assert_allclose(y.numpy(), z.detach().numpy(), rtol=rtol, atol=atol)
    seed = np.random.default_rng(1).uniform(0.5, 1.5, y.shape)
    y.backward(om.tensor(seed))
    z.backward(torch.tensor(seed))
    for a, b, f in zip(mine, other, floating):
        if f:
            expected = np.zeros(a.shape) if b.grad is None else b.grad.numpy()
            np.testing.assert_allclose(np.zeros(a.shape) if a.grad is None else a.grad.numpy(), expected, rtol=rtol, atol=atol)


UNARY = {
    "relu": F.relu, "relu6": F.relu6, "leaky_relu": F.leaky_relu, "elu": F.elu, "selu": F.selu, "celu": F.celu, "gelu": F.gelu, "silu": F.silu,
    "mish": F.mish, "softplus": F.softplus, "softsign": F.softsign, "hard_sigmoid": F.hardsigmoid, "hard_swish": F.hardswish, "sigmoid": torch.sigmoid,
    "tanh": torch.tanh, "abs": torch.abs, "sign": torch.sign, "square": torch.square, "erf": torch.erf, "floor": torch.floor, "round": torch.round,
    "logsigmoid": F.logsigmoid, "tanhshrink": F.tanhshrink, "softshrink": F.softshrink, "hardshrink": F.hardshrink,
}


@pytest.mark.parametrize("name", UNARY)
def test_functions_of_one_tensor(name):
    compare(getattr(ops, name), UNARY[name], EDGES, rtol=1e-7)  # torch has 1/6 of hardsigmoid in f32


@pytest.mark.parametrize("name", ["maximum", "minimum", "atan2", "pow", "copysign", "remainder", "fmod"])
def test_functions_of_two_tensors(name):
    x, y = np.array([1.0, 2.0, 2.0, 0.5, 3.5]), np.array([1.0, 2.5, -2.0, 2.0, 1.5])
    theirs = {"atan2": torch.atan2}.get(name, getattr(torch, name))
    compare(getattr(ops, name), theirs, np.abs(x) if name == "pow" else x, y)


def test_power_of_zero():
    compare(ops.pow, torch.pow, np.array([0.0, 0.0, 0.0, 2.0]), np.array([0.0, 1.0, 2.0, 0.0]))


@pytest.mark.parametrize("name, theirs", [("max", torch.amax), ("min", torch.amin)])
def test_equal_extremes_share(name, theirs):
    compare(lambda t: getattr(ops, name)(t, axis=1), lambda t: theirs(t, 1), np.array([[1.0, 3.0, 3.0], [2.0, 2.0, 2.0]]))


@pytest.mark.parametrize("axis", [0, 1])
def test_products_and_running_products_with_zeros(axis):
    x = np.array([[1.0, 0.0, 3.0], [0.0, 0.0, 2.0]])
    compare(lambda t: ops.prod(t, axis=axis), lambda t: torch.prod(t, axis), x)
    compare(lambda t: ops.cumprod(t, axis), lambda t: torch.cumprod(t, axis), x)


def test_norms_of_zero():
    for order in (1, 2, 3, np.inf):
        compare(lambda t: ops.norm(t, order, axis=1), lambda t: torch.linalg.vector_norm(t, order, 1), np.array([[0.0, 0.0], [3.0, -4.0]]))


def test_standard_deviation_of_equal_elements():
    compare(lambda t: ops.std(t, axis=1), lambda t: torch.std(t, 1, correction=0), np.array([[1.0, 1.0], [3.0, -4.0]]))


def test_softmax_family():
    x = np.random.default_rng(0).normal(size=(3, 4))
    for ours, theirs in ((ops.softmax, F.softmax), (ops.log_softmax, F.log_softmax), (ops.logsumexp, torch.logsumexp)):
        compare(lambda t: ours(t, axis=1), lambda t: theirs(t, 1), x)


def test_pooling_and_convolution():
    rng = np.random.default_rng(2)
    x, w, b = rng.normal(size=(2, 4, 7, 6)), rng.normal(size=(6, 2, 3, 3)), rng.normal(size=6)
    compare(lambda *t: ops.conv(*t, stride=2, padding=1, groups=2), lambda *t: F.conv2d(*t, stride=2, padding=1, groups=2), x, w, b)
    compare(lambda t: nn.MaxPool2d(3, 2, 1)(t), lambda t: F.max_pool2d(t, 3, 2, 1), np.round(x))
    compare(lambda t: nn.AvgPool2d(3, 2, 1, ceil_mode=True, count_include_pad=False)(t),
            lambda t: F.avg_pool2d(t, 3, 2, 1, ceil_mode=True, count_include_pad=False), x)
    compare(lambda t: nn.AdaptiveAvgPool2d((3, 2))(t), lambda t: F.adaptive_avg_pool2d(t, (3, 2)), x)


def test_batch_norm_in_training():
    x = np.random.default_rng(3).normal(size=(4, 3, 5))
    mine, other = nn.BatchNorm1d(3).double(), torch.nn.BatchNorm1d(3).double()
    compare(mine, other, x)
    np.testing.assert_allclose(mine.weight.grad.numpy(), other.weight.grad.numpy(), rtol=1e-9)
    np.testing.assert_allclose(mine.running_var.numpy(), other.running_var.numpy(), rtol=1e-9)


@pytest.mark.parametrize("layer", ["RNN", "GRU", "LSTM"])
def test_recurrent_modules(layer):
    mine, other = getattr(nn, layer)(3, 4, num_layers=2, bidirectional=True).double(), getattr(torch.nn, layer)(3, 4, num_layers=2, bidirectional=True).double()
    mine.load_state_dict({k: v.detach().numpy() for k, v in other.state_dict().items()})
    compare(lambda t: mine(t)[0], lambda t: other(t)[0], np.random.default_rng(4).normal(size=(5, 2, 3)), rtol=1e-7)
    np.testing.assert_allclose(mine.weight_hh_l0.grad.numpy(), other.weight_hh_l0.grad.numpy(), rtol=1e-7)


def test_transformer_layer():
    mine, other = (m.TransformerEncoderLayer(8, 2, 16, 0.0, batch_first=True).double() for m in (nn, torch.nn))
    mine.load_state_dict({k: v.detach().numpy() for k, v in other.state_dict().items()})
    compare(mine, other, np.random.default_rng(4).normal(size=(2, 5, 8)), rtol=1e-6)
    for (name, a), (_, b) in zip(sorted(mine.named_parameters()), sorted(other.named_parameters())):
        np.testing.assert_allclose(a.grad.numpy(), b.grad.numpy(), rtol=1e-6, atol=1e-9, err_msg=name)


@pytest.mark.parametrize("mode, align", [("nearest", None), ("bilinear", False), ("bilinear", True), ("bicubic", False)])
def test_interpolation(mode, align):
    options = {} if align is None else {"align_corners": align}
    compare(lambda t: ops.interpolate(t, (5, 7), mode=mode, **options), lambda t: F.interpolate(t, (5, 7), mode=mode, **options),
            np.random.default_rng(5).normal(size=(1, 2, 4, 3)), rtol=1e-5, atol=2e-6)  # places are computed in f32


LOSSES = {
    "cross_entropy": [dict(), dict(label_smoothing=0.1), dict(reduction="sum", ignore_index=1)], "nll_loss": [dict(), dict(ignore_index=0)],
}


@pytest.mark.parametrize("name, options", [(n, o) for n, all in LOSSES.items() for o in all])
def test_losses_of_classes(name, options):
    x, target = np.random.default_rng(6).normal(size=(4, 3, 2)), np.array([[0, 1], [2, 0], [1, 1], [0, 2]])
    compare(lambda t: getattr(nn.losses, name)(t, target, **options), lambda t: getattr(F, name)(t, torch.tensor(target), **options), x)


@pytest.mark.filterwarnings("ignore:reduction")
@pytest.mark.parametrize("name", ["mse_loss", "l1_loss", "smooth_l1_loss", "huber_loss", "binary_cross_entropy_with_logits", "binary_cross_entropy", "kl_div"])
def test_losses_of_values(name):
    rng = np.random.default_rng(7)
    x, target = rng.uniform(0.1, 0.9, (3, 4)), rng.uniform(0.1, 0.9, (3, 4))
    compare(getattr(nn.losses, name), getattr(F, name), x, target)


@pytest.mark.parametrize("reduction", ["mean", "sum", "none"])
def test_ctc(reduction):
    x = np.random.default_rng(8).normal(size=(7, 3, 5))
    targets, inputs, lengths = np.array([[1, 2, 2], [3, 1, 4], [2, 2, 2]]), np.array([7, 6, 4]), np.array([3, 2, 0])
    compare(lambda t: nn.losses.ctc_loss(ops.log_softmax(t, -1), targets, inputs, lengths, reduction=reduction),
            lambda t: F.ctc_loss(F.log_softmax(t, -1), *map(torch.tensor, (targets, inputs, lengths)), reduction=reduction), x, rtol=1e-6)


def test_ctc_of_an_impossible_target_costs_nothing():
    x = np.random.default_rng(8).normal(size=(2, 2, 4))
    targets, inputs, lengths = np.array([[1, 1, 1], [2, 0, 0]]), np.array([2, 2]), np.array([3, 1])
    compare(lambda t: nn.losses.ctc_loss(ops.log_softmax(t, -1), targets, inputs, lengths, zero_infinity=True),
            lambda t: F.ctc_loss(F.log_softmax(t, -1), *map(torch.tensor, (targets, inputs, lengths)), zero_infinity=True), x, rtol=1e-6)
