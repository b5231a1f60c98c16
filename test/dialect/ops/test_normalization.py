"""Normalizations: references against torch, decompositions against references."""
import numpy as np
import pytest
import torch
import torch.nn.functional as F

from onemlir.errors import OnemlirError, ShapeError, TraceError
from onemlir.frontend import ops
from onemlir.frontend.tensor import tensor
from onemlir.frontend.tracer import record

RNG = np.random.default_rng(0)
X = RNG.standard_normal((3, 6, 5, 4)) * 2 + 3
W, B, M, V = RNG.standard_normal(6), RNG.standard_normal(6), RNG.standard_normal(6), RNG.uniform(0.5, 2, 6)
LAST_W, LAST_B = RNG.standard_normal((5, 4)), RNG.standard_normal((5, 4))

CASES = {
    "batch": (lambda x, m, v, w, b: ops.batch_norm(x, m, v, w, b), F.batch_norm, (M, V, W, B)),
    "batch bare": (lambda x, m, v: ops.batch_norm(x, m, v, eps=0.1), lambda x, m, v: F.batch_norm(x, m, v, eps=0.1), (M, V)),
    "batch weight": (lambda x, m, v, w: ops.batch_norm(x, m, v, w), F.batch_norm, (M, V, W)),
    "group": (lambda x, w, b: ops.group_norm(x, 3, w, b), lambda x, w, b: F.group_norm(x, 3, w, b), (W, B)),
    "group one": (lambda x: ops.group_norm(x, 1), lambda x: F.group_norm(x, 1), ()),
    "instance": (lambda x, w, b: ops.instance_norm(x, weight=w, bias=b), lambda x, w, b: F.instance_norm(x, weight=w, bias=b), (W, B)),
    "layer": (lambda x, w, b: ops.layer_norm(x, (5, 4), w, b), lambda x, w, b: F.layer_norm(x, (5, 4), w, b), (LAST_W, LAST_B)),
    "layer last": (lambda x: ops.layer_norm(x, 4, eps=0.1), lambda x: F.layer_norm(x, (4,), eps=0.1), ()),
    "rms": (lambda x, w: ops.rms_norm(x, (5, 4), w), lambda x, w: F.rms_norm(x, (5, 4), w), (LAST_W,)),
    "rms eps": (lambda x: ops.rms_norm(x, (4,), eps=0.1), lambda x: F.rms_norm(x, (4,), eps=0.1), ()),
    "local response 3": (lambda x: ops.local_response_norm(x, size=3), lambda x: F.local_response_norm(x, 3), ()),
    "local response 4": (lambda x: ops.local_response_norm(x, size=4, alpha=0.5, beta=0.6, k=2.0),
                         lambda x: F.local_response_norm(x, 4, 0.5, 0.6, 2.0), ()),
    "local response 9": (lambda x: ops.local_response_norm(x, size=9), lambda x: F.local_response_norm(x, 9), ()),
}
DTYPES = {"float64": (torch.float64, 1e-11), "float32": (torch.float32, 1e-5), "float16": (torch.float16, 6e-3)}


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", CASES)
def test_equals_torch(name, dtype):
    ours, theirs, operands = CASES[name]
    if name.startswith("local") and dtype == "float16":
        pytest.skip("torch has no kernel for it")
    arrays = [a.astype(dtype) for a in (X, *operands)]
    got = ours(*map(tensor, arrays))
    expected = theirs(*(torch.tensor(a) for a in arrays)).numpy()
    assert got.dtype == dtype
    np.testing.assert_allclose(got.numpy(), expected, rtol=DTYPES[dtype][1], atol=DTYPES[dtype][1])


@pytest.mark.parametrize("axes", [None, ("n", None, None, None), ("n", None, "h", None)])
@pytest.mark.parametrize("dtype", ["float32", "float16"])
@pytest.mark.parametrize("name", CASES)
def test_decomposition(name, dtype, axes, assert_decomposes):
    ours, _, operands = CASES[name]
    if axes and axes[2] and operands and operands[0].ndim == 2:
        pytest.skip("the weight fixes this axis")
    function = lambda x: ours(x, *(tensor(a.astype(dtype)) for a in operands))
    x = X.astype(dtype)
    example = x[:1] if axes is None or axes[2] is None else x[:2, :, :1]
    tolerance = 1e-5 if dtype == "float32" else 3e-3
    assert_decomposes(function, [x], [x if axes is None else example], axes, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("name", ["batch", "group", "instance", "local response 3"])
@pytest.mark.parametrize("shape", [(0, 6, 2, 2), (1, 6, 1, 1)])
def test_small(name, shape, assert_decomposes):
    ours, theirs, operands = CASES[name]
    x = np.ones(shape, np.float32)
    arrays = [a.astype(np.float32) for a in operands]
    if name != "instance":    # torch refuses one element a channel
        expected = theirs(torch.tensor(x), *map(torch.tensor, arrays)).numpy()
        np.testing.assert_allclose(ours(tensor(x), *map(tensor, arrays)).numpy(), expected, rtol=1e-4, atol=1e-5)
    assert_decomposes(lambda x: ours(x, *map(tensor, arrays)), [x], [np.ones((2, 6, 2, 2), np.float32)], ("n", None, "h", "w"))


def test_mixed_dtypes_keep_that_of_x():
    got = ops.batch_norm(tensor(X.astype(np.float16)), *(tensor(a.astype(np.float32)) for a in (M, V, W, B)))
    assert got.dtype == np.float16


@pytest.mark.parametrize("kind", ["batch", "instance"])
def test_running_statistics(kind):
    ours, theirs = {"batch": (ops.batch_norm, F.batch_norm), "instance": (ops.instance_norm, F.instance_norm)}[kind]
    option = {"training": True} if kind == "batch" else {"use_input_stats": True}
    mean, var, peer_mean, peer_var = tensor(M), tensor(V), torch.tensor(M), torch.tensor(V)
    for _ in range(2):
        got = ours(tensor(X), mean, var, tensor(W), tensor(B), momentum=0.3, **option)
        expected = theirs(torch.tensor(X), peer_mean, peer_var, torch.tensor(W), torch.tensor(B), momentum=0.3, **option)
        np.testing.assert_allclose(got.numpy(), expected.numpy(), rtol=1e-10)
    np.testing.assert_allclose(mean.numpy(), peer_mean.numpy(), rtol=1e-10)
    np.testing.assert_allclose(var.numpy(), peer_var.numpy(), rtol=1e-10)


def test_training_form_without_running_statistics_records(assert_decomposes):
    assert_decomposes(lambda x: ops.batch_norm(x, training=True), [X], [X[:1]], ("n", None, None, None), rtol=1e-9)


def test_running_statistics_do_not_record():
    mean, var = tensor(M), tensor(V)
    with pytest.raises(TraceError, match="batch_norm.*test_normalization"):
        record(lambda x: ops.batch_norm(x, mean, var, training=True), [X], {}, None, "error", {})


@pytest.mark.parametrize("call, error, words", [
    (lambda x: ops.layer_norm(x, (5, 3)), ShapeError, ["layer_norm", "(5, 3)", "(3, 6, 5, 4)"]),
    (lambda x: ops.layer_norm(x, 4, tensor(np.ones(5))), ShapeError, ["layer_norm", "weight", "(4,)", "(5,)"]),
    (lambda x: ops.rms_norm(x, ()), ShapeError, ["rms_norm"]),
    (lambda x: ops.group_norm(x, num_groups=4), ShapeError, ["6 channels", "4 groups"]),
    (lambda x: ops.group_norm(x, num_groups=0), OnemlirError, ["positive", "0"]),
    (lambda x: ops.group_norm(x, 2, tensor(np.ones(5))), ShapeError, ["weight", "(6,)", "(5,)"]),
    (lambda x: ops.batch_norm(x, tensor(M)), OnemlirError, ["running_var"]),
    (lambda x: ops.batch_norm(x, tensor(M), tensor(np.ones(7))), ShapeError, ["var", "(6,)", "(7,)"]),
    (lambda x: ops.batch_norm(x[0, 0, 0], tensor(M), tensor(V)), ShapeError, ["(batch, channels, ...)", "(4,)"]),
    (lambda x: ops.instance_norm(x[0, 0]), ShapeError, ["further axis", "(5, 4)"]),
    (lambda x: ops.local_response_norm(x, size=0), OnemlirError, ["size", "0"]),
])
def test_refused(call, error, words):
    with pytest.raises(error) as caught:
        call(tensor(X))
    assert all(word in str(caught.value) for word in words), caught.value
