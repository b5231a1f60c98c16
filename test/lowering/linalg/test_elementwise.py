"""Elementwise ops, compiled, against numpy over dtypes, special values, broadcasting and sizes known at run time only."""
import ml_dtypes
import numpy as np
import pytest

FLOATS = (np.float32, np.float64, np.float16, ml_dtypes.bfloat16)
INTEGERS = (np.int8, np.uint8, np.int32, np.uint32, np.int64, np.uint64)
SPECIAL = [0.0, -0.0, 1.0, -1.0, 0.5, -2.5, 3.5, 7.0, np.inf, -np.inf, np.nan]
ARITHMETIC = ("add", "subtract", "multiply", "maximum", "minimum", "floor_divide", "remainder", "fmod", "trunc_divide")
COMPARISONS = ("equal", "not_equal", "less", "less_equal", "greater", "greater_equal")
ROUNDING = ("floor", "ceil", "trunc", "round", "sqrt", "reciprocal", "abs", "sign", "negative", "square", "isnan", "isinf", "isfinite")
FUNCTIONS = ("exp", "expm1", "log", "log1p", "sin", "cos", "tanh", "erf", "erfc", "atan", "sinh", "asinh", "relu", "sigmoid", "rsqrt")


def edges(dtype) -> np.ndarray:
    """Numbers at which integer arithmetic goes wrong."""
    info = np.iinfo(dtype)
    numbers = {0, 1, 2, 3, 7, info.max, info.max - 1, info.min, info.min + 1, max(info.min, -1), max(info.min, -3)}
    return np.array(sorted(numbers), dtype)


def pairs(values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    x, y = np.meshgrid(values, values)
    return np.ascontiguousarray(x.reshape(-1)), np.ascontiguousarray(y.reshape(-1))


@pytest.mark.parametrize("dtype", FLOATS, ids=lambda d: np.dtype(d).name)
def test_float_arithmetic(agrees, dtype):
    x, y = pairs(np.array(SPECIAL, dtype))

    def build(ops, x, y):
        return [getattr(ops, name)(x, y) for name in (*ARITHMETIC, "divide", "copysign", *COMPARISONS)]
    agrees(build, x, y, axes=[("n",), ("n",)], scale=2)


@pytest.mark.parametrize("dtype", INTEGERS, ids=lambda d: np.dtype(d).name)
def test_integer_arithmetic(agrees, dtype):
    x, y = pairs(edges(dtype))
    names = [*ARITHMETIC, *COMPARISONS, "bitwise_and", "bitwise_or", "bitwise_xor"]

    def build(ops, x, y):
        return [getattr(ops, name)(x, y) for name in names] + [ops.bitwise_not(x), ops.abs(x), ops.sign(x), ops.negative(x), ops.square(x)]
    agrees(build, x, y)


@pytest.mark.parametrize("dtype", (np.int8, np.uint8, np.int32, np.int64), ids=lambda d: np.dtype(d).name)
def test_shifts_and_powers(agrees, dtype):
    x, y = pairs(np.array([0, 1, 2, 3, 7, 8, 31, 63, 100, *([-1, -5] if np.iinfo(dtype).min else [])]).astype(dtype))
    agrees(lambda ops, x, y: (ops.left_shift(x, y), ops.right_shift(x, y), ops.pow(x, y)), x, y)


@pytest.mark.parametrize("dtype", FLOATS, ids=lambda d: np.dtype(d).name)
def test_unary(agrees, dtype):
    x = np.array([*SPECIAL, 1e-3, 20.0, -20.0, 0.1], dtype)
    agrees(lambda ops, x: [getattr(ops, name)(x) for name in (*ROUNDING, *FUNCTIONS)], x, axes=[("n",)], more=[(x[:0],), (x[:1],)], scale=8)


def test_casts(agrees):
    """Out of range: saturate from floats, wrap from integers; NaN gives 0."""
    x = np.array([0.0, -1.5, 1.5, 127.9, 128.0, -129.0, 255.5, 3e9, -3e9, 1e20, np.inf, -np.inf, np.nan], np.float32)
    i = np.array([0, 1, -1, 127, 128, -129, 255, 2**31, 2**40 + 5], np.int64)
    targets = [np.dtype(t) for t in (*INTEGERS, *FLOATS, bool)]

    def build(ops, x, i):
        return [ops.cast(v, dtype=t) for v in (x, i) for t in targets if t != v.dtype]
    agrees(build, x, i)


def test_casts_of_wide_numbers_round_once(compiled, rng):
    """Halfway between two neighbours of f16, and next to it; numpy's astype judges."""
    low = rng.integers(0, 2**16 - 1, 500, np.uint16)
    low = low[np.isfinite(low.view(np.float16)) & np.isfinite((low + 1).astype(np.uint16).view(np.float16))]
    halves = (low.view(np.float16).astype(np.float64) + (low + 1).astype(np.uint16).view(np.float16)) / 2
    x = np.concatenate([np.nextafter(halves, end) for end in (-np.inf, np.inf)] + [halves, [np.inf, -np.inf, np.nan, 65520, 65519.999999999, 1e300]])
    run = compiled(lambda ops, x: ops.cast(x, dtype=np.float16), x)
    with np.errstate(all="ignore"):
        np.testing.assert_array_equal(run(x)[0], x.astype(np.float16))


def test_bool(agrees):
    x, y = pairs(np.array([False, True]))
    f = np.array([1.0, np.nan, 3.0, -0.0], np.float32)

    def build(ops, x, y, f):
        return (ops.logical_and(x, y), ops.logical_or(x, y), ops.logical_xor(x, y), ops.logical_not(x), ops.equal(x, y), ops.where(x, f, 2.0),
                ops.where(y, x, y), ops.cast(x, dtype=np.float16), ops.cast(f, dtype=bool))
    agrees(build, x, y, f)


def test_broadcasting(agrees, rng):
    """Static ones, new leading axes, rank 0, and axes that may be 1 at run time."""
    x, y, z = (rng.standard_normal(s).astype(np.float32) for s in ((4, 1, 3), (5, 1), ()))

    def build(ops, x, y, z):
        return ops.add(x, y), ops.multiply(ops.subtract(y, z), x), ops.where(ops.less(x, 0.0), y, z)
    agrees(build, x, y, z)
    more = [tuple(rng.standard_normal(s).astype(np.float32) for s in shapes) for shapes in
            (((1, 1, 3), (1, 1), ()), ((2, 6, 3), (1, 3), ()), ((2, 1, 3), (7, 3), ()), ((0, 1, 3), (2, 3), ()))]
    agrees(build, x, y, z, axes=[("a", "b", None), ("c", "d")], more=more)


def test_empty_and_rank_0(agrees):
    agrees(lambda ops, x, y: (ops.add(x, x), ops.exp(y)), np.zeros((3, 0), np.float32), np.float32(2.0).reshape(()))
