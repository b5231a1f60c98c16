"""Recurrent layers: whole networks against torch, ONNX's options against onnxruntime."""
import numpy as np
import onnxruntime
import pytest
import torch
from onnx import helper, numpy_helper

from onemlir.errors import OnemlirError, ShapeError
from onemlir.dialect.interpreter import Interpreter
from onemlir.frontend import ops
from onemlir.frontend.tracer import record

RNG = np.random.default_rng(0)
TIME, BATCH, FEATURES, HIDDEN = 5, 3, 4, 2


def torch_network(kind, **options):
    torch.manual_seed(0)
    return {"lstm": torch.nn.LSTM, "gru": torch.nn.GRU, "rnn": torch.nn.RNN, "rnn relu": torch.nn.RNN}[kind](
        FEATURES, HIDDEN, dtype=torch.float64, **({"nonlinearity": "relu"} if kind == "rnn relu" else {}), **options)


def weights_of(network):
    return [tuple(w.detach().numpy() for w in group) for group in network.all_weights]


@pytest.mark.parametrize("options", [{}, {"num_layers": 2}, {"bidirectional": True},
                                     {"num_layers": 2, "bidirectional": True, "batch_first": True},
                                     {"bias": False}])
@pytest.mark.parametrize("given_states", [False, True])
@pytest.mark.parametrize("single", [False, True])
@pytest.mark.parametrize("kind", ["lstm", "gru", "rnn", "rnn relu"])
def test_network_equals_torch(kind, single, given_states, options):
    network = torch_network(kind, **options)
    x = RNG.standard_normal((TIME, FEATURES) if single else (TIME, BATCH, FEATURES))
    count = options.get("num_layers", 1) * (2 if options.get("bidirectional") else 1)
    state = (count, HIDDEN) if single else (count, x.shape[0] if options.get("batch_first") else BATCH, HIDDEN)
    states = [RNG.standard_normal(state) for _ in range(2 if kind == "lstm" else 1)]
    peer_states = tuple(map(torch.tensor, states)) if kind == "lstm" else torch.tensor(states[0])
    expected, last = network(torch.tensor(x), peer_states if given_states else None)
    keywords = {k: v for k, v in options.items() if k != "bias"} | ({"activation": "relu"} if kind == "rnn relu" else {})
    initial = None if not given_states else tuple(states) if kind == "lstm" else states[0]
    got, got_last = getattr(ops, kind.split()[0])(x, weights_of(network), initial, **keywords)
    np.testing.assert_allclose(got.numpy(), expected.detach().numpy(), rtol=1e-10, atol=1e-12)
    for a, b in zip(*((v if isinstance(v, tuple) else (v,)) for v in (got_last, last))):
        np.testing.assert_allclose(a.numpy(), b.detach().numpy(), rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("kind", ["lstm", "gru", "rnn"])
def test_recorded_with_symbolic_axes(kind):
    network = torch_network(kind, num_layers=2, bidirectional=True)
    weights = weights_of(network)
    x = RNG.standard_normal((TIME, BATCH, FEATURES))
    program = record(lambda x: getattr(ops, kind)(x, weights, num_layers=2, bidirectional=True)[0], [x[:2, :1]], {},
                     ("time", "batch", None), "error", {}).program
    assert program.outputs[0].shape == ("time", "batch", 2 * HIDDEN)
    got, = Interpreter(program.weights).run(program.main, [x])
    np.testing.assert_allclose(got, network(torch.tensor(x))[0].detach().numpy(), rtol=1e-10, atol=1e-12)


GATES = {"LSTM": (4, [0, 2, 3, 1]), "GRU": (3, [1, 0, 2]), "RNN": (1, [0])}    # where ONNX's gates are in torch's order


def both(kind, length=None, options=None, ours=None, peephole=False, states=True):
    """onnxruntime's and our results (y, last states) of one layer on random data."""
    gates, order = GATES[kind]
    rng = np.random.default_rng(1)
    draw = lambda *shape: rng.standard_normal(shape).astype(np.float32)
    x, w, r, b = draw(TIME, BATCH, FEATURES), draw(gates * HIDDEN, FEATURES), draw(gates * HIDDEN, HIDDEN), draw(2 * gates * HIDDEN)
    h, c, p = draw(BATCH, HIDDEN), draw(BATCH, HIDDEN), draw(3 * HIDDEN)
    inputs = {"X": x, "W": w[None], "R": r[None], "B": b[None], "sequence_lens": None if length is None else np.array(length, np.int32),
              "initial_h": h[None] if states else None}
    if kind == "LSTM":
        inputs |= {"initial_c": c[None] if states else None, "P": p[None] if peephole else None}
    expected = run_onnx(kind, inputs, options or {})
    reorder = lambda a: np.concatenate([np.split(a, gates)[i] for i in order])
    b_ih, b_hh = np.split(b, 2)
    keywords = dict(initial_h=h) if states else {}
    if kind == "LSTM" and states:
        keywords["initial_c"] = c
    if peephole:
        keywords["peephole"] = p
    layer = getattr(ops, f"{kind.lower()}_layer")
    length = None if length is None else np.array(length, np.int32)
    got = layer(x, reorder(w), reorder(r), reorder(b_ih), reorder(b_hh), sequence_lens=length, **keywords, **(ours or {}))
    return [expected[0][:, 0], *(e[0] for e in expected[1:])], [g.numpy() for g in got]


def run_onnx(kind, inputs, options):
    given = {k: v for k, v in inputs.items() if v is not None}
    outputs = ["Y", "Y_h", "Y_c"][:3 if kind == "LSTM" else 2]
    node = helper.make_node(kind, [k if k in given else "" for k in inputs], outputs, hidden_size=HIDDEN, **options)
    infos = [helper.make_tensor_value_info(k, helper.np_dtype_to_tensor_dtype(v.dtype), v.shape) for k, v in given.items() if k == "X"]
    rest = [numpy_helper.from_array(v, k) for k, v in given.items() if k != "X"]
    graph = helper.make_graph([node], "g", infos, [helper.make_tensor_value_info(o, 1, None) for o in outputs], rest)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 14)], ir_version=8)
    return onnxruntime.InferenceSession(model.SerializeToString()).run(None, {"X": inputs["X"]})


ONNX_CASES = [
    ("LSTM", {}), ("LSTM", {"states": False}), ("LSTM", {"peephole": True}), ("LSTM", {"length": [2, 5, 3]}),
    ("LSTM", {"options": {"direction": "reverse"}, "ours": {"reverse": True}}),
    ("LSTM", {"options": {"direction": "reverse"}, "ours": {"reverse": True}, "length": [2, 5, 3], "peephole": True}),
    ("LSTM", {"options": {"clip": 0.4}, "ours": {"clip": 0.4}}),
    ("LSTM", {"options": {"activations": ["HardSigmoid", "Softsign", "Relu"]},
              "ours": {"gate_activation": "hard_sigmoid", "activation": "softsign", "hidden_activation": "relu"}}),
    ("LSTM", {"options": {"input_forget": 1}, "ours": {"input_forget": True}}),
    ("GRU", {"ours": {"linear_before_reset": False}}), ("GRU", {"options": {"linear_before_reset": 1}}),
    ("GRU", {"options": {"linear_before_reset": 1}, "length": [2, 5, 3]}),
    ("GRU", {"options": {"linear_before_reset": 1, "direction": "reverse"}, "ours": {"reverse": True}, "length": [2, 5, 3]}),
    ("GRU", {"options": {"linear_before_reset": 1, "clip": 0.3}, "ours": {"clip": 0.3}}),
    ("RNN", {}), ("RNN", {"options": {"activations": ["Relu"]}, "ours": {"activation": "relu"}, "length": [5, 1, 4]}),
    ("RNN", {"options": {"clip": 0.3}, "ours": {"clip": 0.3}}),
]


@pytest.mark.parametrize("kind, case", ONNX_CASES, ids=[f"{k} {c}" for k, c in ONNX_CASES])
def test_layer_equals_onnxruntime(kind, case):
    expected, got = both(kind, **case)
    for a, b in zip(got, expected):
        np.testing.assert_allclose(a, b, rtol=2e-4, atol=1e-5)


@pytest.mark.parametrize("kind", ["lstm", "gru", "rnn"])
@pytest.mark.parametrize("time, batch", [(0, 3), (1, 1), (4, 0)])
def test_small(kind, time, batch):
    network = torch_network(kind)
    x = RNG.standard_normal((time, batch, FEATURES))
    y, last = getattr(ops, kind)(x, weights_of(network))
    h = last[0] if kind == "lstm" else last
    assert y.shape == (time, batch, HIDDEN) and h.shape == (1, batch, HIDDEN)
    if time and batch:
        np.testing.assert_allclose(y.numpy(), network(torch.tensor(x))[0].detach().numpy(), rtol=1e-10)
    elif not time:
        assert not h.numpy().any()


def test_half_precision_keeps_its_state_in_single():
    network = torch_network("gru")
    weights = [tuple(w.astype(np.float16) for w in weights_of(network)[0])]
    x = RNG.standard_normal((50, 1, FEATURES)).astype(np.float16)
    exact, _ = ops.gru(x.astype(np.float64), [tuple(w.astype(np.float64) for w in weights[0])])
    got, _ = ops.gru(x, weights)
    assert got.dtype == np.float16
    np.testing.assert_allclose(got.numpy(), exact.numpy(), atol=6e-4)


def plain(**replaced):
    shapes = {"x": (5, 3, 4), "weight_ih": (8, 4), "weight_hh": (8, 2), "bias_ih": (8,), "bias_hh": (8,)} | replaced
    return {name: np.ones(shape, np.float32) for name, shape in shapes.items()}


@pytest.mark.parametrize("call, error, words", [
    (lambda: ops.lstm_layer(**plain(x=(5, 4))), ShapeError, ["(time, batch, features)", "(5, 4)"]),
    (lambda: ops.lstm_layer(**plain(x=(5, 3, 6))), ShapeError, ["6 features", "takes 4"]),
    (lambda: ops.lstm_layer(**plain(weight_ih=(6, 4))), ShapeError, ["weight_ih", "(8, 4)", "(6, 4)"]),
    (lambda: ops.lstm_layer(**plain(bias_hh=(2, 4))), ShapeError, ["bias_hh", "(8,)", "(2, 4)"]),
    (lambda: ops.lstm_layer(**plain(initial_c=(2, 2))), ShapeError, ["initial_c", "(3, 2)", "(2, 2)"]),
    (lambda: ops.lstm_layer(**plain(peephole=(8,))), ShapeError, ["peephole", "(6,)", "(8,)"]),
    (lambda: ops.lstm_layer(**plain(), clip=0), OnemlirError, ["clip", "0"]),
    (lambda: ops.lstm_layer(**plain(), activation="sine"), OnemlirError, ["activation", "'tanh'", "'sine'"]),
    (lambda: ops.lstm(np.ones((5, 3, 4)), [(np.ones((8, 4)), np.ones((8, 2)))], num_layers=2), OnemlirError, ["2 layers", "found 1"]),
    (lambda: ops.lstm(np.ones((5, 3, 4)), [(np.ones((8, 4)), np.ones((8, 2)))], (np.ones((3, 2)), None)), ShapeError,
     ["initial states", "(3, 2)"]),
    (lambda: ops.gru(np.ones(4), []), ShapeError, ["(time, batch, features)", "(4,)"]),
])
def test_refused(call, error, words):
    with pytest.raises(error) as caught:
        call()
    assert all(word in str(caught.value) for word in words), caught.value
