"""What is written runs in onnxruntime itself: forms are taken for which it has kernels."""
import numpy as np
import onnxruntime
import pytest

from onemlir.dialect.onnx import to_onnx
from onemlir.frontend import ops
from onemlir.frontend.tensor import Tensor
from onemlir.frontend.tracer import record
from onemlir.lowering.om.decompose import decompose


def same_in_onnxruntime(function, example, *inputs, axes=None):
    session = onnxruntime.InferenceSession(to_onnx(record(function, list(example), {}, axes, "error", {}).program, decompose=decompose).SerializeToString())
    for arrays in (example, *inputs):
        found = session.run(None, dict(zip([i.name for i in session.get_inputs()], arrays)))
        expected = function(*map(Tensor, arrays))
        for a, b in zip(found, expected if isinstance(expected, (list, tuple)) else [expected]):
            np.testing.assert_array_equal(a, b.numpy())


@pytest.mark.parametrize("axis", [0, 1, None])
@pytest.mark.parametrize("keepdims", [False, True])
def test_any_and_all_of_an_empty_axis(axis, keepdims):
    x = np.array([[True, False, True], [True, True, True]])
    function = lambda x: [ops.any(x, axis=axis, keepdims=keepdims), ops.all(x, axis=axis, keepdims=keepdims)]
    same_in_onnxruntime(function, (x,), (x[:0],), (x[1:],), axes=("n", None))


@pytest.mark.parametrize("dtype", ["bool", "int8", "int16", "uint8", "uint16", "int32", "uint32", "int64", "float16", "float64"])
def test_where(dtype):
    c = np.array([True, False, True])
    x, y = (np.array(v).astype(dtype) for v in ([0, 1, 100], [1, 0, 7]))
    same_in_onnxruntime(ops.where, (c, x, y), axes={"condition": ("n",), "x": ("n",), "y": ("n",)})


@pytest.mark.parametrize("dtype", ["int8", "int32", "int64", "float16"])
def test_relu(dtype):
    same_in_onnxruntime(ops.relu, (np.array([-3, 0, 5]).astype(dtype),))


def test_keyed_random_numbers():
    """The numbers of a key are the same: they are made of integer arithmetic."""
    function = lambda key: [ops.random_uniform(key, (3, 4)), ops.random_randint(key, (5,), 0, 10)]
    same_in_onnxruntime(function, (np.asarray(7, np.uint64),), (np.asarray(123456789, np.uint64),))
