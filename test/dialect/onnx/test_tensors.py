"""Shapes, indexing, reductions, ordering, with symbolic sizes."""
import numpy as np
import pytest

from onemlir.dialect import dtypes
from onemlir.frontend import ops
from onemlir.frontend.ops.declared import ops as om

RNG = np.random.default_rng(0)
X = RNG.standard_normal((2, 3, 4)).astype(np.float32)
BT = ("batch", "time", None)
MORE = [(RNG.standard_normal(s).astype(np.float32),) for s in ((1, 5, 4), (3, 1, 4), (4, 2, 4))]

SHAPES = {
    "reshape": lambda x: ops.reshape(x, (x.shape[0] * x.shape[1], 4)),
    "reshape_two_symbols": lambda x: ops.reshape(x, (x.shape[1], 2, x.shape[0] * 2)),
    "transpose": lambda x: om.transpose(x, axes=(2, 0, 1)),
    "broadcast_to": lambda x: om.broadcast_to(x, shape=(3, *x.shape)),
    "slice": lambda x: om.slice(x, starts=(0, 0, 1), shape=(1, x.shape[1], 2), steps=(1, 1, 2)),
    "slice_to_the_end": lambda x: om.slice(x, starts=(0, 1, 0), shape=(x.shape[0], x.shape[1] - 1, 4), steps=(1, 1, 1)),
    "flip": lambda x: om.slice(x, starts=(0, x.shape[1] - 1, 3), shape=x.shape, steps=(1, -1, -1)),
    "concat": lambda x: om.concat([x, x * 2], axis=1),
    "pad": lambda x: om.pad_constant(x, np.float32(7), low=(0, 1, 0), high=(x.shape[0], 0, 2)),
    "full": lambda x: om.full(np.float32(3), shape=(x.shape[1], 2)) + 0 * om.full(om.sum(x), shape=(x.shape[1], 1)),
    "iota": lambda x: om.iota(size=(x.shape[1],)) + om.iota(size=(1,)),
    "size_arithmetic": lambda x: ops.reshape(x, (-1,)).astype(np.float64) * (x.shape[0] // 2 + (x.shape[1] + 1) % 3) + x.shape[1] / 2,
    "halves": lambda x: om.slice(x, starts=(0, 0, 0), shape=(x.shape[0], (x.shape[1] + 1) // 2, 4), steps=(1, 2, 1)),
}


@pytest.mark.parametrize("name", SHAPES)
def test_shapes(agree, name):
    agree(SHAPES[name], (X,), *MORE, axes=BT)


def test_sizes_of_zero(agree):
    agree(lambda x: [ops.reshape(x, (x.shape[0], 2, 2)), ops.reshape(x, (x.shape[0] * 4,)), ops.sum(x, axis=0)], (X[:, 0],), (X[:0, 0],), axes=("n", None))
    agree(lambda x: ops.reshape(x, (0, 7)), (np.zeros((3, 0), np.float32),))


@pytest.mark.parametrize("mode", ["constant", "reflect", "edge", "wrap"])
def test_pad_modes(agree, mode):
    agree(lambda x: om.pad(x, None, low=(0, 1, 2), high=(0, 1, 3), mode=mode), (X,))


REDUCTIONS = {
    "sum prod max min": np.float32, "mean var std logsumexp norm": np.float32, "any all": np.bool_,
    "sum prod max min ": np.int32, "sum  max": np.uint8, "max min": np.int16,
}


@pytest.mark.parametrize("names,dtype", REDUCTIONS.items())
def test_reductions(agree, names, dtype):
    def convert(x):
        return (x > 0) if dtype == np.bool_ else (x * 9).astype(np.int8).astype(dtype) if np.dtype(dtype).kind in "iu" else x

    def function(x):
        calls = [getattr(om, name) for name in names.split()]
        return [f(x, axis=axis, keepdims=keep) for f in calls for axis, keep in ((1, False), ((0, 2), True), (None, False), ((), False))]
    agree(function, (convert(X),), *[(convert(a),) for a, in MORE], axes=BT, rtol=2e-5, atol=1e-5)


def test_reductions_with_options(agree):
    def function(x):
        yield from (om.var(x, axis=(0, 1), correction=1.0), om.std(x, axis=2, correction=1.0), om.argmax(x, axis=1), om.argmin(x, axis=2, keepdims=True))
        yield from (om.norm(x, axis=2, ord=float(o)) for o in (0, 1, 2, 3, np.inf, -np.inf))
        yield from (om.cumsum(x, axis=1, exclusive=e, reverse=r) for e in (False, True) for r in (False, True))
        yield from (om.cumprod(x, axis=1, exclusive=e, reverse=r) for e in (False, True) for r in (False, True))
    agree(lambda x: list(function(x)), (X,), MORE[2], axes=BT, rtol=2e-5, atol=1e-5)


def test_gather_and_scatter(agree):
    i = np.array([[2, -1, 0]])
    agree(lambda x, i: [om.gather(x, i, axis=1), om.gather(x, i, axis=2)], (X, i))
    j = np.array([[[0, 1, 2, 0]], [[-1, 0, 1, 2]]])
    agree(lambda x, j: om.take_along_axis(x, j, axis=1), (X, j))
    u = RNG.standard_normal(j.shape).astype(np.float32)
    for reduction in ("none", "add", "mul", "max", "min"):
        agree(lambda x, j, u: om.scatter(x, j, u, axis=1, reduction=reduction), (X, j, u))
    places = np.array([[1, 2], [0, -1]])
    agree(lambda x, p: om.gather_nd(x, p), (X, places))
    agree(lambda x, p: om.gather_nd(x, p, batch_dims=1), (X, places[:, None, :1].astype(np.int32)))
    agree(lambda x, p, u: om.scatter_nd(x, p, u, reduction="add"), (X, places, X[0, :2]))


def test_dynamic_slices(agree):
    starts = np.array([1, 2, 3])
    agree(lambda x, s: om.dynamic_slice(x, s, shape=(1, 2, 2)), (X, starts), (X, -starts))
    agree(lambda x, u, s: om.dynamic_update(x, u, s), (X, X[:1, :2, 1:], starts), (X, X[:1, :2, 1:], starts * 0))
    agree(lambda x, u, s: om.dynamic_update(x, u, s), (X, X[:1] * 2, starts), (X, X[:1] * 2, starts * 0))


def test_ordering(agree):
    x = np.array([[3, 1, 2, 1, 3], [0, 0, -1, 5, 5]], np.float32)
    agree(lambda x: [f(x, axis=1, descending=d) for f in (om.sort, om.argsort) for d in (False, True)], (x,), (x[:1],), axes=("n", "k"))
    agree(lambda x: [om.topk(x, k=(3,), axis=1), om.topk(x, k=(2,), axis=1, largest=False)], (x,))
    agree(lambda x: [om.nonzero(x), om.unique(x)], (x,))
    agree(lambda x: om.unique(x, axis=1, sorted=False), (x,))
    agree(lambda s, v: [om.searchsorted(s, v), om.searchsorted(s, v, right=True)], (np.array([1, 2, 2, 5.0]), x.astype(np.float64)))


def test_matrix_products(agree):
    a, b = X[:, :, :3], RNG.standard_normal((3, 5)).astype(np.float32)
    agree(lambda a, b: [a @ b, om.matmul(a, om.sum(b, axis=1)), om.matmul(om.sum(a, axis=(0, 1)), b)], (a, b))
    for dtype in (np.int8, np.int32, np.float64, np.uint64):
        agree(om.matmul, ((a * 50).astype(np.int8).astype(dtype), (b * 50).astype(np.int8).astype(dtype)))
    u, v, points = RNG.integers(0, 256, (4, 3)).astype(np.uint8), RNG.integers(-128, 128, (3, 5)).astype(np.int8), np.arange(5, dtype=np.int8)
    agree(lambda u, v, p: [om.matmul_integer(u, v), om.matmul_integer(u, v, np.uint8(7), p), om.matmul_integer(v[:, :3], v)], (u, v, points))
    w, c = RNG.standard_normal((6, 4)).astype(np.float32), RNG.standard_normal(6).astype(np.float32)
    agree(lambda x, w, c: [om.linear(x, w, c), om.linear(x, w), om.linear(om.sum(x, axis=0), w, c), om.linear(om.sum(x, axis=(0, 1)), w, c)], (X, w, c), (MORE[0][0], w, c),
          axes={"x": BT}, rtol=2e-5, atol=1e-5)


@pytest.mark.parametrize("opset", [18, 21, 23, 24])
def test_opsets(agree, opset):
    if opset > 23:
        pytest.importorskip("onnxruntime", "1.23")
    agree(lambda x: ops.softmax(ops.gelu(om.layer_norm(x, None, None)), axis=-1), (X,), axes=BT, opset=opset)


def test_dtypes_of_constants(agree):
    for dtype in dtypes.ALL:
        if dtype != dtypes.bfloat16:
            agree(lambda x: om.where(x, np.ones(1, dtype), np.zeros((2, 1), dtype)), (np.array([True, False]),))
