"""Gather, scatter and dynamic slices against numpy, torch and onnxruntime; indices out of range."""
import numpy as np
import onnx
import onnxruntime
import pytest

import onemlir as om
from onemlir import ops
from onemlir.errors import IndexRangeError, OnemlirError
from onemlir.frontend.ops.declared import declared

torch = pytest.importorskip("torch")
rng = np.random.default_rng(0)
X = rng.standard_normal((3, 4, 5)).astype(np.float32)


def onnx_run(op_type, opset, inputs, **attributes):
    names = [f"i{k}" for k in range(len(inputs))]
    node = onnx.helper.make_node(op_type, names, ["y"], **attributes)
    infos = [onnx.helper.make_tensor_value_info(n, onnx.helper.np_dtype_to_tensor_dtype(a.dtype), a.shape) for n, a in zip(names, inputs)]
    result = onnx.helper.make_tensor_value_info("y", infos[0].type.tensor_type.elem_type, None)
    model = onnx.helper.make_model(onnx.helper.make_graph([node], "g", infos, [result]),
        opset_imports=[onnx.helper.make_opsetid("", opset)], ir_version=9)
    return onnxruntime.InferenceSession(model.SerializeToString()).run(None, dict(zip(names, inputs)))[0]


def indices_for(size, shape, dtype=np.int64):
    return rng.integers(-size, size, shape).astype(dtype)


@pytest.mark.parametrize("axis", [0, 1, -1])
@pytest.mark.parametrize("shape", [(), (1,), (2, 3), (0,), (2, 0, 1)])
@pytest.mark.parametrize("dtype", [np.int32, np.int64])
def test_gather_is_numpys_take(axis, shape, dtype):
    indices = indices_for(X.shape[axis], shape, dtype)
    np.testing.assert_array_equal(ops.gather(om.tensor(X), om.tensor(indices), axis=axis).numpy(), np.take(X, indices, axis))


@pytest.mark.parametrize("dtype", [np.float16, np.float64, np.int8, np.uint16, np.int64, bool])
def test_gather_of_every_dtype(dtype):
    x = (X * 10).astype(dtype)
    found = ops.gather(om.tensor(x), [2, -1], axis=1).numpy()
    assert found.dtype == x.dtype
    np.testing.assert_array_equal(found, x[:, [2, -1]])


@pytest.mark.parametrize("axis", [0, 1, 2, -1])
def test_take_along_axis_is_numpys(axis):
    shape = list(X.shape)
    shape[axis] = 7
    indices = indices_for(X.shape[axis], shape)
    np.testing.assert_array_equal(ops.take_along_axis(om.tensor(X), indices, axis).numpy(), np.take_along_axis(X, indices, axis))
    order = X.argsort(axis)
    np.testing.assert_array_equal(ops.take_along_axis(om.tensor(X), om.tensor(order), axis).numpy(), np.sort(X, axis))


def test_take_along_axis_broadcasts_both_sides():
    indices = indices_for(4, (3, 2, 1))
    np.testing.assert_array_equal(ops.take_along_axis(om.tensor(X), indices, 1).numpy(), np.take_along_axis(X, indices, 1))
    indices = indices_for(4, (3, 2, 5))
    np.testing.assert_array_equal(ops.take_along_axis(om.tensor(X[:1, :, :1]), indices, 1).numpy(),
        np.take_along_axis(X[:1, :, :1], indices, 1))


REDUCTIONS = {"none": None, "add": "sum", "mul": "prod", "max": "amax", "min": "amin"}


@pytest.mark.parametrize("axis", [0, 2])
@pytest.mark.parametrize("reduction", REDUCTIONS)
@pytest.mark.parametrize("dtype", [np.float32, np.int64])
def test_scatter_is_torchs(axis, reduction, dtype):
    shape = [2, 4, 3]
    indices = rng.integers(0, X.shape[axis],
        shape) if reduction != "none" else rng.permuted(np.broadcast_to(np.arange(2).reshape(2, 1, 1), shape), axis=0)
    if reduction == "none" and axis == 2:
        indices = rng.permuted(np.broadcast_to(np.arange(3), shape), axis=2)
    x, updates = (X * 4).astype(dtype), (rng.standard_normal(shape) * 4).astype(dtype)
    target, args = torch.from_numpy(x), (axis, torch.from_numpy(indices.copy()), torch.from_numpy(updates))
    expected = target.scatter(*args) if reduction == "none" else target.scatter_reduce(*args, REDUCTIONS[reduction])
    found = ops.scatter(om.tensor(x), indices, om.tensor(updates), axis=axis, reduction=reduction).numpy()
    np.testing.assert_allclose(found, expected.numpy(), rtol=1e-6)


def test_scatter_writes_the_last_of_equal_places_and_wraps_negative_indices():
    found = ops.scatter(om.zeros((4,)), [1, -3, 1, -1], om.tensor([1.0, 2.0, 3.0, 4.0])).numpy()
    np.testing.assert_array_equal(found, [0, 3, 0, 4])


def test_scatter_leaves_its_operand():
    x = om.zeros((3,))
    ops.scatter_add(x, [0, 0], om.tensor([1.0, 2.0]))
    ops.scatter_nd(x, [[0]], om.tensor([5.0]))
    ops.dynamic_update(x, om.tensor([7.0]), [1])
    np.testing.assert_array_equal(x.numpy(), [0, 0, 0])


@pytest.mark.parametrize("batch_dims, shape",
    [(0, (2, 1)), (0, (2, 2, 2)), (0, (3,)), (1, (3, 2)), (1, (3, 6, 1)), (2, (3, 4, 1)), (0, (0, 2))])
def test_gather_nd_is_onnxruntimes(batch_dims, shape):
    columns = [indices_for(X.shape[batch_dims + i], shape[:-1]) for i in range(shape[-1])]
    indices = np.stack(columns, -1)
    expected = onnx_run("GatherND", 13, [X, indices], batch_dims=batch_dims)
    np.testing.assert_array_equal(ops.gather_nd(om.tensor(X), om.tensor(indices), batch_dims=batch_dims).numpy(), expected)


@pytest.mark.parametrize("reduction", REDUCTIONS)
@pytest.mark.parametrize("shape", [(4, 1), (2, 3, 2), (3,)])
def test_scatter_nd_is_onnxruntimes(reduction, shape):
    columns = [rng.integers(0, X.shape[i], shape[:-1]) for i in range(shape[-1])]
    indices = np.stack(columns, -1)
    if reduction == "none":
        indices.reshape(-1, shape[-1])[:, 0] = np.arange(indices.size // shape[-1]) % 3
        indices = indices.reshape(-1, shape[-1])[:3]
    updates = rng.standard_normal(indices.shape[:-1] + X.shape[shape[-1]:]).astype(np.float32)
    expected = onnx_run("ScatterND", 18, [X, indices, updates], reduction=reduction)
    found = ops.scatter_nd(om.tensor(X), om.tensor(indices), om.tensor(updates), reduction=reduction)
    np.testing.assert_allclose(found.numpy(), expected, rtol=1e-6)


@pytest.mark.parametrize("starts, clamped", [((0, 1, 2), (0, 1, 2)), ((5, 5, 5), (1, 1, 2)), ((-3, 0, -1), (0, 0, 0))])
def test_dynamic_slice_and_update_clamp_their_starts(starts, clamped):
    place = tuple(slice(s, s + n) for s, n in zip(clamped, (2, 3, 3)))
    np.testing.assert_array_equal(ops.dynamic_slice(om.tensor(X), starts, (2, 3, 3)).numpy(), X[place])
    expected = X.copy()
    expected[place] = 9
    np.testing.assert_array_equal(ops.dynamic_update(om.tensor(X), om.full((2, 3, 3), 9.0), om.tensor(list(starts))).numpy(), expected)


def test_embedding_one_hot_and_compress():
    weight, indices = X[0], np.array([[0, 3], [-1, 1]])
    np.testing.assert_array_equal(ops.embedding(om.tensor(indices), om.tensor(weight)).numpy(), weight[indices])
    labels = torch.tensor([[0, 2], [1, 1]])
    np.testing.assert_array_equal(ops.one_hot(om.tensor(labels.numpy()), 4).numpy(), torch.nn.functional.one_hot(labels, 4).numpy())
    for axis, keep in ((0, [True, False, True]), (2, [False, True, True]), (None, [True] * 7)):
        np.testing.assert_array_equal(ops.compress(np.array(keep), om.tensor(X), axis).numpy(), np.compress(keep, X, axis))


@pytest.mark.parametrize("call, words", [
    (lambda x: ops.gather(x, [[0], [4]], axis=1), ["index 4", "(1, 0)", "axis 1", "size 4"]),
    (lambda x: ops.take_along_axis(x, np.full((3, 4, 1), -6), 2), ["index -6", "axis 2", "size 5"]),
    (lambda x: ops.scatter(x, np.full((1, 1, 1), 3), np.zeros((1, 1, 1), np.float32)), ["index 3", "axis 0", "size 3"]),
    (lambda x: ops.gather_nd(x, [[0, 4]]), ["index 4", "axis 1", "size 4"]),
    (lambda x: ops.scatter_nd(x, [[-4]], np.zeros((1, 4, 5), np.float32)), ["index -4", "axis 0", "size 3"]),
    (lambda x: ops.gather(x[:0], [0]), ["index 0", "size 0"])], ids=range(6))
def test_index_out_of_range_is_named(call, words):
    with pytest.raises(IndexRangeError) as error:
        call(om.tensor(X))
    assert isinstance(error.value, IndexError) and all(word in str(error.value) for word in words), error.value


@pytest.mark.parametrize("call, words", [
    (lambda x: ops.gather(x, np.array([0.0])), ["indices"]), (lambda x: ops.gather(x, [0], axis=3), ["axis", "3"]),
    (lambda x: ops.scatter(x, np.zeros((4, 4, 5), np.int64), np.zeros((4, 4, 4), np.float32)), ["updates"]),
    (lambda x: ops.scatter(x, np.zeros((1, 5, 5), np.int64), np.zeros((1, 5, 5), np.float32)), ["axis 1", "5", "4"]),
    (lambda x: ops.gather_nd(x, np.zeros((2, 4), np.int64)), ["tuples of 4"]),
    (lambda x: ops.gather_nd(x, np.zeros((2, 1), np.int64), batch_dims=1), ["batch axis 0"]),
    (lambda x: ops.scatter_nd(x, np.zeros((2, 1), np.int64), np.zeros((2, 4, 4), np.float32)), ["updates"]),
    (lambda x: ops.scatter(x, np.zeros((1, 1, 1), np.int64), np.zeros((1, 1, 1), np.float32), reduction="mean"), ["reduction"]),
    (lambda x: ops.dynamic_slice(x, [0, 0, 0], (4, 1, 1)), ["axis 0", "4", "3"]),
    (lambda x: ops.dynamic_slice(x, [0, 0], (1, 1, 1)), ["3 starts"])],
    ids=range(10))
def test_operands_that_do_not_fit(call, words):
    with pytest.raises(OnemlirError) as error:
        call(om.tensor(X))
    assert not isinstance(error.value, IndexRangeError) and all(word in str(error.value) for word in words), error.value


@pytest.mark.parametrize("dtype", [np.float32, np.float16, np.int8], ids=str)
@pytest.mark.parametrize("past, rows, width, before, size", [
    (5, 1, 64, [5, 3], 6), (40, 3, 37, [0, 40], 70), (0, 4, 5, [0, 0], 4), (3, 0, 1, [2, -1], 3), (100, 2, 16, [98, 1], 100), (2, 1, 0, [1, 2], 3),
])  # fmt: skip
def test_appended_rows_stand_behind_those_of_each_sample(past, rows, width, before, size, dtype, before_and_after):
    """Compiled with fixed and with symbolic sizes, by the reference, and decomposed."""
    caches = [(rng.standard_normal((2, 3, count, width)) * 9).astype(dtype) for count in (past, rows)]
    inputs = [*caches, np.array(before)]
    expected = np.zeros((2, 3, size, width), dtype)
    for sample, count in enumerate(np.maximum(before, 0)):
        expected[sample, :, :count + rows] = np.concatenate([caches[0][sample, :, :count], caches[1][sample]], axis=1)

    def appended(past_rows, new, before):
        return declared.append_rows(past_rows, new, before, size=(past_rows.shape[2] + (size - past),))
    np.testing.assert_array_equal(appended(*map(om.tensor, inputs)).numpy(), expected)
    axes = (("b", None, "p", "w"), ("b", None, "n", "w"), ("b",))
    examples = [np.ones((2, 3, 200, 8), dtype), np.ones((2, 3, 2, 8), dtype), np.array([0, 1])]
    np.testing.assert_array_equal(om.trace(appended, *map(om.tensor, examples), axes=axes).session(threads=2)(*inputs), expected)
    for result in before_and_after(appended, inputs):
        np.testing.assert_array_equal(result[0], expected)


@pytest.mark.parametrize("before", [[3, 0], [0, 5]])
def test_rows_that_do_not_fit_are_refused(before):
    with pytest.raises(IndexRangeError, match="append_rows: index"):
        declared.append_rows(om.full((2, 1, 5, 4), 1.0), om.full((2, 1, 3, 4), 2.0), om.tensor(before), size=(5,)).numpy()
