"""Elementwise ops: floats on a range of values, integers on the corners that ONNX leaves undefined."""
import numpy as np
import pytest

from onemlir.dialect import dtypes
from onemlir.frontend import ops
from onemlir.frontend.ops.declared import ops as om

GRID = np.array([-2.5, -1.5, -0.9, -0.5, -1e-3, -0.0, 0.0, 1e-3, 0.25, 0.5, 0.75, 1.5, 2.5, 30.0], np.float32)
INSIDE = np.linspace(-0.99, 0.99, 23, dtype=np.float32)
POSITIVE = np.array([1e-6, 0.1, 1.0, 2.0, 33.3], np.float32)
FLOATS = {
    "negative abs sign square floor ceil trunc round exp exp2 expm1 sin cos tan atan sinh tanh asinh erf erfc": np.clip(GRID, -6, 6),
    "relu relu6 leaky_relu elu selu celu gelu silu sigmoid hard_sigmoid hard_swish mish softplus softsign softmax log_softmax": GRID,
    "asin acos atanh": INSIDE, "log log2 log10 log1p sqrt rsqrt reciprocal": POSITIVE, "acosh": POSITIVE + 1, "cosh": np.clip(GRID, -6, 6),
}
SPECIAL = np.array([0.0, -0.0, np.inf, -np.inf, np.nan, 1.0, -3.5], np.float32)


@pytest.mark.parametrize("names,values", FLOATS.items())
def test_floats(agree, names, values):
    agree(lambda x: [getattr(ops, name)(x) for name in names.split()], (values,), (values[2:5],), axes=("n",), rtol=2e-5, atol=2e-6)


def test_small_results_keep_their_digits(agree):
    tiny, large = np.array([1e-7, -1e-6, 2e-5], np.float32), np.array([3.0, 5.0, 8.0], np.float32)
    agree(lambda x: [ops.expm1(x), ops.log1p(x)], (tiny,), rtol=1e-5, atol=0)
    agree(ops.erfc, (large,), rtol=2e-5, atol=0)


def test_special_values(agree):
    agree(lambda x: [ops.isnan(x), ops.isinf(x), ops.isfinite(x), ops.cast(x, np.int32), ops.cast(x * 1e30, np.int64), ops.cast(x * 300, np.int8),
                     ops.cast(x, bool)], (SPECIAL,))
    x, y = (a.ravel() for a in np.meshgrid(SPECIAL, SPECIAL))
    agree(lambda x, y: [om.atan2(x, y), om.copysign(x, y), x == y, x != y, x < y, x <= y, x > y, x >= y, ops.maximum(x, y)], (x, y))
    assert np.signbit(om.copysign(np.float32(1), np.float32(-0.0)).numpy())


FLOAT_PAIRS = ["add", "subtract", "multiply", "divide", "floor_divide", "remainder", "fmod", "trunc_divide", "pow", "maximum", "minimum", "atan2"]


def test_float_pairs(agree):
    x = np.array([5.5, -5.5, 7.0, -7.0, 0.3, 6.0], np.float32)[:, None]
    y = np.array([2.0, -2.0, 0.1, 3.5], np.float32)
    agree(lambda x, y: [getattr(om, n)(x, y) for n in FLOAT_PAIRS if n != "pow"], (x, y), (x[:1], y[:2]), axes=(("n", None), ("m",)))
    agree(lambda x, y: ops.pow(abs(x), y), (x, y))


def corners(dtype):
    info = np.iinfo(dtype)
    values = [0, 1, 2, 3, 7, info.max, info.max - 1, info.min, info.min + 1] + ([-1, -2, -3, -7] if info.min else [])
    return np.array(values, dtype)


INTEGER_PAIRS = ["floor_divide", "remainder", "fmod", "trunc_divide", "add", "multiply", "left_shift", "right_shift", "bitwise_and", "bitwise_or",
                 "bitwise_xor", "maximum", "less", "equal"]


@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int32, np.int64, np.uint32, np.uint64], ids=lambda d: np.dtype(d).name)
def test_integer_corners(agree, dtype):
    values = corners(dtype)
    x, y = (a.ravel() for a in np.meshgrid(values, np.concatenate([values, np.array([4, 31, 32, 63, 64], dtype)])))
    for name in INTEGER_PAIRS:
        agree(getattr(om, name), (x, y))
    agree(lambda x: [ops.negative(x), ops.abs(x), ops.sign(x), ops.square(x), ops.bitwise_not(x), ops.relu(x), ops.isnan(x), ops.isfinite(x)], (values,))


@pytest.mark.parametrize("dtype", [np.int32, np.int64, np.uint32], ids=lambda d: np.dtype(d).name)
def test_integer_powers(agree, dtype):
    x = corners(dtype)[:, None]
    y = np.array([0, 1, 2, 5, 31] + ([-1, -2] if np.iinfo(dtype).min else []), dtype)
    agree(om.pow, (x, y))
    agree(lambda x: [x ** 2, x ** 3, x ** 0], (x,))


def test_divisors_that_are_literals_are_written_plainly(agree):
    model = agree(lambda x: [x // 3, x % 3], (np.arange(-7, 8),))
    assert not any(node.op_type == "Where" for node in model.graph.node)


def test_bool_and_where(agree):
    a, b = np.array([True, True, False, False]), np.array([True, False, True, False])
    agree(lambda a, b: [a & b, a | b, a ^ b, ~a, ops.logical_and(a, b), ops.logical_xor(a, b), ops.logical_not(a), ops.where(a, b, ~b),
                        ops.cast(a, np.float32), a == b], (a, b))


@pytest.mark.parametrize("dtype", [dtypes.float16, dtypes.bfloat16, dtypes.float64], ids=str)
def test_other_floats(agree, dtype):
    """Written as they are, and cast where the standard does not have them: bf16 for sin."""
    x = np.array([0.5, -1.5, 2.0], dtype)
    if dtype == dtypes.bfloat16:
        import onnx

        from onemlir.dialect.onnx import to_onnx
        from .conftest import checked, recorded

        model = checked(to_onnx(recorded(lambda x: ops.sin(x) + ops.exp(x), (x,))))
        assert [n.op_type for n in model.graph.node].count("Cast") == 2
        assert model.graph.output[0].type.tensor_type.elem_type == onnx.TensorProto.BFLOAT16
        return
    agree(lambda x: [ops.cast(x * np.inf, t) for t in (np.int8, np.uint16, np.int32, np.int64)], (x,))
    agree(lambda x: [ops.exp(x), ops.sin(x), x * x, ops.sqrt(abs(x))], (x,), rtol=1e-3 if dtype.itemsize == 2 else 1e-12)
