"""Activations: references against torch, decompositions against references."""
import ml_dtypes
import numpy as np
import onnxruntime
import pytest
import torch
import torch.nn.functional as F
from onnx import helper, TensorProto

from onemlir.errors import OnemlirError, ShapeError
from onemlir.frontend import ops
from onemlir.frontend.tensor import tensor

SPECIAL = [0.0, -0.0, 1e-7, -1e-7, 0.5, -0.5, 3.0, -3.0, 6.5, -6.5, 19.0, 25.0, -25.0, 90.0, -90.0, 300.0, -300.0, np.inf, -np.inf, np.nan]
X = np.concatenate([np.array(SPECIAL), np.random.default_rng(0).standard_normal(60) * 4]).reshape(4, 5, 4)

CASES = {
    "relu": (ops.relu, F.relu),
    "relu6": (ops.relu6, F.relu6),
    "leaky_relu": (ops.leaky_relu, F.leaky_relu),
    "leaky_relu 0.3": (lambda x: ops.leaky_relu(x, negative_slope=0.3), lambda x: F.leaky_relu(x, 0.3)),
    "elu": (ops.elu, F.elu),
    "elu 0.7": (lambda x: ops.elu(x, alpha=0.7), lambda x: F.elu(x, 0.7)),
    "selu": (ops.selu, F.selu),
    "celu": (ops.celu, F.celu),
    "celu 2": (lambda x: ops.celu(x, alpha=2.0), lambda x: F.celu(x, 2.0)),
    "gelu": (ops.gelu, F.gelu),
    "gelu tanh": (lambda x: ops.gelu(x, approximate="tanh"), lambda x: F.gelu(x, approximate="tanh")),
    "silu": (ops.silu, F.silu),
    "sigmoid": (ops.sigmoid, torch.sigmoid),
    "hard_sigmoid": (ops.hard_sigmoid, F.hardsigmoid),
    "hard_swish": (ops.hard_swish, F.hardswish),
    "mish": (ops.mish, F.mish),
    "softplus": (ops.softplus, F.softplus),
    "softplus 2 3": (lambda x: ops.softplus(x, beta=2.0, threshold=3.0), lambda x: F.softplus(x, 2.0, 3.0)),
    "softsign": (ops.softsign, F.softsign),
    "tanh": (ops.tanh, torch.tanh),
    "softmax": (ops.softmax, lambda x: F.softmax(x, -1)),
    "softmax 0": (lambda x: ops.softmax(x, axis=0), lambda x: F.softmax(x, 0)),
    "log_softmax": (lambda x: ops.log_softmax(x, axis=1), lambda x: F.log_softmax(x, 1)),
    "prelu one": (lambda x: ops.prelu(x, np.array([0.3])), lambda x: F.prelu(x, torch.tensor([0.3], dtype=x.dtype))),
}
COMPOSITE = [name for name in CASES if name not in ("relu", "sigmoid", "tanh")]
DTYPES = {"float64": (torch.float64, 1e-12), "float32": (torch.float32, 2e-6), "float16": (torch.float16, 2e-3),
          "bfloat16": (torch.bfloat16, 1.6e-2)}


def as_torch(x: np.ndarray, name: str) -> torch.Tensor:
    return torch.from_numpy(np.asarray(x, np.float64)).to(DTYPES[name][0])


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", [n for n in CASES if n != "prelu one"])
def test_equals_torch(name, dtype):
    ours, theirs = CASES[name]
    x = X.astype(ml_dtypes.bfloat16 if dtype == "bfloat16" else dtype)
    got = ours(tensor(x))
    expected = theirs(as_torch(x, dtype)).to(torch.float64).numpy()
    tolerance = DTYPES[dtype][1]
    assert str(got.dtype) == dtype
    compared = np.isfinite(X) if name == "gelu" else np.full(X.shape, True)    # torch's vector code has gelu(-inf) 0 in f32, NaN in f64
    np.testing.assert_allclose(got.numpy().astype(np.float64)[compared], expected[compared], rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("dtype", ["float32", "float16", "bfloat16"])
@pytest.mark.parametrize("name", COMPOSITE)
def test_decomposition(name, dtype, assert_decomposes):
    x = X.astype(ml_dtypes.bfloat16 if dtype == "bfloat16" else dtype)
    tolerance = {"float32": 2e-6, "float16": 1e-3, "bfloat16": 8e-3}[dtype]
    assert_decomposes(CASES[name][0], [x], [x[:1]], ("batch", None, None), rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("shape", [(0, 3), (3, 0), (1, 1), (7,)])
@pytest.mark.parametrize("name", ["softmax", "log_softmax 0", "silu", "selu"])
def test_empty_and_single(name, shape, assert_decomposes):
    function = {"softmax": ops.softmax, "log_softmax 0": lambda x: ops.log_softmax(x, axis=0), "silu": ops.silu, "selu": ops.selu}[name]
    theirs = {"softmax": lambda x: F.softmax(x, -1), "log_softmax 0": lambda x: F.log_softmax(x, 0), "silu": F.silu, "selu": F.selu}[name]
    x = np.ones(shape, np.float32)
    np.testing.assert_allclose(function(tensor(x)).numpy(), theirs(torch.from_numpy(x)).numpy(), rtol=1e-6)
    assert_decomposes(function, [x], [np.ones((2,) * len(shape), np.float32)], tuple("abc"[:len(shape)]))
    assert_decomposes(function, [x])


@pytest.mark.parametrize("shape", [(1,), (3,)])
def test_prelu_channels(shape):
    x, weight = np.random.default_rng(0).standard_normal((3, 3, 3)).astype(np.float32), np.array([0.1, 0.2, 0.3], np.float32)[:shape[0]]
    np.testing.assert_allclose(ops.prelu(tensor(x), tensor(weight)).numpy(), F.prelu(torch.tensor(x), torch.tensor(weight)).numpy(),
                               rtol=1e-6)


def test_prelu_broadcast_as_onnx(assert_decomposes):
    rng = np.random.default_rng(0)
    x, slope = rng.standard_normal((2, 3, 4)).astype(np.float32), rng.standard_normal((3, 1)).astype(np.float32)
    expected = one_node("PRelu", x, slope)
    np.testing.assert_allclose(ops.prelu(tensor(x), tensor(slope)).numpy(), expected, rtol=1e-6)
    assert_decomposes(ops.prelu, [x, slope], [x[:1], slope], {"x": ("batch", None, None)})


@pytest.mark.parametrize("node, attributes, function", [
    ("HardSigmoid", {}, lambda x: ops.hard_sigmoid(x, alpha=0.2)),
    ("HardSigmoid", {"alpha": 0.3, "beta": 0.4}, lambda x: ops.hard_sigmoid(x, alpha=0.3, beta=0.4)),
    ("Selu", {"alpha": 1.5, "gamma": 0.5}, lambda x: ops.selu(x, alpha=1.5, scale=0.5)),
    ("ThresholdedRelu", {"alpha": 0.7}, lambda x: ops.thresholded_relu(x, 0.7)),
    ("HardSwish", {}, ops.hard_swish),
    ("Celu", {"alpha": 1.5}, lambda x: ops.celu(x, alpha=1.5)),
])
def test_equals_onnxruntime(node, attributes, function):
    x = X[1:].astype(np.float32)
    np.testing.assert_allclose(function(tensor(x)).numpy(), one_node(node, x, **attributes), rtol=1e-5, atol=1e-6)


def one_node(kind: str, *inputs: np.ndarray, **attributes) -> np.ndarray:
    names = [f"i{n}" for n in range(len(inputs))]
    graph = helper.make_graph([helper.make_node(kind, names, ["y"], **attributes)], "g",
                              [helper.make_tensor_value_info(n, TensorProto.FLOAT, x.shape) for n, x in zip(names, inputs)],
                              [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=9)
    return onnxruntime.InferenceSession(model.SerializeToString()).run(None, dict(zip(names, inputs)))[0]


def test_integers_are_converted():
    assert ops.silu(tensor(np.array([1, 2], np.int32))).dtype == np.float64
    assert ops.relu6(tensor(np.array([-1, 3, 9], np.int8))).tolist() == [0, 3, 6]


@pytest.mark.parametrize("call, error, words", [
    (lambda x: ops.softmax(x, axis=2), ShapeError, ["axis 2", "rank 2"]),
    (lambda x: ops.gelu(x, approximate="erf"), OnemlirError, ["approximate", "'none'", "'erf'"]),
    (lambda x: ops.celu(x, alpha=0), OnemlirError, ["alpha"]),
    (lambda x: ops.prelu(x, tensor(np.ones((3, 2, 3)))), ShapeError, ["(3, 2, 3)", "(2, 3)"]),
    (lambda x: ops.prelu(x, tensor(np.ones(2))), ShapeError, ["(2,)", "(2, 3)"]),
])
def test_refused(call, error, words):
    with pytest.raises(error) as caught:
        call(tensor(np.ones((2, 3), np.float32)))
    assert all(word in str(caught.value) for word in words), caught.value
