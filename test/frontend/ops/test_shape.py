"""Functions that rearrange tensors, against numpy and torch: eager, and recorded on one size and run on others."""
import numpy as np
import pytest

import onemlir as om
from onemlir import ops
from onemlir.dialect.interpreter import Interpreter
from onemlir.errors import OnemlirError, ShapeError

torch = pytest.importorskip("torch")
rng = np.random.default_rng(0)
X = rng.standard_normal((2, 3, 4)).astype(np.float32)
T = torch.from_numpy


def each(value):
    return value if isinstance(value, (tuple, list)) else (value,)


def arrays(values):
    return [v.numpy() for v in each(values)]


CASES = {  # ours, the peer's on a numpy array
    "expand_dims": (lambda x: ops.expand_dims(x, -1), lambda x: np.expand_dims(x, -1)),
    "expand_dims_many": (lambda x: ops.expand_dims(x, (0, 3)), lambda x: np.expand_dims(x, (0, 3))),
    "unsqueeze": (lambda x: ops.unsqueeze(x, 1), lambda x: T(x).unsqueeze(1)),
    "squeeze": (lambda x: ops.squeeze(x[:, :, :1], -1), lambda x: np.squeeze(x[:, :, :1], -1)),
    "permute": (lambda x: ops.permute(x, (2, 0, 1)), lambda x: x.transpose(2, 0, 1)),
    "permute_dims": (lambda x: ops.permute_dims(x, (1, 0, 2)), lambda x: x.transpose(1, 0, 2)),
    "transpose": (lambda x: ops.transpose(x), lambda x: x.T),
    "reshape": (lambda x: ops.reshape(x, (-1, 12)), lambda x: x.reshape(-1, 12)),
    "expand": (lambda x: ops.expand(x[:, :1], (5, -1, 7, -1)), lambda x: T(x[:, :1]).expand(5, -1, 7, -1)),
    "broadcast_to": (lambda x: ops.broadcast_to(x, (6, *x.shape)), lambda x: np.broadcast_to(x, (6, *x.shape))),
    "flatten": (ops.flatten, np.ravel), "ravel": (ops.ravel, np.ravel),
    "flatten_inner": (lambda x: ops.flatten(x, 1), lambda x: T(x).flatten(1)),
    "flatten_outer": (lambda x: ops.flatten(x, 0, 1), lambda x: T(x).flatten(0, 1)),
    "moveaxis": (lambda x: ops.moveaxis(x, 0, -1), lambda x: np.moveaxis(x, 0, -1)),
    "moveaxis_many": (lambda x: ops.moveaxis(x, (2, 0), (0, 1)), lambda x: np.moveaxis(x, (2, 0), (0, 1))),
    "swapaxes": (lambda x: ops.swapaxes(x, 0, -1), lambda x: np.swapaxes(x, 0, -1)),
    "meshgrid": (lambda x: ops.meshgrid(x[:, 0, 0], x[0, :, 0], x[0, 0]), lambda x: np.meshgrid(x[:, 0, 0], x[0, :, 0], x[0, 0])),
    "meshgrid_ij": (lambda x: ops.meshgrid(x[:, 0, 0], x[0, 0], indexing="ij"), lambda x: np.meshgrid(x[:, 0, 0], x[0, 0], indexing="ij")),
    "stack": (lambda x: ops.stack([x, x * 2], 1), lambda x: np.stack([x, x * 2], 1)),
    "stack_last": (lambda x: ops.stack([x, x * 2], -1), lambda x: np.stack([x, x * 2], -1)),
    "concat": (lambda x: ops.concat([x, x[:, :1]], 1), lambda x: np.concatenate([x, x[:, :1]], 1)),
    "concatenate_flat": (lambda x: ops.concatenate([x, x], None), lambda x: np.concatenate([x, x], None)),
    "hstack": (lambda x: ops.hstack([x, x]), lambda x: np.hstack([x, x])),
    "vstack": (lambda x: ops.vstack([x, x]), lambda x: np.vstack([x, x])),
    "split_sections": (lambda x: ops.split(x, 2, 2), lambda x: np.split(x, 2, 2)),
    "split_sizes": (lambda x: ops.split(x, (1, -1), 2), lambda x: np.split(x, [1], 2)),
    "chunk": (lambda x: ops.chunk(x, 2, 1), lambda x: T(x).chunk(2, 1)),
    "chunk_many": (lambda x: ops.chunk(x, 9, 2), lambda x: T(x).chunk(9, 2)),
    "unstack": (lambda x: ops.unstack(x, 1), lambda x: T(x).unbind(1)), "unbind": (lambda x: ops.unbind(x, -1), lambda x: T(x).unbind(-1)),
    "flip": (ops.flip, np.flip), "flip_axes": (lambda x: ops.flip(x, (0, 2)), lambda x: np.flip(x, (0, 2))),
    "roll": (lambda x: ops.roll(x, 5), lambda x: np.roll(x, 5)), "roll_back": (lambda x: ops.roll(x, -1, 0), lambda x: np.roll(x, -1, 0)),
    "roll_axes": (lambda x: ops.roll(x, (1, -9), (0, 2)), lambda x: np.roll(x, (1, -9), (0, 2))),
    "tile": (lambda x: ops.tile(x, (2, 1, 3)), lambda x: np.tile(x, (2, 1, 3))),
    "tile_last": (lambda x: ops.tile(x, 2), lambda x: np.tile(x, 2)),
    "tile_more": (lambda x: ops.tile(x, (2, 1, 1, 2)), lambda x: np.tile(x, (2, 1, 1, 2))),
    "tile_none": (lambda x: ops.tile(x, 0), lambda x: np.tile(x, 0)),
    "repeat": (lambda x: ops.repeat(x, 3), lambda x: np.repeat(x, 3)),
    "repeat_axis": (lambda x: ops.repeat(x, 2, 1), lambda x: np.repeat(x, 2, 1)),
    "repeat_counts": (lambda x: ops.repeat(x, (2, 0, 1), 1), lambda x: np.repeat(x, (2, 0, 1), 1)),
    "pad": (lambda x: ops.pad(x, 1), lambda x: np.pad(x, 1)),
    "pad_pair": (lambda x: ops.pad(x, (0, 2), constant_values=7), lambda x: np.pad(x, (0, 2), constant_values=7)),
    "pad_crops": (lambda x: ops.pad(x, ((0, 0), (-1, 2), (1, -2))), lambda x: np.pad(x[:, 1:, :-2], ((0, 0), (0, 2), (1, 0)))),
    "pad_symbolic": (lambda x: ops.pad(x, ((0, x.shape[0]), (0, 0), (0, 0))), lambda x: np.pad(x, ((0, x.shape[0]), (0, 0), (0, 0)))),
    "tril": (ops.tril, np.tril), "triu": (lambda x: ops.triu(x, 1), lambda x: np.triu(x, 1)),
    "tril_below": (lambda x: ops.tril(x, -1), lambda x: np.tril(x, -1)),
    "diagonal": (ops.diagonal, np.diagonal), "diagonal_high": (lambda x: ops.diagonal(x, 1, 0, 2), lambda x: np.diagonal(x, 1, 0, 2)),
    "diagonal_low": (lambda x: ops.diagonal(x, -1, 2, 0), lambda x: np.diagonal(x, -1, 2, 0)),
    "diag": (lambda x: ops.diag(x[0]), lambda x: np.diag(x[0])),
    "diag_of_vector": (lambda x: ops.diag(x[:, 0, 0], 2), lambda x: np.diag(x[:, 0, 0], 2)),
    "diag_below": (lambda x: ops.diag(x[:, 0, 0], -1), lambda x: np.diag(x[:, 0, 0], -1)),
    "trace": (lambda x: ops.trace(x, 1), lambda x: np.trace(x, 1)),
}


@pytest.mark.parametrize("name", CASES)
def test_eager(name):
    function, peer = CASES[name]
    for x in (X, X.astype(np.float64), (X * 10).astype(np.int8)):
        found, expected = each(function(om.tensor(x))), each(peer(x))
        assert len(found) == len(expected)
        for a, b in zip(found, expected):
            assert name == "trace" or str(a.dtype) == str(b.dtype).removeprefix("torch.")
            np.testing.assert_allclose(a.numpy(), np.asarray(b), rtol=1e-6)


@pytest.mark.parametrize("name", CASES)
def test_recorded_on_other_sizes(name):
    function, peer = CASES[name]
    traced = om.trace(lambda x: tuple(each(function(x))), om.tensor(X), axes=("n", None, None))
    program = traced.program if hasattr(traced, "program") else traced
    for size in (2, 1, 5):
        x = rng.standard_normal((size, 3, 4)).astype(np.float32)
        found, expected = Interpreter(program.weights).run(program.main, [x]), each(peer(x))
        assert len(found) == len(expected)
        for a, b in zip(found, expected):
            np.testing.assert_allclose(a, np.asarray(b), rtol=1e-6)


def test_an_empty_axis_goes_through():
    x = np.zeros((0, 3, 4), np.float32)
    for name in ("flip", "flatten_inner", "tile", "repeat_axis", "stack", "roll_axes", "pad_crops", "tril", "diagonal", "swapaxes",
        "concat"):
        function, peer = CASES[name]
        assert function(om.tensor(x)).shape == np.asarray(peer(x)).shape, name


@pytest.mark.parametrize("rank", [0, 1, 2, 3])
def test_atleast(rank):
    x = np.ones((2, 3, 4)[:rank], np.float32)
    for name in ("atleast_1d", "atleast_2d", "atleast_3d"):
        assert getattr(ops, name)(om.tensor(x)).shape == getattr(np, name)(x).shape


def test_broadcast_tensors():
    found = ops.broadcast_tensors(om.tensor(X), om.tensor(X[:1, :, :1]), om.tensor(1.0))
    assert [t.shape for t in found] == [X.shape] * 3


@pytest.mark.parametrize("block", [2, 3])
def test_depth_to_space_is_torchs_pixel_shuffle(block):
    x = rng.standard_normal((2, 2 * block**2, 3, 4)).astype(np.float32)
    shuffled = torch.pixel_shuffle(T(x), block).numpy()
    np.testing.assert_array_equal(ops.pixel_shuffle(om.tensor(x), block).numpy(), shuffled)
    np.testing.assert_array_equal(ops.pixel_unshuffle(om.tensor(shuffled), block).numpy(), x)
    n, c, h, w = x.shape
    expected = x.reshape(n, block, block, c // block**2, h, w).transpose(0, 3, 4, 1, 5, 2).reshape(n, c // block**2, h * block,
        w * block)  # the ONNX page
    np.testing.assert_array_equal(ops.depth_to_space(om.tensor(x), block).numpy(), expected)
    np.testing.assert_array_equal(ops.space_to_depth(om.tensor(expected), block).numpy(), x)


@pytest.mark.parametrize("call, words", [
    (lambda x: ops.squeeze(x, 1), ["axis 1", "size 3"]), (lambda x: ops.split(x, 3, 2), ["size 4", "3"]),
    (lambda x: ops.split(x, (1, 1), 2), ["add up to 2", "4"]),
    (lambda x: ops.split(x, (9, -1), 2), ["4"]), (lambda x: ops.stack([]), ["at least one"]), (lambda x: ops.stack([x, x[0]]), ["rank"]),
    (lambda x: ops.stack([x, x[:, :2]]), ["shapes differ"]), (lambda x: ops.concat([x, x[:, :2]], 0), ["axis 1", "3", "2"]),
    (lambda x: ops.moveaxis(x, (0, 0), (1, 2)), ["moveaxis"]), (lambda x: ops.transpose(x, (0, 0, 1)), ["axes"]),
    (lambda x: ops.flip(x, 3), ["axis 3", "rank 3"]),
    (lambda x: ops.reshape(x, (5, -1)), ["(2, 3, 4)", "5"]), (lambda x: ops.reshape(x, (5, 5)), ["24", "25"]),
    (lambda x: ops.reshape(x, (-1, -1)), ["-1"]),
    (lambda x: ops.broadcast_to(x, (2, 5, 4)), ["3", "5"]), (lambda x: ops.pad(x, ((1, 2), (3, 4))), ["3 pairs"]),
    (lambda x: ops.pad(x, ((-1, -2), 0, 0)), ["crop"]),
    (lambda x: ops.pad(x[:, :0], 1, mode="edge"), ["axis 1", "empty"]), (lambda x: ops.pad(x, 1, mode="mirror"), ["mode", "reflect"]),
    (lambda x: ops.depth_to_space(om.zeros((1, 6, 2, 2)), 2), ["6 channels"]),
    (lambda x: ops.space_to_depth(om.zeros((1, 6, 3, 2)), 2), ["3 x 2"]),
    (lambda x: ops.tril(x[0, 0]), ["matrix"]), (lambda x: ops.flatten(x, 2, 1), ["start_axis"]),
    (lambda x: ops.meshgrid(x, indexing="yx"), ["indexing"])],
    ids=range(24))
def test_errors(call, words):
    with pytest.raises(OnemlirError) as error:
        call(om.tensor(X))
    assert all(word in str(error.value) for word in words), error.value


@pytest.mark.parametrize("function", [lambda x: ops.unstack(x, 0), lambda x: ops.chunk(x, 2, 0)])
def test_as_many_results_as_a_symbolic_size(function):
    with pytest.raises(ShapeError, match="n"):
        om.trace(function, om.tensor(X), axes=("n", None, None))


def test_sizes_stay_symbolic():
    traced = om.trace(lambda x: (ops.tile(x, (2, 1, 1)), ops.flatten(x), ops.concat([x, x[:1]], 0)), om.tensor(X), axes=("n", None, None))
    program = traced.program if hasattr(traced, "program") else traced
    assert [spec.shape[0] for spec in program.outputs][:2] == ["2*n", "12*n"]
