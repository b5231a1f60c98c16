"""nn.init against torch: bounds, moments and structure; seeds."""
import math

import numpy as np
import pytest

from onemlir.errors import OnemlirError, ShapeError
from onemlir.frontend import nn, random
from onemlir.frontend.nn import init
from onemlir.frontend.tensor import Tensor

torch = pytest.importorskip("torch")


def empty(*shape):
    return Tensor(np.full(shape, np.nan, np.float32))


MOMENTS = [("uniform_", (-2.0, 3.0), {}), ("normal_", (1.0, 0.5), {}), ("trunc_normal_", (0.5, 1.0, -0.5, 1.0), {}),
("xavier_uniform_", (), {"gain": 2.0}),
           ("xavier_normal_", (), {}), ("kaiming_uniform_", (), {"a": math.sqrt(5)}),
           ("kaiming_uniform_", (), {"mode": "fan_out", "nonlinearity": "relu"}),
           ("kaiming_normal_", (), {}), ("sparse_", (0.25,), {"std": 2.0})]


@pytest.mark.parametrize("name, args, options", MOMENTS)
def test_distribution_is_torchs(name, args, options):
    random.manual_seed(3)
    shape = (120, 200) if name == "sparse_" else (60, 40, 3, 3)
    ours = getattr(init, name)(empty(*shape), *args, **options).numpy()
    peer = getattr(torch.nn.init, name)(torch.empty(shape), *args, **options).numpy()
    spread = peer.std()
    assert abs(ours.mean() - peer.mean()) < 0.05 * spread and abs(ours.std() / spread - 1) < 0.05
    if "normal" not in name or "trunc" in name:
        assert abs(ours.min() - peer.min()) < 0.05 * spread and abs(ours.max() - peer.max()) < 0.05 * spread or name == "sparse_"
    assert (ours == 0).mean() == pytest.approx((peer == 0).mean(), abs=1e-6)


@pytest.mark.parametrize("name, shape, args", [("eye_", (3, 5), ()), ("dirac_", (4, 3, 3), ()), ("dirac_", (4, 2, 3, 2), (2,)),
("dirac_", (6, 3, 1, 3, 3), (3,)),
                                               ("ones_", (2,), ()), ("zeros_", (2,), ()), ("constant_", (2, 3), (4.5,))])
def test_fixed_values(name, shape, args):
    tensor = empty(*shape)
    assert getattr(init, name)(tensor, *args) is tensor
    np.testing.assert_array_equal(tensor.numpy(), getattr(torch.nn.init, name)(torch.empty(shape), *args).numpy())


@pytest.mark.parametrize("shape", [(4, 9), (9, 4), (6, 2, 3)])
def test_orthogonal(shape):
    matrix = init.orthogonal_(empty(*shape), gain=2.0).numpy().reshape(shape[0], -1)
    gram = matrix @ matrix.T if matrix.shape[0] <= matrix.shape[1] else matrix.T @ matrix
    np.testing.assert_allclose(gram, 4 * np.eye(len(gram)), atol=1e-5)


@pytest.mark.parametrize("name, param", [("linear", None), ("conv2d", None), ("sigmoid", None), ("tanh", None), ("relu", None),
("leaky_relu", None),
                                         ("leaky_relu", 0.3), ("selu", None)])
def test_gain(name, param):
    assert init.calculate_gain(name, param) == pytest.approx(torch.nn.init.calculate_gain(name, param))


def test_refusals():
    with pytest.raises(OnemlirError, match="swish"):
        init.calculate_gain("swish")
    with pytest.raises(ShapeError, match="rank 2"):
        init.xavier_uniform_(empty(3))
    with pytest.raises(ShapeError, match="rank 3 to 5"):
        init.dirac_(empty(3, 3))
    with pytest.raises(OnemlirError, match="fan_both"):
        init.kaiming_normal_(empty(3, 3), mode="fan_both")


# Layer, arguments: each parameter's default must come from the distribution that torch's comes from.
DEFAULTS = [("Linear", (50, 400)), ("Bilinear", (50, 10, 20)), ("Conv1d", (32, 64, 5)), ("Conv2d", (16, 32, 3)), ("Conv3d", (8, 16, 3)),
            ("ConvTranspose1d", (32, 64, 5)), ("ConvTranspose2d", (32, 16, 3)), ("Embedding", (200, 50)), ("EmbeddingBag", (200, 50)),
            ("RNN", (30, 100)),
            ("LSTM", (30, 100, 2)), ("GRU", (30, 100)), ("LSTMCell", (30, 100)), ("MultiheadAttention", (100, 4)), ("PReLU", (5,)),
            ("BatchNorm2d", (5,)),
            ("LayerNorm", (5,)), ("GroupNorm", (2, 4)), ("RMSNorm", (5,)), ("TransformerDecoderLayer", (64, 4, 128))]


@pytest.mark.parametrize("name, args", DEFAULTS, ids=[name for name, _ in DEFAULTS])
def test_layers_start_as_torchs(name, args):
    random.manual_seed(1)
    torch.manual_seed(1)
    ours = {n: p.numpy() for n, p in getattr(nn, name)(*args).named_parameters()}
    peers = {n: p.detach().numpy() for n, p in getattr(torch.nn, name)(*args).named_parameters()}
    assert list(ours) == list(peers), "the names and their order are torch's"
    for key, peer in peers.items():
        assert ours[key].shape == peer.shape and ours[key].dtype == peer.dtype
        if peer.std() == 0 or peer.size == 1:
            np.testing.assert_array_equal(ours[key], peer)
            continue
        slack = 6 / math.sqrt(peer.size)  # six standard errors
        assert abs(ours[key].std() / peer.std() - 1) < slack and abs(ours[key].mean() - peer.mean()) < slack * peer.std(), key
        if name not in ("Embedding", "EmbeddingBag"):
            assert abs(np.abs(ours[key]).max() / np.abs(peer).max() - 1) < max(0.02, 10 / peer.size), key


def test_seeds():
    random.manual_seed(5)
    first, state = nn.Linear(3, 4).weight.numpy(), random.get_state()
    after = nn.Linear(3, 4).weight.numpy()
    random.manual_seed(5)
    np.testing.assert_array_equal(nn.Linear(3, 4).weight.numpy(), first)
    random.set_state(state)
    np.testing.assert_array_equal(nn.Linear(3, 4).weight.numpy(), after)
    assert not np.array_equal(first, after)


def test_padding_row():
    weight = nn.Embedding(5, 3, padding_idx=-2).weight.numpy()
    assert not weight[3].any() and weight[[0, 1, 2, 4]].all()
