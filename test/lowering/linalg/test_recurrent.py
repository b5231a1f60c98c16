"""Recurrent layers, compiled, against the references."""
import ml_dtypes
import numpy as np
import pytest

TIME, BATCH, FEATURES, HIDDEN = 4, 3, 5, 6


@pytest.fixture
def normal(rng):
    return lambda *shape: (rng.standard_normal(shape) * 0.5).astype(np.float32)


def weights(normal, gates: int):
    return normal(gates * HIDDEN, FEATURES), normal(gates * HIDDEN, HIDDEN), normal(gates * HIDDEN)


def rnn(ops, x, lens, h, c, w, r, b):
    return (*ops.rnn_layer(x, w, r, b, b, h, lens, reverse=True), *ops.rnn_layer(x, w, r, activation="relu"))


def gru(ops, x, lens, h, c, w, r, b):
    return (*ops.gru_layer(x, w, r, b, b, h), *ops.gru_layer(x, w, r, b, b, h, lens, linear_before_reset=False, clip=0.3, reverse=True))


def lstm(ops, x, lens, h, c, w, r, b):
    peephole = ops.concat([h, h, h], axis=1)
    peephole = ops.reshape(ops.dynamic_slice(peephole, np.zeros(2, np.int64), shape=(1, 3 * HIDDEN)), shape=(3 * HIDDEN,))
    names = {"gate_activation": "hard_sigmoid", "activation": "softsign", "hidden_activation": "softplus"}
    return (*ops.lstm_layer(x, w, r, b, b, h, None, c, peephole, clip=0.5),
            *ops.lstm_layer(x, w, r, initial_c=c, sequence_lens=lens, input_forget=True, reverse=True, **names))


@pytest.mark.parametrize("layer, gates", ((rnn, 1), (gru, 3), (lstm, 4)), ids=("rnn", "gru", "lstm"))
@pytest.mark.parametrize("dynamic", (False, True), ids=("static", "dynamic"))
def test_layers(agrees, normal, layer, gates, dynamic):
    lens = np.array([2, TIME, 0], np.int32)
    inputs = (normal(TIME, BATCH, FEATURES), lens, normal(BATCH, HIDDEN), normal(BATCH, HIDDEN), *weights(normal, gates))
    one = (inputs[0][:2, :1], lens[:1], inputs[2][:1], inputs[3][:1], *inputs[4:])
    more = [one, (one[0][:0], *one[1:])] if dynamic else []
    agrees(layer, *inputs, axes=[("t", "b"), ("b",), ("b",), ("b",)] if dynamic else (), more=more, scale=5)


@pytest.mark.parametrize("layer, gates", ((gru, 3), (lstm, 4)), ids=("gru", "lstm"))
def test_narrow(agrees, normal, layer, gates):
    """States stay f32 from step to step, and are rounded once."""
    inputs = (normal(TIME, BATCH, FEATURES), np.array([2, 4, 1], np.int64), normal(BATCH, HIDDEN), normal(BATCH, HIDDEN), *weights(normal, gates))
    agrees(layer, *(a.astype(ml_dtypes.bfloat16) if a.dtype == np.float32 else a for a in inputs))


@pytest.mark.parametrize("kind, gates", (("LSTM", 4), ("GRU", 3), ("RNN", 1)))
@pytest.mark.parametrize("batch, hidden", ((1, 16), (7, 20), (1, 300)))
def test_torch_layers_at_sizes_that_fill_and_do_not_fill_vectors(kind, gates, batch, hidden):
    torch = pytest.importorskip("torch")
    import onemlir as om

    peer = getattr(torch.nn, kind)(9, hidden, batch_first=True, bidirectional=True)
    x = torch.randn(batch, 5, 9, generator=torch.Generator().manual_seed(0))
    traced = om.trace(peer, x)
    expected = peer(x)[0].detach().numpy()
    for threads in (1, 2):
        found = traced.session(threads=threads)(x.numpy())
        np.testing.assert_allclose(np.asarray(found[0]), expected, rtol=1e-5, atol=1e-5)
