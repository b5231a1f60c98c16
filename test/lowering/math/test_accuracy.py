"""Every function against its stated error: f32 against numpy in f64, f64 against mpmath, special values against numpy."""

import math

import ml_dtypes
import numpy as np
import pytest
from mpmath import mp

from onemlir.lowering.math import ULP

BINARY = ("math.atan2", "math.powf")
NARROW = ("math.exp", "math.log", "math.tanh", "math.sin", "math.erf", "math.powf", "sigmoid")
EXPONENTIAL = ("exp", "exp2", "expm1", "sinh", "cosh", "tanh", "erf", "erfc", "sigmoid", "softplus")
EVERY = sorted(ULP)
SPECIAL = [0.0, -0.0, 1.0, -1.0, np.inf, -np.inf, np.nan, 0.5, -0.5, 2.0, -2.0, 1.5, -1.5, 3.0, -3.0, 4.0, 5.0, 1e30, 1e-30, -1e30]

NUMPY = {
    "acos": np.arccos, "acosh": np.arccosh, "asin": np.arcsin, "asinh": np.arcsinh, "atan": np.arctan, "atan2": np.arctan2,
    "atanh": np.arctanh, "erf": np.vectorize(math.erf, otypes=[np.float64]), "erfc": np.vectorize(math.erfc, otypes=[np.float64]),
    "powf": np.power, "rsqrt": lambda x: 1 / np.sqrt(x), "sigmoid": lambda x: np.where(x < 0, np.exp(x), 1) / (1 + np.exp(-abs(x))),
    "sincos": np.sin, "softplus": lambda x: np.logaddexp(x, 0.0),
}
MPMATH = {
    "exp2": lambda x: mp.mpf(2) ** x, "log2": lambda x: mp.log(x, 2), "powf": lambda x, y: mp.mpf(x) ** y,
    "rsqrt": lambda x: 1 / mp.sqrt(x), "sigmoid": lambda x: 1 / (1 + mp.exp(-x)), "sincos": mp.sin,
    "cbrt": lambda x: mp.sign(x) * mp.cbrt(abs(x)), "softplus": lambda x: mp.log1p(mp.exp(x)),
}


def numpy_reference(name, *operands):
    short = name.split(".")[-1]
    function = NUMPY.get(short) or getattr(np, short)
    with np.errstate(all="ignore"):
        return function(*(x.astype(np.float64) for x in operands))


def spacing(values, digits, smallest):
    """The unit in the last place at each value, for a format of so many digits."""
    exponents = np.frexp(values)[1] - digits
    return np.ldexp(1.0, np.maximum(exponents, smallest))


def points(name, dtype, count):
    """Random bits (so all exponents), ranges around the origin, and random powers of ten."""
    rng = np.random.default_rng(len(name))
    info = np.finfo(dtype)
    bits = rng.integers(0, 2**info.bits, count, dtype=f"u{info.bits // 8}", endpoint=False).view(dtype)
    ranges = [rng.uniform(-span, span, count).astype(dtype) for span in (1, 4, 30, 750)]
    near_one = rng.uniform(0.5, 2, count).astype(dtype)
    edges = np.array([info.max, -info.max, info.tiny, -info.tiny, info.smallest_subnormal, 1 - info.eps, 1 + info.eps], dtype)
    return np.concatenate([bits, *ranges, near_one, edges])


def operands_of(name, dtype, count):
    x = points(name, dtype, count)
    if name not in BINARY:
        return (x,)
    order = np.random.default_rng(7).permutation(x.size)
    moderate = np.random.default_rng(8).uniform(0.01, 8, x.size).astype(dtype)
    return np.concatenate([x, moderate]), np.concatenate([x[order], np.random.default_rng(9).uniform(-60, 60, x.size).astype(dtype)])


def assert_same_kind(got, expected, operands):
    """NaN, infinities and signed zeros are where they should be."""
    where = [str(operand) for operand in operands]
    np.testing.assert_array_equal(np.isnan(got), np.isnan(expected), err_msg=str(where))
    infinite = np.isinf(expected)
    np.testing.assert_array_equal(got[infinite], expected[infinite])
    zero = (expected == 0) & (got == 0)
    np.testing.assert_array_equal(np.signbit(got[zero]), np.signbit(expected[zero]))


@pytest.mark.parametrize("name", EVERY)
def test_f32(compiled, name):
    operands = operands_of(name, np.float32, 3500)
    got, exact = compiled(name, *operands), numpy_reference(name, *operands)
    with np.errstate(all="ignore"):
        rounded = exact.astype(np.float32)
    finite = np.isfinite(rounded)
    assert_same_kind(got, np.where(finite, exact, rounded), operands)
    errors = abs(got[finite].astype(np.float64) - exact[finite]) / spacing(exact[finite], 24, -149)
    worst = errors.argmax()
    assert errors[worst] <= ULP[name][32], [operand[finite][worst] for operand in operands]


@pytest.mark.parametrize("name", EVERY)
def test_f64(compiled, name):
    operands = operands_of(name, np.float64, 60)
    got = compiled(name, *operands)
    short = name.split(".")[-1]
    function = MPMATH.get(short) or getattr(mp, short)
    with mp.workprec(200):
        for value, *arguments in zip(got, *operands):
            if all(map(math.isfinite, arguments)) and not _too_large_for_mpmath(short, arguments):
                _assert_close(float(value), function(*map(mp.mpf, arguments.copy())), ULP[name][64], arguments)


def _too_large_for_mpmath(short, arguments):
    """Beyond any f64 result: the test of special values covers these."""
    if short == "powf":
        return arguments[0] == 0 or abs(mp.mpf(arguments[1]) * mp.log(abs(arguments[0]))) > 1e4
    return short in EXPONENTIAL and abs(arguments[0]) > 1e4


def _assert_close(value, exact, bound, arguments):
    if isinstance(exact, mp.mpc) or mp.isnan(exact):
        assert math.isnan(value), arguments
    elif abs(exact) >= mp.mpf(2) ** 1024 * (1 - mp.mpf(2) ** -54):
        assert math.isinf(value) and (value > 0) == (exact > 0), arguments
    else:
        exponent = max(int(mp.frexp(exact)[1]) - 53, -1074) if exact else -1074
        assert abs(mp.mpf(value) - exact) <= bound * mp.mpf(2) ** exponent, (arguments, value)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("name", EVERY)
def test_special_values(compiled, name, dtype):
    special = np.array(SPECIAL, dtype)
    operands = [grid.ravel() for grid in np.meshgrid(special, special)] if name in BINARY else [special]
    operands = [np.ascontiguousarray(operand) for operand in operands]
    with np.errstate(all="ignore"):
        expected = numpy_reference(name, *operands).astype(dtype)
    got = compiled(name, *operands)
    assert_same_kind(got, expected, operands)
    np.testing.assert_allclose(got, expected, rtol=5 * np.finfo(dtype).eps, atol=5 * np.finfo(dtype).smallest_subnormal)


@pytest.mark.parametrize("dtype, digits, smallest", [(np.float16, 11, -24), (ml_dtypes.bfloat16, 8, -133)])
@pytest.mark.parametrize("name", NARROW)
def test_every_value_of_16_bits(compiled, name, dtype, digits, smallest):
    x = np.arange(2**16, dtype=np.uint16).view(dtype)
    operands = (x, x[::-1].copy()) if name in BINARY else (x,)
    exact = numpy_reference(name, *operands)
    with np.errstate(all="ignore"):
        rounded = exact.astype(dtype).astype(np.float64)
    got = compiled(name, *operands).astype(np.float64)
    finite = np.isfinite(rounded) & np.isfinite(exact)
    assert_same_kind(got, np.where(finite, exact, rounded), operands)
    errors = abs(got[finite] - exact[finite]) / spacing(exact[finite], digits, smallest)
    assert errors.max() <= 0.51


@pytest.mark.parametrize("x", [1e5, 1e22, 2.0**120, 6.2831853, 1.5707964, 3.1415927, 21999384576.0, 16367173 * 2.0**72])
@pytest.mark.parametrize("name", ["math.sin", "math.cos", "math.tan"])
def test_large_and_nearly_vanishing_angles(compiled, name, x):
    """21999384576 is where the f32 reduction does worst (a sweep over all f32); 16367173 * 2**72 is as near to k pi/2."""
    x = np.array([x, -x], np.float32)
    with mp.workprec(300):
        exact = np.array([float(getattr(mp, name[5:])(mp.mpf(float(v)))) for v in x])
    assert (abs(compiled(name, x) - exact) / spacing(exact, 24, -149)).max() <= ULP[name][32]
    assert (abs(compiled(name, x.astype(np.float64)) - exact) / spacing(exact, 53, -1074)).max() <= ULP[name][64] + 0.5


@pytest.mark.parametrize("x", [6381956970095103 * 2.0**797, 1e308, 5e-324, 2.0**1023, np.pi, np.pi / 2])
def test_hard_f64_angles(compiled, x):
    """The first is the f64 that comes closest to a multiple of pi/2 (Kahan; Muller 2006)."""
    with mp.workprec(1400):
        for name in ("math.sin", "math.cos", "math.tan"):
            value = float(compiled(name, np.array([x]))[0])
            _assert_close(value, getattr(mp, name[5:])(mp.mpf(x)), ULP[name][64], [x])
