"""Reductions: references against numpy and torch, decompositions against references."""
import warnings

import ml_dtypes
import numpy as np
import pytest
import torch
from hypothesis import given, settings, strategies as st
from hypothesis.extra import numpy as hnp

from onemlir.dialect.interpreter import Interpreter
from onemlir.errors import OnemlirError, ShapeError
from onemlir.frontend import ops
from onemlir.frontend.tensor import tensor
from onemlir.frontend.tracer import record

bf16 = ml_dtypes.bfloat16
INTEGERS = [f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)]
NUMPY = {"sum": np.sum, "prod": np.prod, "max": np.max, "min": np.min, "mean": np.mean, "var": np.var, "std": np.std, "any": np.any,
         "all": np.all,
         "count_nonzero": np.count_nonzero}
SUMS = ("sum", "prod", "mean", "var", "std", "any", "all", "count_nonzero")


@st.composite
def arrays_and_axes(draw, dtypes, least=0):
    shape = draw(hnp.array_shapes(min_dims=0, max_dims=3, min_side=least, max_side=4))
    x = draw(hnp.arrays("int64", shape, elements=st.integers(0, 5))).astype(draw(st.sampled_from(dtypes)))
    axes = draw(st.none() | st.sets(st.integers(0, len(shape) - 1)).map(tuple)) if shape else draw(st.sampled_from([None, ()]))
    return x - x.dtype.type(2) if x.dtype.kind == "f" else x, axes, draw(st.booleans())


@settings(max_examples=150, deadline=None)
@given(arrays_and_axes(["float32", "float64", "bool", *INTEGERS]), st.sampled_from(SUMS))
def test_equals_numpy(case, name):
    x, axes, keepdims = case
    got = getattr(ops, name)(tensor(x), axis=axes, keepdims=keepdims)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        expected = np.asarray(NUMPY[name](x, axis=axes, keepdims=keepdims))
    assert got.dtype == expected.dtype and got.shape == expected.shape
    np.testing.assert_allclose(got.numpy(), expected, rtol=2e-6, atol=1e-6)


@settings(max_examples=80, deadline=None)
@given(arrays_and_axes(["float32", *INTEGERS], least=1), st.sampled_from(["max", "min"]))
def test_extremes_equal_numpy(case, name):
    x, axes, keepdims = case
    got = getattr(ops, name)(tensor(x), axis=axes, keepdims=keepdims)
    expected = np.asarray(NUMPY[name](x, axis=axes, keepdims=keepdims))
    assert got.dtype == expected.dtype and got.shape == expected.shape
    np.testing.assert_array_equal(got.numpy(), expected)


@pytest.mark.parametrize("name", ["max", "min", "sum", "prod", "mean", "argmax", "argmin", "any", "all", "logsumexp", "norm"])
@pytest.mark.parametrize("values", [[1, np.nan, 3], [np.nan, np.nan, 1], [np.inf, 1, -np.inf], [-np.inf, -np.inf], [np.inf, np.inf, 1],
                                    [-0.0, 0.0]])
@pytest.mark.parametrize("dtype", ["float32", "float16", bf16])
def test_special_values(name, values, dtype):
    x = np.array(values).astype(dtype)
    theirs = {"logsumexp": lambda a: torch.logsumexp(torch.tensor(a), 0).numpy(), "norm": np.linalg.norm}
    with np.errstate(all="ignore"):
        expected = theirs.get(name, getattr(np, name, None))(x.astype(np.float64))
    np.testing.assert_allclose(getattr(ops, name)(tensor(x)).numpy().astype(np.float64), expected, rtol=3e-3)


@pytest.mark.parametrize("dtype", ["float16", bf16])
def test_half_precision_accumulates_in_single(dtype):
    x = np.full(3000, 0.1).astype(dtype)
    exact = x.astype(np.float64)
    assert ops.sum(tensor(x)).dtype == dtype
    np.testing.assert_allclose(float(ops.sum(tensor(x))), exact.sum(), rtol=1e-2 if dtype == bf16 else 1e-3)
    np.testing.assert_allclose(float(ops.mean(tensor(x))), exact.mean(), rtol=1e-2 if dtype == bf16 else 1e-3)
    np.testing.assert_allclose(float(ops.cumsum(tensor(x))[2999]), exact.sum(), rtol=1e-2 if dtype == bf16 else 1e-3)


@pytest.mark.filterwarnings("ignore:.*degrees of freedom")
@pytest.mark.parametrize("correction", [0, 1, 2.5, 4, 9])
@pytest.mark.parametrize("axis", [None, 1, (0, 2), -1])
def test_variance_equals_torch(correction, axis):
    x = np.random.default_rng(0).standard_normal((3, 4, 2)) + 100
    for ours, theirs in ((ops.var, torch.var), (ops.std, torch.std)):
        expected = theirs(torch.tensor(x), dim=axis, correction=correction, keepdim=True).numpy()
        np.testing.assert_allclose(ours(tensor(x), axis=axis, correction=correction, keepdims=True).numpy(), expected, rtol=1e-12)


@pytest.mark.parametrize("ord", [0, 1, 2, 3, 0.5, -1, np.inf, -np.inf])
@pytest.mark.parametrize("axis", [None, 1, (0, 1)])
def test_norm_equals_torch(ord, axis):
    x = np.random.default_rng(0).standard_normal((3, 4, 2))
    x[0, 0] = 0
    expected = torch.linalg.vector_norm(torch.tensor(x), ord=ord, dim=axis).numpy()
    np.testing.assert_allclose(ops.norm(tensor(x), ord, axis=axis).numpy(), expected, rtol=1e-12)


@pytest.mark.parametrize("p, axis", [(2, 1), (1, 0), (3, -1), (np.inf, 1)])
def test_normalize_equals_torch(p, axis):
    x = np.random.default_rng(0).standard_normal((3, 4, 2)).astype(np.float32)
    x[:, :, 0] = 0
    expected = torch.nn.functional.normalize(torch.tensor(x), p=p, dim=axis).numpy()
    np.testing.assert_allclose(ops.normalize(tensor(x), p=p, axis=axis).numpy(), expected, rtol=1e-6)


@settings(max_examples=80, deadline=None)
@given(hnp.arrays("float32", hnp.array_shapes(max_dims=3, max_side=4), elements=st.sampled_from([0.0, 1.0, 2.0, np.nan, np.inf, -np.inf])),
       st.data())
def test_positions_equal_numpy(x, data):
    axis = data.draw(st.none() | st.integers(-x.ndim, x.ndim - 1))
    keepdims = data.draw(st.booleans())
    for ours, theirs in ((ops.argmax, np.argmax), (ops.argmin, np.argmin)):
        got = ours(tensor(x), axis=axis, keepdims=keepdims)
        assert got.dtype == np.int64
        np.testing.assert_array_equal(got.numpy(), theirs(x, axis=axis, keepdims=keepdims))


@pytest.mark.parametrize("exclusive", [False, True])
@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("shape, axis", [((3, 4), 0), ((3, 4), -1), ((1,), 0), ((0, 2), 0), ((2, 0), 0)])
@pytest.mark.parametrize("dtype", ["float32", "int8", "bool"])
def test_running_sum_equals_onnx(exclusive, reverse, shape, axis, dtype):
    """By the formula of ONNX's CumSum, element by element."""
    x = np.random.default_rng(0).integers(0, 9, shape).astype(dtype)
    for ours, start, join in ((ops.cumsum, 0, np.add), (ops.cumprod, 1, np.multiply)):
        got = ours(tensor(x), axis=axis, exclusive=exclusive, reverse=reverse)
        plain = {np.add: np.cumsum, np.multiply: np.cumprod}[join]
        expected = np.empty(shape, plain(x, axis).dtype)
        rows, out = np.moveaxis(x, axis, 0), np.moveaxis(expected, axis, 0)
        for i in range(len(rows)):
            inside = rows[i + exclusive:] if reverse else rows[:i + 1 - exclusive]
            out[i] = join.reduce(inside.astype(expected.dtype), axis=0, initial=start)
        assert got.dtype == expected.dtype
        np.testing.assert_array_equal(got.numpy(), expected)


def test_flat_accumulation_and_dtype():
    x = np.arange(6, dtype=np.int8).reshape(2, 3)
    np.testing.assert_array_equal(ops.cumsum(tensor(x)).numpy(), np.cumsum(x))
    assert ops.sum(tensor(x), dtype="float32").dtype == np.float32
    assert ops.cumsum(tensor(x), dtype="int32").dtype == np.int32
    assert int(ops.sum(tensor(np.array([300, 1])), dtype="int8")) == 45
    assert tensor(x).max(axis=1).tolist() == [2, 5] and tensor(x).sum().tolist() == 15


DECOMPOSED = {
    "mean": ops.mean, "var": ops.var, "std": ops.std, "logsumexp": ops.logsumexp, "norm": ops.norm,
    "var 1": lambda x, **k: ops.var(x, correction=1, **k), "std 2.5": lambda x, **k: ops.std(x, correction=2.5, **k),
    "norm 0": lambda x, **k: ops.norm(x, 0, **k), "norm 1": lambda x, **k: ops.norm(x, 1, **k),
    "norm 3": lambda x, **k: ops.norm(x, 3, **k),
    "norm inf": lambda x, **k: ops.norm(x, np.inf, **k), "norm -inf": lambda x, **k: ops.norm(x, -np.inf, **k),
}


@pytest.mark.parametrize("dtype", ["float32", "float16", bf16, "int32"])
@pytest.mark.parametrize("axis, keepdims", [(None, False), (1, True), ((0, 2), False), ((), False)])
@pytest.mark.parametrize("name", DECOMPOSED)
def test_decomposition(name, axis, keepdims, dtype, assert_decomposes):
    x = (np.random.default_rng(0).standard_normal((3, 4, 2)) * 3).astype(dtype)
    tolerance = {"float16": 1e-3, bf16: 8e-3}.get(dtype, 1e-5)
    function = lambda x: DECOMPOSED[name](x, axis=axis, keepdims=keepdims)
    assert_decomposes(function, [x], rtol=tolerance, atol=tolerance)
    assert_decomposes(function, [x], [x[:2, :1]], ("a", "b", None), rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("shape", [(0, 3), (3, 0), (1, 1)])
@pytest.mark.parametrize("name", ["mean", "var", "var 1", "std", "logsumexp", "norm", "norm 0", "norm 3"])
def test_decomposition_of_empty_axes(name, shape, assert_decomposes):
    x = np.full(shape, -np.inf if name == "logsumexp" else 2, np.float32)
    for axis in (None, 0, 1):
        function = lambda x: DECOMPOSED[name](x, axis=axis)
        assert_decomposes(function, [x])
        assert_decomposes(function, [x], [np.ones((2, 2), np.float32)], ("a", "b"))


def test_an_axis_that_may_be_empty_is_guarded():
    program = record(lambda x: ops.max(x, axis=0), [np.ones((2, 3), np.float32)], {}, ("rows", None), "error", {}).program
    run = lambda x: Interpreter(program.weights).run(program.main, [x])[0]
    assert run(np.eye(3, dtype=np.float32)).tolist() == [1, 1, 1]
    with pytest.raises(ShapeError, match="max over axis 0.*empty.*test_reduction"):
        run(np.ones((0, 3), np.float32))


@pytest.mark.parametrize("call, error, words", [
    (lambda x: ops.max(x, axis=1), ShapeError, ["max", "axis 1", "(2, 0)"]),
    (lambda x: ops.argmin(x, axis=1), ShapeError, ["argmin", "(2, 0)"]),
    (lambda x: ops.argmax(x), ShapeError, ["argmax", "(0,)"]),
    (lambda x: ops.norm(x, np.inf), ShapeError, ["norm", "(2, 0)"]),
    (lambda x: ops.sum(x, axis=2), ShapeError, ["axis 2", "rank 2"]),
    (lambda x: ops.sum(x, axis=(0, -2)), ShapeError, ["twice"]),
    (lambda x: ops.cumsum(x, axis=-3), ShapeError, ["axis -3", "rank 2"]),
    (lambda x: ops.max(x.astype(bool)), OnemlirError, ["max", "'x'", "bool"]),
])
def test_refused(call, error, words):
    with pytest.raises(error) as caught:
        call(tensor(np.ones((2, 0), np.float32)))
    assert all(word in str(caught.value) for word in words), caught.value
