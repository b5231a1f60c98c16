"""Pooling against torch: windows of all kinds, indices, p-norms, whole planes, adapted windows; errors; symbolic sizes."""
import numpy as np
import onnx
import onnxruntime
import pytest

import onemlir as om
from onemlir import ops
from onemlir.dialect.declare import REGISTRY
from onemlir.dialect.shapes import TensorType
from onemlir.dialect.symbolic import Dim
from onemlir.errors import OnemlirError, ShapeError

torch = pytest.importorskip("torch")
F = torch.nn.functional
rng = np.random.default_rng(0)
X = rng.standard_normal((2, 3, 7, 9, 6)).astype(np.float32)


def close(found, expected, tolerance=1e-5):
    expected = expected.numpy() if hasattr(expected, "numpy") else expected
    assert found.numpy().dtype == expected.dtype
    np.testing.assert_allclose(found.numpy(), expected, rtol=tolerance, atol=tolerance)


def image(rank):
    return X.reshape(2, 3, -1) if rank == 1 else X[..., 0] if rank == 2 else X


WINDOWS = [{"kernel_size": 3}, {"kernel_size": 2, "stride": 1}, {"kernel_size": 3, "stride": 2, "padding": 1},
           {"kernel_size": 3, "stride": 2, "ceil_mode": True}, {"kernel_size": 3, "stride": 4, "padding": 1, "ceil_mode": True},
           {"kernel_size": 2, "stride": 3, "ceil_mode": True}]


@pytest.mark.parametrize("rank", [1, 2, 3])
@pytest.mark.parametrize("options", WINDOWS + [{"kernel_size": 2, "dilation": 2},
    {"kernel_size": 2, "dilation": 3, "stride": 2, "padding": 1,
                                                                                 "ceil_mode": True}], ids=str)
def test_max_pool_is_torchs(rank, options):
    x, name = image(rank), f"max_pool{rank}d"
    close(getattr(ops, name)(om.tensor(x), **options), getattr(F, name)(torch.from_numpy(x), **options))
    values, indices = getattr(ops, name)(om.tensor(x), **options, return_indices=True)
    expected, places = getattr(F, name)(torch.from_numpy(x), **options, return_indices=True)
    close(values, expected)
    np.testing.assert_array_equal(indices.numpy(), places.numpy())


def test_max_pool_keeps_nan_infinities_and_integers():
    x = np.array([[[1, np.nan, 2, -np.inf, -np.inf, -np.inf]]], np.float32)
    close(ops.max_pool1d(om.tensor(x), 2), F.max_pool1d(torch.from_numpy(x), 2))
    values, places = ops.max_pool1d(om.tensor(x), 2, return_indices=True)
    np.testing.assert_array_equal(places.numpy(), [[[1, 2, 4]]])
    whole = rng.integers(-128, 128, (1, 2, 6, 6)).astype(np.int8)
    np.testing.assert_array_equal(ops.max_pool2d(om.tensor(whole), 2, padding=1).numpy(),
                                  np.pad(whole, [(0, 0), (0, 0), (1, 1), (1, 1)], constant_values=-128).reshape(1, 2, 4, 2, 4,
                                      2).max((3, 5)))


@pytest.mark.parametrize("rank", [1, 2, 3])
@pytest.mark.parametrize("options", WINDOWS, ids=str)
@pytest.mark.parametrize("include", [True, False])
def test_avg_pool_is_torchs(rank, options, include):
    x, name = image(rank), f"avg_pool{rank}d"
    close(getattr(ops, name)(om.tensor(x), **options, count_include_pad=include),
        getattr(F, name)(torch.from_numpy(x), **options, count_include_pad=include))


def test_avg_pool_divisor_and_half_precision():
    x = image(2)
    close(ops.avg_pool2d(om.tensor(x), 3, divisor_override=5), F.avg_pool2d(torch.from_numpy(x), 3, divisor_override=5))
    half = x.astype(np.float16)
    close(ops.avg_pool2d(om.tensor(half), 3, 2), F.avg_pool2d(torch.from_numpy(half), 3, 2), 2e-3)


@pytest.mark.parametrize("include", [0, 1])
def test_avg_pool_with_dilation_and_uneven_padding_is_onnxruntimes(include):
    x = image(2)
    node = onnx.helper.make_node("AveragePool", ["x"], ["y"], kernel_shape=[3, 2], strides=[2, 1], pads=[1, 0, 0, 1], dilations=[2, 3],
        count_include_pad=include)
    graph = onnx.helper.make_graph([node], "g", [onnx.helper.make_tensor_value_info("x", 1, x.shape)],
        [onnx.helper.make_tensor_value_info("y", 1, None)])
    model = onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", 19)], ir_version=9)
    expected, = onnxruntime.InferenceSession(model.SerializeToString()).run(None, {"x": x})
    close(ops.avg_pool(om.tensor(x), (3, 2), (2, 1), (1, 0, 0, 1), (2, 3), count_include_pad=bool(include)), expected)


@pytest.mark.parametrize("p", [1, 2, 3])
def test_lp_pool_is_torchs(p):
    x = np.abs(image(2)) if p % 2 else image(2)  # torch takes no absolute value
    close(ops.lp_pool2d(om.tensor(x), p, 3, 2), F.lp_pool2d(torch.from_numpy(x), p, 3, 2), 1e-4)


def test_global_pools():
    x = image(3)
    close(ops.global_avg_pool(om.tensor(x)), x.mean((2, 3, 4), keepdims=True))
    close(ops.global_max_pool(om.tensor(x)), x.max((2, 3, 4), keepdims=True))
    close(ops.global_lp_pool(om.tensor(x)), np.sqrt((x**2).sum((2, 3, 4), keepdims=True)), 1e-4)


@pytest.mark.parametrize("kind", ["avg", "max"])
@pytest.mark.parametrize("rank, size", [(1, 5), (1, 63), (2, (3, 3)), (2, (7, 4)), (2, 1), (2, (1, 5)), (2, (None, 2)), (3, (2, 5, 3)),
    (2, (10, 11))])
def test_adaptive_pool_is_torchs(kind, rank, size):
    x, name = image(rank), f"adaptive_{kind}_pool{rank}d"
    close(getattr(ops, name)(om.tensor(x), size), getattr(F, name)(torch.from_numpy(x), size))


def test_adaptive_avg_pool_does_not_spread_infinities():
    x = image(1).copy()
    x[..., 0] = np.inf
    close(ops.adaptive_avg_pool1d(om.tensor(x), 5), F.adaptive_avg_pool1d(torch.from_numpy(x), 5))


@pytest.mark.parametrize("call, words", [
    (lambda x: ops.max_pool2d(x, 9), ["window of 9", "size 7"]), (lambda x: ops.avg_pool2d(x, (1, 2, 3)), ["kernel_size", "2"]),
    (lambda x: ops.max_pool2d(x, 0), ["kernel_size"]), (lambda x: ops.max_pool2d(x, 2, padding=-1), ["padding"]),
    (lambda x: ops.max_pool2d(x, 2, stride=(1, 2, 3)), ["stride"]), (lambda x: ops.global_avg_pool(x[0, 0]), ["rank 2"])], ids=range(6))
def test_errors(call, words):
    with pytest.raises(OnemlirError) as error:
        call(om.tensor(image(2)))
    assert all(word in str(error.value) for word in words), error.value


def test_sizes_stay_symbolic():
    n, h = Dim.symbol("n"), Dim.symbol("h", minimum=2)
    x = TensorType((n, 3, h, 10), np.dtype(np.float32))
    op = REGISTRY["om.max_pool"]
    result, = op.result_types([x], op.check_attributes({"kernel_size": 2}, [x]))
    assert result.shape[0] == n and result.shape[3] == 5
    assert [result.shape[2].evaluate({"h": k}) for k in (2, 3, 9)] == [1, 1, 4]
    result, = op.result_types([x], op.check_attributes({"kernel_size": 2, "stride": 3, "ceil_mode": True}, [x]))
    assert [result.shape[2].evaluate({"h": k}) for k in (2, 3, 9)] == [F.max_pool1d(torch.zeros(1, k), 2, 3,
        ceil_mode=True).shape[1] for k in (2, 3, 9)]


def test_adaptive_pool_of_a_symbolic_axis():
    record = lambda size: om.trace(lambda x: ops.adaptive_avg_pool2d(x, size), om.zeros((1, 2, 4, 4)), axes=("n", None, "h", "w"))
    assert record(1).output_names == ["output"]
    with pytest.raises(ShapeError, match="symbolic"):
        record(2)
