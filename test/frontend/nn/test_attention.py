"""MultiheadAttention and the transformer layers against torch, and their recordings."""
import itertools
import warnings

import numpy as np
import pytest

from onemlir.errors import OnemlirError, ShapeError
from onemlir.frontend import nn, ops
from onemlir.frontend.tensor import Tensor

torch = pytest.importorskip("torch")

SETTINGS = [{}, {"batch_first": True}, {"bias": False}, {"kdim": 6, "vdim": 10}, {"add_bias_kv": True}, {"add_zero_attn": True},
            {"add_bias_kv": True, "add_zero_attn": True, "batch_first": True, "kdim": 6}]
ATOL = 1e-5


def numbers(*shape, seed=0):
    return np.random.default_rng(seed).standard_normal(shape).astype(np.float32)


def attention_pair(randomize, **settings):
    torch.manual_seed(0)
    peer = randomize(torch.nn.MultiheadAttention(8, 2, **settings)).eval()
    ours = nn.MultiheadAttention(8, 2, **settings)
    assert list(ours.state_dict()) == list(peer.state_dict())
    ours.load_state_dict(peer.state_dict())
    return ours.eval(), peer


def assert_same(ours, peers):
    for a, b in zip(ours, peers):
        assert (a is None) == (b is None)
        if a is not None:
            np.testing.assert_allclose(a.numpy(), b.detach().numpy(), rtol=1e-4, atol=ATOL)


def masks():
    """Masks by name for 5 queries, 4 keys, 3 samples and 2 heads; no query is left without keys."""
    rng = np.random.default_rng(1)
    forbid, padding = rng.random((5, 4)) < 0.4, np.zeros((3, 4), bool)
    forbid[:, 0] = False
    padding[0, 2:] = padding[1, 3:] = True
    each = rng.random((6, 5, 4)) < 0.4
    each[:, :, 0] = False
    return {"none": {}, "attn": {"attn_mask": forbid}, "float": {"attn_mask": numbers(5, 4)}, "padding": {"key_padding_mask": padding},
            "heads": {"attn_mask": each}, "all": {"attn_mask": numbers(5, 4), "key_padding_mask": np.where(padding, -np.inf, 0).astype(np.float32)}}


@pytest.mark.parametrize("settings, mask, weights", [*itertools.product(SETTINGS, ["none", "all"], ["mean", "none"]),
                                                     *itertools.product(SETTINGS[:2], ["attn", "float", "padding", "heads"], ["heads", "none"])], ids=str)
def test_attention_is_torchs(settings, mask, weights, randomize):
    ours, peer = attention_pair(randomize, **settings)
    q, k, v = numbers(5, 3, 8), numbers(4, 3, ours.kdim, seed=1), numbers(4, 3, ours.vdim, seed=2)
    if ours.batch_first:
        q, k, v = (np.ascontiguousarray(x.swapaxes(0, 1)) for x in (q, k, v))
    given = masks()[mask]
    options = {"need_weights": weights != "none", "average_attn_weights": weights != "heads"}
    expected = peer(*map(torch.from_numpy, (q, k, v)), **{n: torch.from_numpy(m) for n, m in given.items()}, **options)
    assert_same(ours(*map(Tensor, (q, k, v)), **{n: Tensor(m) for n, m in given.items()}, **options), expected)


@pytest.mark.parametrize("need_weights", [True, False])
def test_self_attention_is_torchs(need_weights, randomize):
    ours, peer = attention_pair(randomize)
    x = numbers(5, 3, 8)
    t = torch.from_numpy(x)
    causal = torch.nn.Transformer.generate_square_subsequent_mask(5)
    y = Tensor(x)
    assert_same(ours(y, y, y, need_weights=need_weights), peer(t, t, t, need_weights=need_weights))
    expected = peer(t, t, t, need_weights=need_weights, attn_mask=causal, is_causal=True)
    assert_same(ours(y, y, y, need_weights=need_weights, is_causal=True), expected)
    padding = np.zeros((3, 5), bool)
    padding[1, 3:] = True
    expected = peer(t, t, t, need_weights=need_weights, attn_mask=causal, key_padding_mask=torch.where(torch.from_numpy(padding), -torch.inf, 0.0))
    assert_same(ours(y, y, y, need_weights=need_weights, is_causal=True, key_padding_mask=Tensor(padding)), expected)


def test_one_sequence_without_a_batch(randomize):
    ours, peer = attention_pair(randomize)
    q, k, padding = numbers(5, 8), numbers(4, 8, seed=1), np.array([False, False, True, False])
    expected = peer(*map(torch.from_numpy, (q, k, k)), key_padding_mask=torch.from_numpy(padding))
    assert_same(ours(*map(Tensor, (q, k, k)), key_padding_mask=Tensor(padding)), expected)


def test_attention_refuses():
    with pytest.raises(OnemlirError, match="7.*2"):
        nn.MultiheadAttention(7, 2)
    with pytest.raises(ShapeError, match="axes"):
        nn.MultiheadAttention(8, 2)(*[Tensor(np.zeros((1, 2, 3, 8), np.float32))] * 3)


def test_dropped_weights_keep_their_mean():
    module = nn.MultiheadAttention(8, 2, dropout=0.5)
    x = Tensor(numbers(50, 20, 8))
    dropped, kept = module(x, x, x)[1].numpy(), module.eval()(x, x, x)[1].numpy()
    assert not np.allclose(dropped, kept) and abs(dropped.mean() / kept.mean() - 1) < 0.1


@pytest.mark.parametrize("options", [{}, {"need_weights": False}, {"need_weights": False, "is_causal": True}, {"is_causal": True}], ids=str)
@pytest.mark.parametrize("same", [True, False])
def test_attention_recorded(options, same, randomize, record_and_run):
    ours, _ = attention_pair(randomize, batch_first=True)
    call = (lambda x, m: ours(x, x, x, key_padding_mask=m, **options)) if same else (lambda x, m: ours(x, x * 2, x + 1, key_padding_mask=m, **options))
    run = record_and_run(call, [numbers(2, 5, 8), np.zeros((2, 5), bool)], [("n", "t", None), ("n", "t")])
    assert {"ours.in_proj_weight", "in_proj_weight"} & set(run.program.weights)
    assert not any(n.startswith("constant_") for n in run.program.weights), "weights keep their names"
    for count, length in ((2, 5), (3, 7), (1, 1)):
        mask = np.zeros((count, length), bool)
        mask[0, 1:] = True
        x = numbers(count, length, 8)
        expected = [t.numpy() for t in call(Tensor(x), Tensor(mask)) if t is not None]
        for a, b in zip(run(x, mask), expected):
            np.testing.assert_allclose(a, b, rtol=1e-5, atol=1e-6)


LAYERS = [{}, {"norm_first": True}, {"batch_first": True, "activation": "gelu"}, {"bias": False, "layer_norm_eps": 1e-2}]


@pytest.mark.parametrize("options", LAYERS, ids=str)
def test_encoder_is_torchs(options, randomize):
    torch.manual_seed(0)
    layer = torch.nn.TransformerEncoderLayer(8, 2, 16, **options)
    peer = randomize(torch.nn.TransformerEncoder(layer, 2, torch.nn.LayerNorm(8), enable_nested_tensor=False)).eval()
    ours = nn.TransformerEncoder(nn.TransformerEncoderLayer(8, 2, 16, **options), 2, nn.LayerNorm(8)).eval()
    assert list(ours.state_dict()) == list(peer.state_dict())
    ours.load_state_dict(peer.state_dict())
    x, padding = numbers(4, 4, 8), np.zeros((4, 4), bool)
    padding[1, 2:] = True
    causal = torch.nn.Transformer.generate_square_subsequent_mask(4)
    with torch.no_grad(), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert_same([ours(Tensor(x))], [peer(torch.from_numpy(x))])
        assert_same([ours(Tensor(x), Tensor(causal.numpy()), Tensor(padding))], [peer(torch.from_numpy(x), causal, torch.from_numpy(padding))])
        assert_same([ours(Tensor(x), is_causal=True)], [peer(torch.from_numpy(x), causal, is_causal=True)])


@pytest.mark.parametrize("options", LAYERS, ids=str)
def test_transformer_is_torchs(options, randomize):
    torch.manual_seed(0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        peer = randomize(torch.nn.Transformer(8, 2, 1, 2, 16, **options)).eval()
    ours = nn.Transformer(8, 2, 1, 2, 16, **options).eval()
    assert list(ours.state_dict()) == list(peer.state_dict())
    ours.load_state_dict(peer.state_dict())
    src, tgt = numbers(3, 3, 8), numbers(3, 3, 8, seed=1)
    mask = nn.Transformer.generate_square_subsequent_mask(3)
    np.testing.assert_array_equal(mask.numpy(), torch.nn.Transformer.generate_square_subsequent_mask(3).numpy())
    memory = numbers(3, 3, seed=3)
    with torch.no_grad():
        expected = peer(*map(torch.from_numpy, (src, tgt)), tgt_mask=torch.from_numpy(mask.numpy()), memory_mask=torch.from_numpy(memory))
    assert_same([ours(Tensor(src), Tensor(tgt), tgt_mask=mask, memory_mask=Tensor(memory))], [expected])
    for name, value in nn.Transformer(8, 2, 1, 1, 16).state_dict().items():
        if value.ndim > 1:
            assert np.abs(value).max() <= np.sqrt(6 / sum(value.shape)), f"{name} is Xavier-uniform"


def test_layers_of_an_encoder_are_copies():
    layer = nn.TransformerEncoderLayer(8, 2, 16)
    encoder = nn.TransformerEncoder(layer, 2)
    assert len({id(p) for p in [*layer.parameters(), *encoder.parameters()]}) == 36
    np.testing.assert_array_equal(encoder.layers[1].linear1.weight.numpy(), layer.linear1.weight.numpy())


def test_activation_may_be_a_function():
    layer = nn.TransformerEncoderLayer(8, 2, 16, activation=ops.silu)
    assert layer.eval()(Tensor(numbers(3, 2, 8))).shape == (3, 2, 8)
    with pytest.raises(OnemlirError, match="swish"):
        nn.TransformerEncoderLayer(8, 2, 16, activation="swish")


def test_transformer_recorded(record_and_run):
    model = nn.Transformer(8, 2, 1, 1, 16, batch_first=True).eval()
    run = record_and_run(model, [numbers(2, 5, 8), numbers(2, 4, 8)], [("n", "t", None), ("n", "u", None)])
    assert set(run.program.weights) == set(model.state_dict())
    for count, source, target in ((2, 5, 4), (3, 2, 6)):
        x, y = numbers(count, source, 8), numbers(count, target, 8, seed=1)
        np.testing.assert_allclose(run(x, y)[0], model(Tensor(x), Tensor(y)).numpy(), rtol=1e-4, atol=1e-5)
