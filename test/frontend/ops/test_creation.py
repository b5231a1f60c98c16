"""Tensors from sizes and values, against numpy; sizes of a recording."""
import numpy as np
import pytest

import onemlir as om
from onemlir import ops
from onemlir.dialect.interpreter import Interpreter
from onemlir.errors import OnemlirError

X = np.zeros((3, 2), np.float32)


@pytest.mark.parametrize("arguments", [(5,), (0,), (-3,), (2, 7), (7, 2), (2, 9, 3), (9, 2, -3), (0, 10, 4), (0.5, 3), (0, 1, 0.1),
    (1, 0, -0.25), (5.0,)], ids=str)
def test_arange_is_numpys(arguments):
    found, expected = ops.arange(*arguments), np.arange(*arguments)
    assert found.dtype == (np.int64 if expected.dtype.kind == "i" else np.float32)
    np.testing.assert_allclose(found.numpy(), expected, rtol=1e-6)


@pytest.mark.parametrize("dtype", [np.int8, np.uint32, np.float16, np.float64, "bfloat16"])
def test_dtypes(dtype):
    for tensor in (ops.arange(3, dtype=dtype), ops.eye(2, dtype=dtype), ops.zeros((2,), dtype), ops.linspace(0, 1, 3, dtype=dtype)):
        assert str(tensor.dtype) == str(np.dtype(dtype) if dtype != "bfloat16" else "bfloat16")


def test_linspace_is_numpys():
    for arguments, options in [((0, 1, 5), {}), ((2, -2, 1), {}), ((0, 1, 4), {"endpoint": False}), ((0, 1, 0), {})]:
        np.testing.assert_allclose(ops.linspace(*arguments, **options).numpy(), np.linspace(*arguments, **options), rtol=1e-6)


@pytest.mark.parametrize("arguments", [(3,), (2, 4), (4, 2, 1), (3, 3, -1), (0,), (2, 3, 9)])
def test_eye_and_tri_are_numpys(arguments):
    np.testing.assert_array_equal(ops.eye(*arguments).numpy(), np.eye(*arguments, dtype=np.float32))
    np.testing.assert_array_equal(ops.tri(*arguments).numpy(), np.tri(*arguments, dtype=np.float32))


def test_filled_tensors():
    assert ops.zeros((2, 0)).shape == (2, 0) and ops.ones(3).shape == (3,)
    np.testing.assert_array_equal(ops.full((2,), 7).numpy(), np.full(2, 7))
    np.testing.assert_array_equal(ops.full((2,), om.tensor(2.5)).numpy(), np.full(2, 2.5, np.float32))
    like = om.tensor(np.ones((2, 3), np.int16))
    for found, value in ((ops.zeros_like(like), 0), (ops.ones_like(like), 1), (ops.full_like(like, 5), 5)):
        assert found.dtype == np.int16 and found.shape == (2, 3)
        assert (found.numpy() == value).all()
    assert ops.ones_like(like, dtype=np.float64).dtype == np.float64


def test_errors():
    with pytest.raises(OnemlirError, match="step"):
        ops.arange(0, 3, 0)
    with pytest.raises(OnemlirError, match="negative"):
        ops.zeros((-1,))


CASES = {
    "arange": (lambda n: ops.arange(n), lambda n: np.arange(n)), "from": (lambda n: ops.arange(2, n), lambda n: np.arange(2, n)),
    "down": (lambda n: ops.arange(n, 0, -2), lambda n: np.arange(n, 0, -2)),
    "steps": (lambda n: ops.arange(1, n * 2, 3), lambda n: np.arange(1, n * 2, 3)),
    "dtype": (lambda n: ops.arange(n, dtype=np.float32) * 0.5, lambda n: np.arange(n, dtype=np.float32) * np.float32(0.5)),
    "between": (lambda n: ops.arange(n, n + 3), lambda n: np.arange(n, n + 3)),
    "eye": (lambda n: ops.eye(n), lambda n: np.eye(n, dtype=np.float32)),
    "tri": (lambda n: ops.tri(n, n + 1, 1), lambda n: np.tri(n, n + 1, 1, dtype=np.float32)),
    "zeros": (lambda n: ops.zeros((n, 2)), lambda n: np.zeros((n, 2), np.float32)),
    "full": (lambda n: ops.full((2, n), 3), lambda n: np.full((2, n), 3)),
}


@pytest.mark.parametrize("name", CASES)
def test_sizes_of_a_recording(name):
    function, peer = CASES[name]
    traced = om.trace(lambda x: function(x.shape[0]), om.tensor(X), axes=("n", None))
    program = traced.program if hasattr(traced, "program") else traced
    for n in (0, 1, 3, 8):
        found, = Interpreter(program.weights).run(program.main, [np.zeros((n, 2), np.float32)])
        expected = peer(n)
        assert found.dtype == expected.dtype and found.shape == expected.shape
        np.testing.assert_array_equal(found, expected)
