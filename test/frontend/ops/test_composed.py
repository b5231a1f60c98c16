"""Composed functions: activations against torch, tensor methods, and recordings against eager."""
import numpy as np
import pytest
import torch
import torch.nn.functional as F

from onemlir.dialect.interpreter import Interpreter
from onemlir.errors import ShapeError
from onemlir.frontend import ops
from onemlir.frontend.tensor import Tensor, tensor
from onemlir.frontend.tracer import record

SPECIAL = [0.0, -0.0, 0.5, -0.5, 200.0, -200.0, np.inf, -np.inf, np.nan, 1.0]
X = np.concatenate([np.random.default_rng(0).standard_normal(18) * 3, SPECIAL]).reshape(7, 4)
ACTIVATIONS = {
    "glu": (ops.glu, F.glu),
    "glu 1": (lambda x: ops.glu(x[:6], axis=0), lambda x: F.glu(x[:6], 0)),
    "hardtanh": (ops.hardtanh, F.hardtanh),
    "hardtanh 2": (lambda x: ops.hardtanh(x, -2, 0.5), lambda x: F.hardtanh(x, -2, 0.5)),
    "logsigmoid": (ops.logsigmoid, F.logsigmoid),
    "hardshrink": (ops.hardshrink, F.hardshrink),
    "softshrink": (ops.softshrink, F.softshrink),
    "tanhshrink": (ops.tanhshrink, F.tanhshrink),
    "softmin": (ops.softmin, lambda x: F.softmin(x, -1)),
    "threshold": (lambda x: ops.threshold(x, 0.5, 9.0), lambda x: F.threshold(x, 0.5, 9.0)),
}


@pytest.mark.parametrize("name", ACTIVATIONS)
def test_activation_equals_torch(name):
    ours, theirs = ACTIVATIONS[name]
    np.testing.assert_allclose(ours(tensor(X)).numpy(), theirs(torch.tensor(X)).numpy(), rtol=1e-12)


RECORDED = {
    "glu": ops.glu,
    "logsigmoid": ops.logsigmoid,
    "hardshrink": ops.hardshrink,
    "argmax": ops.argmax,
    "argmin keepdims": lambda x: ops.argmin(x, keepdims=True),
    "cumsum": ops.cumsum,
    "any": ops.any,
    "all 1": lambda x: x.all(axis=1),
    "count_nonzero": ops.count_nonzero,
    "normalize": ops.normalize,
    "clip": lambda x: x.clip(-1, x.mean()),
    "hypot": lambda x: ops.hypot(x, 2.0),
    "logaddexp": lambda x: ops.logaddexp(x, x[0]),
    "isclose": lambda x: ops.isclose(x, 1.0),
    "nan_to_num": ops.nan_to_num,
    "cbrt": ops.cbrt,
    "floor": ops.floor,
    "round": lambda x: ops.round(x, 1),
    "signbit": ops.signbit,
    "outer": lambda x: ops.outer(x[0], x),
    "sum dtype": lambda x: ops.sum(x, 0, dtype="float64"),
    "logical": lambda x: ops.logical_xor(x, x > 1),
    "int mean": lambda x: (x > 0).astype("int32").mean(),
    "vecdot": lambda x: ops.vecdot(x, x, axis=0),
    "tensordot": lambda x: ops.tensordot(x, x, ((0,), (0,))),
    "methods": lambda x: x.reshape(-1).unsqueeze(0).T.sum(),
    "mean of size": lambda x: x.sum(axis=0) / x.shape[0],
}


@pytest.mark.filterwarnings("ignore:.*NaN")
@pytest.mark.parametrize("name", RECORDED)
def test_recording_equals_eager(name):
    function, x = RECORDED[name], np.where(np.isfinite(X), X, 2.0).astype(np.float32)
    program = record(function, [x[:3]], {}, ("rows", None), "error", {}).program
    got, = Interpreter(program.weights).run(program.main, [x])
    eager = function(tensor(x))
    assert got.dtype == eager.dtype
    np.testing.assert_allclose(got, eager.numpy(), rtol=1e-6)


def test_methods_equal_functions():
    x = tensor(np.arange(24.0).reshape(2, 3, 4))
    assert x.sum(axis=(0, 2)).tolist() == [60.0, 92.0, 124.0]
    assert x.reshape(4, 6).shape == x.view((4, 6)).shape == x.reshape(4, -1).shape == (4, 6)
    assert x.transpose(2, 0, 1).shape == x.permute((2, 0, 1)).shape == (4, 2, 3) and x.transpose().shape == (4, 3, 2)
    assert x.flatten().shape == (24,) and x.unsqueeze(1).squeeze(1).shape == (2, 3, 4)
    assert x.argmax().item() == 23 and x.max(axis=0, keepdims=True).shape == (1, 3, 4) and bool((x == 3).any())
    assert x.half().dtype == np.float16 and x.long().dtype == np.int64 and x.bool().dtype == bool
    assert Tensor.sum.__doc__ == ops.sum.__doc__
    assert 3.0 in x and 99.0 not in x


def test_odd_halves_are_refused():
    with pytest.raises(ShapeError, match="axis 0.*even.*7"):
        ops.glu(tensor(X), axis=0)
