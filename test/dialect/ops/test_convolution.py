"""Convolutions against torch: strides, padding, dilation, groups, transposed; errors; sizes that stay symbolic."""
import numpy as np
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


def draw(*shape, dtype=np.float32):
    return rng.standard_normal(shape).astype(dtype)


def assert_like_torch(name, arrays, rtol=1e-4, atol=1e-4, **options):
    expected = getattr(F, name)(*(None if a is None else torch.from_numpy(a) for a in arrays), **options).numpy()
    found = getattr(ops, name)(*(None if a is None else om.tensor(a) for a in arrays), **options).numpy()
    assert found.dtype == expected.dtype
    np.testing.assert_allclose(found, expected, rtol=rtol, atol=atol)


@pytest.mark.parametrize("rank", [1, 2, 3])
@pytest.mark.parametrize("options", [
    {}, {"stride": 2}, {"padding": 2}, {"dilation": 2, "padding": 1}, {"groups": 2}, {"stride": 3, "padding": 1, "groups": 4},
    {"padding": "same"}, {"padding": "same", "dilation": 3}, {"padding": "valid"}], ids=str)
@pytest.mark.parametrize("bias", [True, False])
def test_conv_is_torchs(rank, options, bias):
    groups = options.get("groups", 1)
    arrays = [draw(2, 4, *(7, 6, 5)[:rank]), draw(8, 4 // groups, *(3, 2, 1)[:rank]), draw(8) if bias else None]
    assert_like_torch(f"conv{rank}d", arrays, **options)


@pytest.mark.parametrize("rank", [1, 2, 3])
@pytest.mark.parametrize("options", [
    {}, {"stride": 2}, {"padding": 1}, {"stride": 3, "output_padding": 2}, {"groups": 2, "stride": 2, "padding": 1, "output_padding": 1},
    {"dilation": 2, "stride": 2}], ids=str)
def test_conv_transpose_is_torchs(rank, options):
    groups = options.get("groups", 1)
    arrays = [draw(2, 4, *(5, 4, 3)[:rank]), draw(4, 6 // groups, *(3, 3, 2)[:rank]), draw(6)]
    assert_like_torch(f"conv_transpose{rank}d", arrays, **options)


@pytest.mark.parametrize("name", ["conv2d", "conv_transpose2d"])
def test_axes_take_their_own_numbers(name):
    assert_like_torch(name, [draw(1, 2, 8, 9), draw(2, 2, 3, 2), draw(2)], stride=(2, 1), padding=(1, 0), dilation=(1, 2))


def test_without_a_batch():
    assert_like_torch("conv2d", [draw(2, 6, 6), draw(3, 2, 3, 3), None])
    assert_like_torch("conv_transpose1d", [draw(2, 6), draw(2, 3, 3), None])


@pytest.mark.parametrize("dtype, tolerance", [(np.float64, 1e-12), (np.float16, 1e-2)])
def test_dtypes(dtype, tolerance):
    arrays = [draw(1, 3, 5, 5, dtype=dtype), draw(4, 3, 3, 3, dtype=dtype), draw(4, dtype=dtype)]
    assert_like_torch("conv2d", arrays, rtol=tolerance, atol=tolerance)


def test_integers_are_summed_exactly():
    x, w = rng.integers(-9, 9, (1, 2, 5)), rng.integers(-9, 9, (3, 2, 3))
    expected = F.conv1d(torch.from_numpy(x).double(), torch.from_numpy(w).double()).numpy()
    np.testing.assert_array_equal(ops.conv(om.tensor(x), om.tensor(w)).numpy(), expected)


def test_low_and_high_padding_differ():
    x, w = draw(1, 1, 5, 4), draw(1, 1, 2, 2)
    expected = F.conv2d(F.pad(torch.from_numpy(x), (3, 0, 0, 2)), torch.from_numpy(w)).numpy()
    np.testing.assert_allclose(ops.conv(om.tensor(x), om.tensor(w), padding=(0, 3, 2, 0)).numpy(), expected, rtol=1e-5, atol=1e-5)
    full = F.conv_transpose2d(torch.from_numpy(x), torch.from_numpy(w)).numpy()
    cut = ops.conv_transpose(om.tensor(x), om.tensor(w), padding=(1, 0, 0, 2)).numpy()
    np.testing.assert_allclose(cut, full[:, :, 1:, :-2], rtol=1e-5, atol=1e-5)


def test_empty_batch():
    assert ops.conv2d(om.zeros((0, 3, 5, 5)), om.zeros((4, 3, 3, 3))).shape == (0, 4, 3, 3)
    assert ops.conv_transpose2d(om.zeros((0, 3, 5, 5)), om.zeros((3, 4, 3, 3))).shape == (0, 4, 7, 7)


@pytest.mark.parametrize("call, words", [
    (lambda: ops.conv2d(om.zeros((1, 3, 5, 5)), om.zeros((4, 2, 3, 3))), ["3 channels", "takes 2"]),
    (lambda: ops.conv2d(om.zeros((1, 2, 2, 5)), om.zeros((4, 2, 3, 3))), ["window of 3", "size 2"]),
    (lambda: ops.conv2d(om.zeros((1, 2, 5, 5)), om.zeros((4, 2, 3, 3)), om.zeros((3,))), ["bias", "3", "4"]),
    (lambda: ops.conv2d(om.zeros((5, 5)), om.zeros((4, 2, 3, 3))), ["conv2d", "found 4 and 2"]),
    (lambda: ops.conv1d(om.zeros((1, 4, 5)), om.zeros((3, 2, 3)), groups=2), ["3 channels", "2 groups"]),
    (lambda: ops.conv_transpose2d(om.zeros((1, 1, 2, 2)), om.zeros((1, 1, 1, 1)), padding=2), ["leaves nothing"])], ids=range(6))
def test_shapes_that_do_not_fit(call, words):
    with pytest.raises(ShapeError) as error:
        call()
    assert all(word in str(error.value) for word in words), error.value


@pytest.mark.parametrize("options, word", [({"stride": 0}, "stride"), ({"padding": -1}, "padding"), ({"groups": 0}, "groups"),
                                           ({"padding": "same", "stride": 2}, "same"), ({"padding": "full"}, "full")])
def test_attributes_that_are_refused(options, word):
    with pytest.raises(OnemlirError, match=word):
        ops.conv2d(om.zeros((1, 2, 5, 5)), om.zeros((4, 2, 3, 3)), **options)


def test_sizes_stay_symbolic():
    n, h = Dim.symbol("n"), Dim.symbol("h", minimum=3)
    x, w = TensorType((n, 2, h, 8), np.dtype(np.float32)), TensorType((4, 2, 3, 3), np.dtype(np.float32))
    conv, transposed = REGISTRY["om.conv"], REGISTRY["om.conv_transpose"]
    attributes = conv.check_attributes({"stride": (1, 2), "padding": 1}, [x, w, None])
    (result,) = conv.result_types([x, w, None], attributes)
    assert result.shape == (n, 4, h, 4)
    w = TensorType((2, 4, 2, 2), np.dtype(np.float32))
    attributes = transposed.check_attributes({"stride": 2}, [x, w, None])
    (result,) = transposed.result_types([x, w, None], attributes)
    assert result.shape == (n, 4, 2 * h, 16)
