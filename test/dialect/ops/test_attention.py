"""Attention: reference against torch and onnxruntime's formula, decomposition against the reference."""
import numpy as np
import pytest
import torch
import torch.nn.functional as F

from onemlir.errors import OnemlirError, ShapeError, TraceError
from onemlir.frontend import ops
from onemlir.frontend.tensor import tensor
from onemlir.frontend.tracer import record

RNG = np.random.default_rng(0)


def qkv(dtype="float64", batch=(2,), heads=(4, 4), length=(5, 7), width=(8, 6)):
    shapes = [(*batch, heads[0], length[0], width[0]), (*batch, heads[1], length[1], width[0]), (*batch, heads[1], length[1], width[1])]
    return [RNG.standard_normal(shape).astype(dtype) for shape in shapes]


BOOL = RNG.random((5, 7)) > 0.4
BOOL[2] = False
ADDED = np.where(RNG.random((2, 1, 5, 7)) > 0.3, RNG.standard_normal((2, 1, 5, 7)), -np.inf)
ADDED[0, 0, 1] = -np.inf
PER_HEAD = RNG.random((1, 4, 1, 7)) > 0.4

CASES = {
    "plain": ({}, {}),
    "scale": ({}, {"scale": 0.3}),
    "causal": ({}, {"is_causal": True}),
    "bool mask": ({}, {"attn_mask": BOOL}),
    "added mask": ({}, {"attn_mask": ADDED}),
    "mask per head": ({}, {"attn_mask": PER_HEAD}),
    "grouped": ({"heads": (4, 2)}, {"enable_gqa": True}),
    "grouped causal": ({"heads": (4, 1)}, {"enable_gqa": True, "is_causal": True}),
    "grouped mask": ({"heads": (4, 2)}, {"enable_gqa": True, "attn_mask": PER_HEAD}),
    "grouped mask of rank 2": ({"heads": (4, 2)}, {"enable_gqa": True, "attn_mask": BOOL}),
    "no keys": ({"length": (5, 0)}, {}),
}


def call(function, arrays, options, make):
    def operand(value):
        return make(value if value.dtype == bool else value.astype(arrays[0].dtype)) if isinstance(value, np.ndarray) else value
    return function(*map(make, arrays), **{name: operand(value) for name, value in options.items()})


@pytest.mark.parametrize("dtype, tolerance", [("float64", 1e-12), ("float32", 1e-5), ("float16", 2e-3)])
@pytest.mark.parametrize("name", CASES)
def test_equals_torch(name, dtype, tolerance):
    shapes, options = CASES[name]
    arrays = qkv(dtype, **shapes)
    got = call(ops.scaled_dot_product_attention, arrays, options, tensor)
    expected = call(F.scaled_dot_product_attention, arrays, options, torch.tensor).numpy()
    assert got.dtype == dtype
    np.testing.assert_allclose(got.numpy(), expected, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("dtype", ["float32", "float16"])
@pytest.mark.parametrize("name", CASES)
def test_decomposition(name, dtype, assert_decomposes):
    shapes, options = CASES[name]
    arrays = qkv(dtype, **shapes)
    function = lambda q, k, v: call(ops.scaled_dot_product_attention, (q, k, v), options, lambda a: a if hasattr(a, "_node") else tensor(a))
    tolerance = 1e-5 if dtype == "float32" else 2e-3
    assert_decomposes(function, arrays, rtol=tolerance, atol=tolerance)
    if options.get("attn_mask") is not ADDED:    # whose batch is fixed
        axes = {name: ("batch", None, None, None) for name in "qkv"}
        assert_decomposes(function, arrays, [a[:1] for a in arrays], axes, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("options", [{}, {"is_causal": True}])
def test_symbolic_lengths(options, assert_decomposes):
    function = lambda q, k, v: ops.scaled_dot_product_attention(q, k, v, **options)
    axes = {"q": ("batch", None, "length", None), "k": ("batch", None, "keys", None), "v": ("batch", None, "keys", None)}
    assert_decomposes(function, qkv("float32"), qkv("float32", length=(2, 3)), axes)


def test_masked_causal_is_both():
    q, k, v = qkv()
    both = ops.scaled_dot_product_attention(q, k, v, attn_mask=BOOL, is_causal=True)
    expected = F.scaled_dot_product_attention(*map(torch.tensor, (q, k, v)), attn_mask=torch.tensor(BOOL & np.tri(5, 7, dtype=bool)))
    np.testing.assert_allclose(both.numpy(), expected.numpy(), rtol=1e-12, atol=1e-12)


def test_broadcast_leading_axes():
    q, k, v = RNG.standard_normal((3, 1, 5, 4)), RNG.standard_normal((2, 6, 4)), RNG.standard_normal((2, 6, 3))
    expected = torch.softmax(torch.tensor(q) @ torch.tensor(k).mT / 2, -1) @ torch.tensor(v)
    np.testing.assert_allclose(ops.scaled_dot_product_attention(q, k, v).numpy(), expected.numpy(), rtol=1e-12)


@pytest.mark.parametrize("heads, gqa", [((4, 4), False), ((4, 2), True)])
def test_dropout_is_unbiased(heads, gqa):
    q, k, v = qkv("float32", batch=(400,), heads=heads, length=(2, 3))
    q[:], k[:], v[:] = q[:1], k[:1], v[:1]
    dropped = ops.scaled_dot_product_attention(q, k, v, dropout_p=0.5, enable_gqa=gqa).numpy()
    plain = ops.scaled_dot_product_attention(q, k, v, enable_gqa=gqa).numpy()
    assert np.abs(dropped - plain).max() > 0.1
    np.testing.assert_allclose(dropped.mean(0), plain.mean(0), atol=0.4)
    with pytest.raises(TraceError, match="dropout"):
        record(lambda q, k, v: ops.scaled_dot_product_attention(q, k, v, dropout_p=0.5, enable_gqa=gqa), [q, k, v], {}, None, "error", {})


@pytest.mark.parametrize("shapes, options, error, words", [
    ({"width": (8, 6), "q": (2, 4, 5, 7)}, {}, ShapeError, ["width", "(2, 4, 5, 7)"]),
    ({"k": (2, 4, 3, 8)}, {}, ShapeError, ["length", "(2, 4, 3, 8)"]),
    ({"heads": (4, 3)}, {"enable_gqa": True}, ShapeError, ["4 heads", "3 of key"]),
    ({}, {"attn_mask": np.ones((5, 6), bool)}, ShapeError, ["mask", "(5, 6)", "(2, 4, 5, 7)"]),
    ({}, {"attn_mask": np.ones((5, 7), int)}, OnemlirError, ["mask", "bool", "int64"]),
    ({"q": (5,)}, {}, ShapeError, ["query", "(5,)"]),
])
def test_refused(shapes, options, error, words):
    replaced = {name: shapes.pop(name) for name in "qkv" if name in (shapes := dict(shapes))}
    q, k, v = (np.ones(replaced.get(name, a.shape)) for name, a in zip("qkv", qkv(**shapes)))
    with pytest.raises(error) as caught:
        ops.scaled_dot_product_attention(q, k, v, **options)
    assert all(word in str(caught.value) for word in words), caught.value
