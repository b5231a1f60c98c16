"""Every layer against torch's with the same state, and its recording with symbolic sizes against eager.

A case: the class, its arguments, its options, the inputs (a shape, or (shape, "int", count)), and for the recording a pattern for each
input: one letter for each axis, the name of a symbolic axis or "." for a fixed one. Without patterns the first axis of each input is "n".
"""
import warnings

import numpy as np
import pytest

from onemlir.frontend import nn
from onemlir.frontend.tensor import Tensor

torch = pytest.importorskip("torch")

SIMPLE = [(name, (), {}, [(4, 6)]) for name in (
    "ReLU", "ReLU6", "LeakyReLU", "ELU", "SELU", "CELU", "GELU", "SiLU", "Mish", "Sigmoid", "LogSigmoid", "Tanh", "Softsign", "Tanhshrink", "Hardsigmoid",
    "Hardswish", "Hardtanh", "Hardshrink", "Softshrink", "Softplus", "Identity", "Flatten")]
ACTIVATION = [
    ("LeakyReLU", (0.3,), {}, [(4, 6)]), ("ELU", (0.5,), {}, [(4, 6)]), ("CELU", (2.0,), {}, [(4, 6)]), ("GELU", ("tanh",), {}, [(4, 6)]),
    ("Hardtanh", (-0.3, 0.7), {}, [(4, 6)]), ("Hardshrink", (0.9,), {}, [(4, 6)]), ("Softshrink", (0.9,), {}, [(4, 6)]),
    ("Softplus", (2.0, 1.0), {}, [(4, 6)]), ("Threshold", (0.1, 20.0), {}, [(4, 6)]), ("GLU", (), {}, [(4, 6)]),
    ("GLU", (1,), {}, [(4, 6, 3)]),
    ("PReLU", (), {}, [(4, 6)]), ("PReLU", (3,), {}, [(2, 3, 4)]), ("PReLU", (1,), {}, [(4,)]), ("PReLU", (6,), {}, [(4, 6)]),
    ("Softmax", (), {}, [(4, 6)]), ("Softmax", (1,), {}, [(4, 6, 2)]), ("Softmin", (-1,), {}, [(4, 6)]),
    ("LogSoftmax", (-1,), {}, [(4, 6)]),
    ("LogSoftmax", (), {}, [(2, 3, 4, 5)]), ("Softmax2d", (), {}, [(2, 3, 4, 5)])]
LINEAR = [
    ("Linear", (4, 3), {}, [(5, 4)]), ("Linear", (4, 3), {"bias": False}, [(2, 5, 4)], ["na."]), ("Linear", (4, 3), {}, [(4,)], ["."]),
    ("Bilinear", (3, 4, 2), {}, [(5, 3), (5, 4)]), ("Bilinear", (3, 4, 2), {"bias": False}, [(2, 5, 3), (2, 5, 4)]),
    ("Flatten", (0, 1), {}, [(2, 3, 4)], ["n.."]), ("Flatten", (), {}, [(2, 3, 4, 5)], ["n..a"]),
    ("Unflatten", (1, (2, -1)), {}, [(3, 6, 2)]),
    ("Embedding", (7, 3), {}, [((2, 5), "int", 7)], ["na"]), ("Embedding", (7, 3), {"padding_idx": 2}, [((4,), "int", 7)]),
    ("EmbeddingBag", (7, 3), {}, [((2, 5), "int", 7)]), ("EmbeddingBag", (7, 3), {"mode": "sum"}, [((2, 5), "int", 7)]),
    ("EmbeddingBag", (7, 3), {"mode": "max"}, [((2, 5), "int", 7)]),
    ("CosineSimilarity", (), {}, [(4, 5), (4, 5)]), ("CosineSimilarity", (-1, 1e-3), {}, [(2, 4, 5), (2, 4, 5)]),
    ("PairwiseDistance", (), {}, [(4, 5), (4, 5)]), ("PairwiseDistance", (1.0,), {"keepdim": True}, [(4, 5), (4, 5)]),
    ("PairwiseDistance", (3.0,), {}, [(4, 5), (4, 5)])]
CONVOLUTION = [
    ("Conv1d", (4, 6, 3), {}, [(2, 4, 9)], ["n.a"]),
    ("Conv1d", (4, 6, 3), {"stride": 2, "padding": 1, "dilation": 2, "groups": 2, "bias": False}, [(2, 4, 9)]),
    ("Conv2d", (3, 4, 3), {"padding": 1}, [(2, 3, 6, 7)], ["n.ab"]),
    ("Conv2d", (4, 4, (3, 2)), {"stride": (1, 2), "groups": 4}, [(2, 4, 6, 7)]),
    ("Conv2d", (3, 4, (4, 3)), {"padding": "same", "dilation": (1, 2)}, [(2, 3, 6, 7)]),
    ("Conv2d", (3, 4, 3), {"padding": "valid"}, [(2, 3, 6, 7)]),
    ("Conv2d", (3, 4, 3), {"padding": (1, 2), "padding_mode": "reflect"}, [(2, 3, 6, 7)], ["n..a"]),
    ("Conv2d", (3, 4, 3), {"padding": 2, "padding_mode": "replicate"}, [(2, 3, 6, 7)]),
    ("Conv1d", (3, 4, 3), {"padding": 2, "padding_mode": "circular"}, [(2, 3, 6)]),
    ("Conv2d", (3, 4, 3), {}, [(3, 6, 7)], [".n."]), ("Conv3d", (2, 3, (1, 2, 3)), {"padding": (0, 1, 1)}, [(2, 2, 3, 4, 5)]),
    ("ConvTranspose1d", (4, 6, 3), {"stride": 2, "padding": 1, "output_padding": 1}, [(2, 4, 5)], ["n.a"]),
    ("ConvTranspose2d", (4, 6, (3, 2)), {"stride": (2, 3), "groups": 2, "dilation": (2, 1)}, [(2, 4, 5, 3)]),
    ("ConvTranspose2d", (4, 2, 3), {"bias": False}, [(4, 5, 3)], [".n."]),
    ("ConvTranspose3d", (2, 3, 2), {"stride": 2}, [(2, 2, 2, 3, 2)])]
POOLING = [
    ("MaxPool1d", (3,), {}, [(2, 3, 9)], ["n.a"]), ("MaxPool1d", (3, 2, 1, 2), {"ceil_mode": True}, [(2, 3, 10)]),
    ("MaxPool2d", ((3, 2), 2), {"padding": 1}, [(2, 3, 7, 8)], ["n.a."]),
    ("MaxPool2d", (2,), {"return_indices": True}, [(2, 3, 5, 6)]), ("MaxPool2d", (2,), {}, [(3, 5, 6)], [".n."]),
    ("MaxPool3d", (2,), {}, [(2, 3, 4, 5, 4)]),
    ("AvgPool1d", (3,), {"padding": 1}, [(2, 3, 9)], ["n.a"]), ("AvgPool2d", (3, 2, 1), {"ceil_mode": True}, [(2, 3, 7, 8)]),
    ("AvgPool2d", (3,), {"padding": 1, "count_include_pad": False}, [(2, 3, 7, 8)]),
    ("AvgPool2d", ((2, 3),), {"divisor_override": 5}, [(2, 3, 7, 8)]),
    ("AvgPool3d", (2,), {}, [(2, 3, 4, 5, 4)]), ("LPPool1d", (2, 3), {}, [(2, 3, 9)]),
    ("LPPool2d", (2.0, 2), {"stride": 1}, [(2, 3, 5, 6)]),
    ("AdaptiveAvgPool1d", (3,), {}, [(2, 3, 7)]), ("AdaptiveAvgPool2d", (1,), {}, [(2, 3, 5, 6)], ["n.ab"]),
    ("AdaptiveAvgPool2d", ((3, None),), {}, [(2, 3, 7, 4)]),
    ("AdaptiveAvgPool3d", ((1, 2, 3),), {}, [(2, 3, 4, 4, 5)]), ("AdaptiveMaxPool1d", (3,), {}, [(2, 3, 7)]),
    ("AdaptiveMaxPool2d", ((2, 3),), {}, [(2, 3, 5, 6)]),
    ("AdaptiveMaxPool3d", (1,), {}, [(2, 3, 2, 3, 4)], ["n...a"])]
NORMALIZATION = [
    ("BatchNorm1d", (4,), {}, [(5, 4)]), ("BatchNorm1d", (4,), {"affine": False}, [(5, 4, 3)], ["n.a"]),
    ("BatchNorm2d", (4,), {"eps": 0.1}, [(2, 4, 3, 5)], ["n.ab"]),
    ("BatchNorm2d", (4,), {"track_running_stats": False}, [(3, 4, 3, 5)]), ("BatchNorm3d", (4,), {}, [(2, 4, 3, 2, 2)]),
    ("LayerNorm", (6,), {}, [(2, 5, 6)], ["na."]), ("LayerNorm", ((5, 6),), {"bias": False, "eps": 1e-2}, [(2, 5, 6)]),
    ("LayerNorm", (6,), {"elementwise_affine": False}, [(2, 6)]),
    ("GroupNorm", (2, 6), {}, [(3, 6, 4)], ["n.a"]), ("GroupNorm", (3, 6), {"affine": False}, [(2, 6, 2, 3)]),
    ("RMSNorm", (6,), {}, [(2, 5, 6)], ["na."]),
    ("RMSNorm", ((5, 6), 1e-2), {}, [(2, 5, 6)]), ("InstanceNorm1d", (4,), {}, [(2, 4, 5)], ["n.a"]),
    ("InstanceNorm2d", (4,), {"affine": True}, [(2, 4, 3, 5)]),
    ("InstanceNorm2d", (4,), {"track_running_stats": True, "affine": True}, [(2, 4, 3, 5)]),
    ("InstanceNorm3d", (2,), {}, [(2, 3, 2, 2)], ["...."]),
    ("LocalResponseNorm", (3,), {}, [(2, 5, 4)], ["n.a"]), ("LocalResponseNorm", (4, 0.5, 0.6, 2.0), {}, [(2, 6, 3, 3)])]
PADDING = [
    ("ZeroPad1d", (2,), {}, [(2, 3, 5)]), ("ZeroPad2d", ((1, 2, 3, 0),), {}, [(2, 3, 5, 4)], ["n..a"]),
    ("ZeroPad3d", (1,), {}, [(2, 2, 3, 2, 3)]),
    ("ConstantPad1d", ((1, -2), 3.5), {}, [(2, 3, 5)]), ("ConstantPad2d", ((1, 2, 0, 1), -1.0), {}, [(2, 3, 5, 4)]),
    ("ConstantPad3d", (1, 2.0), {}, [(2, 2, 3, 2, 3)]),
    ("ReflectionPad1d", ((2, 1),), {}, [(2, 3, 5)], ["n.a"]), ("ReflectionPad2d", ((1, 2, 3, 0),), {}, [(2, 3, 5, 4)]),
    ("ReflectionPad3d", (1,), {}, [(2, 2, 3, 2, 3)]),
    ("ReplicationPad1d", ((2, 1),), {}, [(2, 3, 5)]), ("ReplicationPad2d", ((1, 2, 3, 0),), {}, [(2, 3, 5, 4)]),
    ("ReplicationPad3d", (1,), {}, [(2, 2, 3, 2, 3)]),
    ("CircularPad1d", ((2, 1),), {}, [(2, 3, 5)]), ("CircularPad2d", ((1, 2, 3, 0),), {}, [(2, 3, 5, 4)]),
    ("CircularPad3d", (1,), {}, [(2, 2, 3, 2, 3)])]
RESAMPLING = [
    ("Upsample", (), {"scale_factor": 2}, [(2, 3, 4, 5)], ["n.ab"]), ("Upsample", (), {"size": (7, 3)}, [(2, 3, 4, 5)]),
    ("Upsample", (), {"scale_factor": 1.7, "mode": "bilinear"}, [(2, 3, 4, 5)]),
    ("Upsample", (), {"scale_factor": 2, "mode": "bilinear", "align_corners": True}, [(2, 3, 4, 5)]),
    ("Upsample", (), {"size": 9, "mode": "linear"}, [(2, 3, 4)]),
    ("Upsample", (), {"scale_factor": (2, 1.5), "mode": "bicubic"}, [(2, 3, 4, 5)]),
    ("Upsample", (), {"scale_factor": 2, "mode": "trilinear"}, [(2, 2, 3, 2, 3)]),
    ("UpsamplingNearest2d", (), {"scale_factor": 2}, [(2, 3, 4, 5)]),
    ("UpsamplingBilinear2d", (), {"size": (6, 7)}, [(2, 3, 4, 5)]),
    ("PixelShuffle", (2,), {}, [(2, 8, 3, 4)], ["n.a."]), ("PixelShuffle", (3,), {}, [(9, 2, 2)], [".n."]),
    ("PixelUnshuffle", (2,), {}, [(2, 3, 4, 6)])]
RECURRENT = [
    ("RNN", (3, 4), {}, [(6, 2, 3)], ["na."]),
    ("RNN", (3, 4, 2), {"nonlinearity": "relu", "bidirectional": True, "batch_first": True}, [(2, 6, 3), (4, 2, 4)], ["na.", ".n."]),
    ("LSTM", (3, 4), {}, [(6, 2, 3)], ["na."]), ("LSTM", (3, 4, 2), {"bidirectional": True, "bias": False}, [(6, 2, 3)], [".n."]),
    ("LSTM", (3, 4), {}, [(6, 3)]),
    ("GRU", (3, 4, 2), {}, [(6, 2, 3), (2, 2, 4)], ["...", "..."]),
    ("GRU", (3, 4), {"bidirectional": True, "batch_first": True}, [(2, 6, 3)], ["na."]),
    ("RNNCell", (3, 4), {"nonlinearity": "relu"}, [(2, 3), (2, 4)]), ("LSTMCell", (3, 4), {}, [(2, 3)]),
    ("GRUCell", (3, 4), {"bias": False}, [(2, 3), (2, 4)]),
    ("GRUCell", (3, 4), {}, [(3,), (4,)], [".", "."])]
DROPOUT = [(name, (0.4,), {}, [shape]) for name, shape in (("Dropout", (2, 3)), ("Dropout1d", (2, 3, 4)), ("Dropout2d", (2, 3, 4, 5)),
("Dropout3d", (2, 3, 1, 2, 2)),
                                                         ("AlphaDropout", (2, 3)), ("FeatureAlphaDropout", (2, 3, 4)))]
CASES = [*SIMPLE, *ACTIVATION, *LINEAR, *CONVOLUTION, *POOLING, *NORMALIZATION, *PADDING, *RESAMPLING, *RECURRENT, *DROPOUT]
TRAINING = [c for c in NORMALIZATION if "Batch" in c[0] or "Instance" in c[0]] + [
    ("BatchNorm2d", (4,), {"momentum": None}, [(3, 4, 2, 2)]), ("BatchNorm1d", (4,), {"momentum": 0.7}, [(3, 4)])]


def name_of(case):
    return "-".join(map(str, (case[0], *case[1], *(f"{k}={v}" for k, v in case[2].items())))).replace(" ", "")


def pair(case, randomize):
    """Our module and torch's with the same state, in evaluation mode."""
    torch.manual_seed(0)
    name, args, options = case[:3]
    peer = randomize(getattr(torch.nn, name)(*args, **options)).eval()
    ours = getattr(nn, name)(*args, **options)
    assert list(ours.state_dict()) == list(peer.state_dict()), "the names of the state and their order are torch's"
    ours.load_state_dict(peer.state_dict())
    return ours.eval(), peer


def assert_close(ours, peers, tolerance=1e-5):
    assert len(ours) == len(peers)
    for a, b in zip(ours, peers):
        assert a.dtype == b.dtype and a.shape == b.shape
        np.testing.assert_allclose(a, b, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("case", CASES, ids=name_of)
def test_eager_is_torchs(case, make_input, arrays_of, randomize):
    ours, peer = pair(case, randomize)
    arrays = [make_input(shape, seed) for seed, shape in enumerate(case[3])]
    with torch.no_grad(), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        expected = arrays_of(peer(*map(torch.from_numpy, arrays)))
    assert_close(arrays_of(ours(*map(Tensor, arrays))), expected)


def sizes_of(description):
    return description[0] if isinstance(description[0], tuple) else description


def grown(description, pattern, by):
    """A description of an input whose symbolic axes are longer."""
    sizes = tuple(size + by if letter != "." else size for size, letter in zip(sizes_of(description), pattern))
    return (sizes, *description[1:]) if isinstance(description[0], tuple) else sizes


@pytest.mark.parametrize("case", CASES, ids=name_of)
def test_recording_is_eager(case, make_input, arrays_of, randomize, record_and_run):
    ours, _ = pair(case, randomize)
    inputs = case[3]
    patterns = case[4] if len(case) > 4 else ["n" + "." * (len(sizes_of(d)) - 1) for d in inputs]
    axes = [tuple(None if letter == "." else letter for letter in pattern) for pattern in patterns]
    run = record_and_run(ours, [make_input(d) for d in inputs], axes[0] if len(axes) == 1 else axes)
    assert not any(name.startswith("constant_") for name in run.program.weights), "weights keep their names"
    for by in (0, 2):
        arrays = [make_input(grown(d, pattern, by), seed) for seed, (d, pattern) in enumerate(zip(inputs, patterns))]
        assert_close(run(*arrays), arrays_of(ours(*map(Tensor, arrays))), 1e-6)


@pytest.mark.parametrize("case", TRAINING, ids=name_of)
def test_training_is_torchs(case, make_input, randomize):
    ours, peer = pair(case, randomize)
    ours.train(), peer.train()
    for seed in range(3):
        x = make_input(case[3][0], seed)
        assert_close([ours(Tensor(x)).numpy()], [peer(torch.from_numpy(x)).detach().numpy()])
    for name, value in peer.state_dict().items():
        np.testing.assert_allclose(ours.state_dict()[name], value.numpy(), rtol=1e-5, atol=1e-6, err_msg=name)
        assert ours.state_dict()[name].dtype == value.numpy().dtype
    ours.eval(), peer.eval()
    assert_close([ours(Tensor(x)).numpy()], [peer(torch.from_numpy(x)).detach().numpy()])


def test_transposed_convolution_with_output_size():
    peer = torch.nn.ConvTranspose2d(2, 3, 3, stride=3)
    ours = nn.ConvTranspose2d(2, 3, 3, stride=3)
    ours.load_state_dict(peer.state_dict())
    x = np.random.default_rng(0).standard_normal((2, 2, 4, 4)).astype(np.float32)
    expected = peer(torch.from_numpy(x), output_size=(13, 14)).detach().numpy()
    np.testing.assert_allclose(ours(Tensor(x), output_size=(13, 14)).numpy(), expected, rtol=1e-5, atol=1e-5)


def test_lstm_with_states(arrays_of):
    peer, ours = torch.nn.LSTM(3, 4, 2, batch_first=True), nn.LSTM(3, 4, 2, batch_first=True)
    ours.load_state_dict(peer.state_dict())
    rng = np.random.default_rng(0)
    x, h, c = (rng.standard_normal(s).astype(np.float32) for s in ((2, 5, 3), (2, 2, 4), (2, 2, 4)))
    assert_close(arrays_of(ours(Tensor(x), (Tensor(h), Tensor(c)))), arrays_of(peer(torch.from_numpy(x),
    (torch.from_numpy(h), torch.from_numpy(c)))))


def test_sequence_lengths_are_torchs_packed_sequences(arrays_of):
    peer, ours = torch.nn.GRU(3, 4, 2, bidirectional=True), nn.GRU(3, 4, 2, bidirectional=True)
    ours.load_state_dict(peer.state_dict())
    x, lengths = np.random.default_rng(0).standard_normal((6, 3, 3)).astype(np.float32), np.array([6, 4, 1])
    packed, last = peer(torch.nn.utils.rnn.pack_padded_sequence(torch.from_numpy(x), torch.from_numpy(lengths)))
    expected = [torch.nn.utils.rnn.pad_packed_sequence(packed)[0], last]
    assert_close(arrays_of(ours(Tensor(x), sequence_lens=Tensor(lengths))), arrays_of(expected))
