"""Sort, topk, nonzero, unique against numpy, torch and onnxruntime."""
import ml_dtypes
import numpy as np
import onnx
import onnxruntime
import pytest

import onemlir as om
from onemlir import ops
from onemlir.dialect import dtypes
from onemlir.errors import OnemlirError, ShapeError

torch = pytest.importorskip("torch")
rng = np.random.default_rng(0)
TIES = rng.integers(0, 4, (3, 7, 2))


@pytest.mark.parametrize("dtype", dtypes.ALL, ids=str)
@pytest.mark.parametrize("axis", [0, 1, -1])
def test_sort_is_numpys_and_stable(dtype, axis):
    x = TIES.astype(dtype)
    order = np.argsort(TIES if dtype != bool else x, axis=axis, kind="stable")
    np.testing.assert_array_equal(ops.sort(om.tensor(x), axis=axis).numpy(), np.take_along_axis(x, order, axis))
    np.testing.assert_array_equal(ops.argsort(om.tensor(x), axis=axis).numpy(), order)


@pytest.mark.parametrize("descending", [False, True])
def test_nan_and_ties_are_torchs(descending):
    x = np.array([2, np.nan, 1, 2, np.inf, 1, np.nan, -np.inf, -0.0, 0.0], np.float32)
    expected = torch.sort(torch.from_numpy(x), stable=True, descending=descending)
    np.testing.assert_array_equal(ops.argsort(om.tensor(x), descending=descending).numpy(), expected.indices.numpy())
    np.testing.assert_array_equal(ops.sort(om.tensor(x), descending=descending).numpy(), expected.values.numpy())
    narrow = x.astype(ml_dtypes.bfloat16)
    np.testing.assert_array_equal(ops.argsort(om.tensor(narrow), descending=descending).numpy(), expected.indices.numpy())


def test_descending_integers_do_not_overflow():
    x = np.array([-128, 127, 0, -128, 127], np.int8)
    np.testing.assert_array_equal(ops.argsort(om.tensor(x), descending=True).numpy(), [1, 4, 2, 0, 3])
    x = np.array([0, 2**64 - 1, 5], np.uint64)
    np.testing.assert_array_equal(ops.sort(om.tensor(x), descending=True).numpy(), [2**64 - 1, 5, 0])


@pytest.mark.parametrize("shape, axis", [((0, 3), 0), ((0, 3), 1), ((1,), 0), ((2, 1), 1)])
def test_sort_of_empty_and_single_axes(shape, axis):
    x = rng.standard_normal(shape)
    np.testing.assert_array_equal(ops.sort(om.tensor(x), axis=axis).numpy(), np.sort(x, axis))


@pytest.mark.parametrize("largest", [1, 0])
@pytest.mark.parametrize("k, axis", [(1, 1), (3, 1), (7, 1), (0, 0), (3, 0), (2, -1)])
def test_topk_is_onnxruntimes(largest, k, axis):
    x = TIES.astype(np.float32)
    node = onnx.helper.make_node("TopK", ["x", "k"], ["v", "i"], axis=axis, largest=largest)
    infos = [onnx.helper.make_tensor_value_info("x", 1, x.shape), onnx.helper.make_tensor_value_info("k", 7, [1])]
    results = [onnx.helper.make_tensor_value_info("v", 1, None), onnx.helper.make_tensor_value_info("i", 7, None)]
    model = onnx.helper.make_model(onnx.helper.make_graph([node], "g", infos, results), opset_imports=[onnx.helper.make_opsetid("", 11)],
        ir_version=9)
    expected = onnxruntime.InferenceSession(model.SerializeToString()).run(None, {"x": x, "k": np.array([k])})
    values, indices = ops.topk(om.tensor(x), k, axis=axis, largest=bool(largest))
    np.testing.assert_array_equal(values.numpy(), expected[0])
    np.testing.assert_array_equal(indices.numpy(), expected[1])


def test_topk_counts_nan_as_largest():
    x = np.array([1, np.nan, 3, 2], np.float32)
    np.testing.assert_array_equal(ops.topk(om.tensor(x), 2)[0].numpy(), torch.topk(torch.from_numpy(x), 2).values.numpy())


def test_topk_of_too_many():
    with pytest.raises(ShapeError, match="k is 8 but axis 1"):
        ops.topk(om.tensor(TIES), 8, axis=1)
    with pytest.raises(OnemlirError, match="k"):
        ops.topk(om.tensor(TIES), -1)


@pytest.mark.parametrize("dtype", [bool, np.int8, np.float32])
@pytest.mark.parametrize("shape", [(5,), (3, 4), (2, 0), (2, 3, 2)])
def test_nonzero_is_numpys(dtype, shape):
    x = rng.integers(0, 2, shape).astype(dtype)
    found, expected = ops.nonzero(om.tensor(x)), np.nonzero(x)
    assert len(found) == len(expected)
    for a, b in zip(found, expected):
        assert a.dtype == np.int64
        np.testing.assert_array_equal(a.numpy(), b)
    np.testing.assert_array_equal(ops.argwhere(om.tensor(x)).numpy(), np.argwhere(x))


def test_nonzero_has_no_meaning_for_rank_0():
    with pytest.raises(ShapeError, match="rank-0"):
        ops.nonzero(om.tensor(1.0))


@pytest.mark.parametrize("axis", [None, 0, 1])
def test_unique_is_numpys(axis):
    x = rng.integers(0, 2, (5, 3))
    found = ops.unique(om.tensor(x), axis, return_index=True, return_inverse=True, return_counts=True)
    expected = np.unique(x, axis=axis, return_index=True, return_inverse=True, return_counts=True)
    for a, b in zip(found, expected):
        np.testing.assert_array_equal(a.numpy().reshape(-1), b.reshape(-1))
    np.testing.assert_array_equal(ops.unique(om.tensor(x), axis).numpy(), expected[0])


def test_unique_keeps_each_nan_and_takes_nothing():
    x = np.array([np.nan, 1, np.nan, 1], np.float32)
    np.testing.assert_array_equal(ops.unique_values(om.tensor(x)).numpy(), np.unique(x, equal_nan=False))
    assert ops.unique(om.zeros((0,))).shape == (0,)
