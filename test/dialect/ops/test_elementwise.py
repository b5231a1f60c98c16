"""Elementwise ops: references and composed functions against numpy and torch, over all dtypes."""
import math

import ml_dtypes
import numpy as np
import pytest
import torch
from hypothesis import given, settings, strategies as st
from hypothesis.extra import numpy as hnp

from onemlir.errors import DTypeError, OnemlirError, ShapeError
from onemlir.frontend import ops
from onemlir.frontend.tensor import tensor

bf16 = ml_dtypes.bfloat16
FLOATS = ["float16", "float32", "float64"]
INTEGERS = [f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)]
BINARY = {"add": np.add, "subtract": np.subtract, "multiply": np.multiply, "floor_divide": np.floor_divide, "remainder": np.remainder,
          "fmod": np.fmod,
          "maximum": np.maximum, "minimum": np.minimum, "divide": np.divide}
COMPARISONS = {"equal": np.equal, "not_equal": np.not_equal, "less": np.less, "less_equal": np.less_equal, "greater": np.greater,
               "greater_equal": np.greater_equal}
UNARY = {"negative": np.negative, "abs": np.abs, "sign": np.sign, "square": np.square}
FLOAT_UNARY = {"sqrt": np.sqrt, "exp": np.exp, "exp2": np.exp2, "expm1": np.expm1, "log": np.log, "log2": np.log2, "log10": np.log10,
               "log1p": np.log1p,
               "sin": np.sin, "cos": np.cos, "tan": np.tan, "asin": np.arcsin, "acos": np.arccos, "atan": np.arctan, "sinh": np.sinh, "cosh": np.cosh,
               "tanh": np.tanh, "asinh": np.arcsinh, "acosh": np.arccosh, "atanh": np.arctanh}
SPECIAL = [0.0, -0.0, 1.0, -1.0, 0.5, -2.5, 2.5, 7.25, -7.25, 1e-3, np.inf, -np.inf, np.nan]


def special(dtype):
    return np.array(SPECIAL).astype(dtype)


def compare(got, expected, rtol=0.0):
    expected = np.asarray(expected)
    assert got.dtype == expected.dtype and got.shape == expected.shape, (got.dtype, expected.dtype)
    np.testing.assert_allclose(got.numpy().astype(np.float64), expected.astype(np.float64), rtol=rtol)


@settings(max_examples=150, deadline=None)
@given(st.data(), st.sampled_from(["float32", "float64", *INTEGERS]), st.sampled_from(sorted(BINARY | COMPARISONS)))
def test_binary_equals_numpy(data, dtype, name):
    shapes = data.draw(hnp.mutually_broadcastable_shapes(num_shapes=2, max_dims=3, max_side=3, min_side=0)).input_shapes
    x, y = (data.draw(hnp.arrays(dtype, shape)) for shape in shapes)
    with np.errstate(all="ignore"):
        expected = (BINARY | COMPARISONS)[name](x, y)
    compare(getattr(ops, name)(tensor(x), tensor(y)), expected)


@pytest.mark.parametrize("dtype", [*FLOATS, bf16])
@pytest.mark.parametrize("name", sorted(BINARY | COMPARISONS))
def test_binary_special_values(name, dtype):
    x, y = np.meshgrid(special(dtype), special(dtype))
    got = getattr(ops, name)(tensor(x), tensor(y))
    with np.errstate(all="ignore"):
        expected = (BINARY | COMPARISONS)[name](x.astype(np.float64), y.astype(np.float64))
    if dtype == "float64" or name in COMPARISONS:
        compare(got, expected)
    else:
        assert got.dtype == dtype
        np.testing.assert_allclose(got.numpy().astype(np.float64), expected.astype(dtype).astype(np.float64), rtol=1e-2)


@pytest.mark.parametrize("dtype", [*FLOATS, bf16])
@pytest.mark.parametrize("name", FLOAT_UNARY)
def test_unary_special_values(name, dtype):
    got = getattr(ops, name)(tensor(special(dtype)))
    with np.errstate(all="ignore"):
        expected = FLOAT_UNARY[name](special(dtype).astype(np.float64)).astype(dtype)
    assert got.dtype == dtype
    rtol = {"float64": 1e-14, "float32": 1e-6, "float16": 2e-3}.get(dtype, 1.6e-2)
    np.testing.assert_allclose(got.numpy().astype(np.float64), expected.astype(np.float64), rtol=rtol, atol=1e-30)


@pytest.mark.parametrize("dtype", ["float32", *INTEGERS])
@pytest.mark.parametrize("name", UNARY)
def test_unary_extremes(name, dtype):
    values = np.array([-3, 0, 5]) if dtype == "float32" else [np.iinfo(dtype).min, 0, 1, np.iinfo(dtype).max]
    x = np.array(values, dtype)
    with np.errstate(all="ignore"):
        compare(getattr(ops, name)(tensor(x)), UNARY[name](x))


@pytest.mark.parametrize("dtype", INTEGERS)
def test_integer_division_by_zero_gives_zero(dtype):
    x, zero = np.array([np.iinfo(dtype).min, 0, 7], dtype), np.zeros(3, dtype)
    for name in ("floor_divide", "remainder", "fmod", "trunc_divide"):
        assert getattr(ops, name)(tensor(x), tensor(zero)).tolist() == [0, 0, 0]
    assert (tensor(x) // tensor(np.array(-1 % 256 if dtype[0] == "u" else -1, dtype))).dtype == dtype


@settings(max_examples=60, deadline=None)
@given(st.sampled_from(["int32", "int64", "uint8"]), st.data())
def test_truncated_division_equals_torch(dtype, data):
    x, y = (data.draw(hnp.arrays(dtype, 5, elements=st.integers(0 if dtype == "uint8" else -100, 100))) for _ in range(2))
    y = np.where(y == 0, 1, y).astype(dtype)
    expected = torch.div(torch.tensor(x), torch.tensor(y), rounding_mode="trunc").numpy()
    np.testing.assert_array_equal(ops.trunc_divide(tensor(x), tensor(y)).numpy(), expected)


@settings(max_examples=100, deadline=None)
@given(st.sampled_from([*FLOATS, *INTEGERS, "bool"]), st.sampled_from([*FLOATS, *INTEGERS, "bool"]))
def test_promotion_is_numpys(a, b):
    assert ops.where(True, tensor(np.ones(1, a)), tensor(np.ones(1, b))).dtype == np.result_type(a, b)


@pytest.mark.parametrize("dtype", ["float32", "float16", "int8", "uint8", "bool"])
def test_python_scalars_are_weak(dtype):
    x = np.ones(2, dtype)
    if dtype != "bool":
        assert (tensor(x) + 1).dtype == (x + 1).dtype
    assert (tensor(x) * 2.5).dtype == (np.float64 if dtype == "bool" else (x * 2.5).dtype) or dtype == "bool"
    assert (2.5 * tensor(np.ones(2, "float16"))).dtype == np.float16


@pytest.mark.parametrize("name", ["floor", "ceil", "trunc", "round"])
@pytest.mark.parametrize("dtype", ["float32", "float16", bf16, "int8", "uint64", "bool"])
def test_rounding(name, dtype):
    x = np.array([-2.5, -0.5, 0.0, 0.5, 1.5, 2.5]) if dtype not in ("uint64", "bool") else np.array([0, 1, 3])
    x = x.astype(dtype)
    got = getattr(ops, name)(tensor(x))
    expected = x if x.dtype.kind in "iub" else getattr(np, name)(x.astype(np.float64))
    assert got.dtype == dtype
    np.testing.assert_array_equal(got.numpy().astype(np.float64), expected.astype(np.float64))


def test_round_decimals():
    x = np.array([1.234, -5.678, 1250.0])
    for decimals in (2, 0, -2):
        np.testing.assert_allclose(ops.round(tensor(x), decimals).numpy(), np.round(x, decimals))
    with pytest.raises(OnemlirError, match="decimals"):
        ops.round(tensor([1, 2]), -1)


@pytest.mark.parametrize("name", ["logical_and", "logical_or", "logical_xor"])
def test_logic_takes_numbers(name):
    x, y = np.array([0, 2, -1, 0]), np.array([np.nan, 0.0, 1.5, 0.0])
    compare(getattr(ops, name)(tensor(x), tensor(y)), getattr(np, name)(x, y))
    compare(ops.logical_not(tensor(y)), np.logical_not(y))


def test_bit_operators_on_bool():
    a, b = np.array([True, True, False, False]), np.array([True, False, True, False])
    x, y = tensor(a), tensor(b)
    for got, expected in ((x & y, a & b), (x | y, a | b), (x ^ y, a ^ b), (~x, ~a)):
        compare(got, expected)
    assert (tensor([6]) & 3).tolist() == [2] and (~tensor(np.array([1], np.uint8))).tolist() == [254]


@settings(max_examples=60, deadline=None)
@given(st.sampled_from(INTEGERS), st.data())
def test_shifts(dtype, data):
    x = data.draw(hnp.arrays(dtype, 3))
    bits = x.dtype.itemsize * 8
    y = data.draw(hnp.arrays(dtype, 3, elements=st.integers(0 if dtype[0] == "u" else -2, bits + 2)))
    wrap = lambda v: np.array(v % 2**bits, f"uint{bits}").astype(dtype)
    left = [wrap(int(a) << int(b)) if 0 <= b < bits else 0 for a, b in zip(x, y)]
    right = [int(a) >> int(b) if 0 <= b < bits else -int(a < 0) for a, b in zip(x, y)]
    np.testing.assert_array_equal(ops.left_shift(tensor(x), tensor(y)).numpy(), np.array(left, dtype))
    np.testing.assert_array_equal(ops.right_shift(tensor(x), tensor(y)).numpy(), np.array(right, dtype))


@settings(max_examples=80, deadline=None)
@given(hnp.arrays("float64", 4), hnp.arrays("float64", 4))
def test_copysign_and_signbit(x, y):
    got = ops.copysign(tensor(x), tensor(y)).numpy()
    np.testing.assert_array_equal(np.signbit(got), np.signbit(y))
    np.testing.assert_array_equal(np.abs(got), np.abs(x))
    np.testing.assert_array_equal(ops.signbit(tensor(y)).numpy(), np.signbit(y))


@settings(max_examples=80, deadline=None)
@given(hnp.arrays("float64", 6, elements=st.floats(-1e300, 1e300) | st.sampled_from(SPECIAL)),
       hnp.arrays("float64", 6, elements=st.floats(-1e300, 1e300) | st.sampled_from(SPECIAL)))
def test_composed_binary_equals_numpy(x, y):
    with np.errstate(all="ignore"):
        for name in ("hypot", "logaddexp"):
            np.testing.assert_allclose(getattr(ops, name)(tensor(x), tensor(y)).numpy(), getattr(np, name)(x, y), rtol=1e-14, atol=1e-300)
        for options in ({}, {"equal_nan": True}, {"rtol": 0.5, "atol": 2.0}):
            np.testing.assert_array_equal(ops.isclose(tensor(x), tensor(y), **options).numpy(), np.isclose(x, y, **options))


@settings(max_examples=80, deadline=None)
@given(hnp.arrays("float64", 6, elements=st.floats(-1e300, 1e300) | st.sampled_from(SPECIAL)))
def test_composed_unary_equals_numpy(x):
    np.testing.assert_allclose(ops.cbrt(tensor(x)).numpy(), np.cbrt(x), rtol=1e-14)
    np.testing.assert_array_equal(ops.nan_to_num(tensor(x)).numpy(), np.nan_to_num(x))
    np.testing.assert_array_equal(ops.nan_to_num(tensor(x), 1.0, 2.0, 3.0).numpy(), np.nan_to_num(x, nan=1.0, posinf=2.0, neginf=3.0))
    for name in ("isposinf", "isneginf", "isnan", "isinf", "isfinite"):
        np.testing.assert_array_equal(getattr(ops, name)(tensor(x)).numpy(), getattr(np, name)(x))


@pytest.mark.parametrize("bounds", [(-1, 2), (None, 2), (-1.5, None), (2, -1), (None, None), (np.array([[0], [1]]), 3)])
@pytest.mark.parametrize("dtype", ["float32", "int8"])
def test_clip(bounds, dtype):
    x = np.array([[-5, -1, 0, 2, 9]] * 2).astype(dtype)
    bounds = tuple(b.astype(dtype) if isinstance(b, np.ndarray) else b for b in bounds)
    expected = x if bounds[0] is bounds[1] is None else np.clip(x, *bounds)
    np.testing.assert_array_equal(ops.clip(tensor(x), *bounds).numpy(), expected)
    np.testing.assert_array_equal(tensor(x).clamp(*bounds).numpy(), expected)


def test_error_functions():
    x = np.linspace(-6, 6, 49)
    np.testing.assert_allclose(ops.erf(tensor(x)).numpy(), [math.erf(v) for v in x], rtol=1e-15)
    np.testing.assert_allclose(ops.erfc(tensor(x)).numpy(), [math.erfc(v) for v in x], rtol=1e-15)
    np.testing.assert_allclose(ops.logit(tensor([0.0, 0.3, 1.0]), eps=0.1).numpy(),
                               torch.logit(torch.tensor([0.0, 0.3, 1.0]), eps=0.1).numpy(), rtol=1e-6)


@pytest.mark.parametrize("call, error, words", [
    (lambda x: ops.add(x, np.ones(3)), ShapeError, ["add", "(2,)", "(3,)"]),
    (lambda x: ops.bitwise_and(x, 1), DTypeError, ["bitwise_and", "'x'", "integer", "float32"]),
    (lambda x: ops.left_shift(x, 1), DTypeError, ["left_shift", "integer", "float32"]),
    (lambda x: ops.add(x.astype(bool), True), DTypeError, ["add", "numeric", "bool"]),
    (lambda x: ops.where(x, 1, 2), DTypeError, ["where", "'condition'", "bool", "float32"]),
])
def test_refused(call, error, words):
    with pytest.raises(error) as caught:
        call(tensor(np.ones(2, np.float32)))
    assert all(word in str(caught.value) for word in words), caught.value
