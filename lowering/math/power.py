"""powf, fpowi, ipowi, cbrt and rsqrt.

pow: 2**(y log2 |x|). In f32 all of it is computed in f64, where one word is enough. In f64 log2 |x| and its product with
y are sums of two floats: with s = f / (2 + f), log m = s (2 + s*s (2/3 + s*s R(s*s))) for m in [sqrt(1/2), sqrt(2)), and
all but R (`POW` of `fit.py`) is in two words (the double-double arithmetic of Dekker, 1971).
"""

from __future__ import annotations

from math import inf, nan

from . import coefficients
from .expansion import expansion
from .exponential import power_of_two, scaled
from .expression import F64, Expr, at_least, at_most, choose, polynomial, rounded_product, select
from .logarithm import BASE_2, exponent_and_bits, logarithm_of_ratio, normalized

Pair = tuple[Expr, Expr]


def _fast_sum(big: Expr, small: Expr) -> Pair:
    """big + small and its error where |big| >= |small|."""
    total = big + small
    return total, small - (total - big)


def _product(x: Pair, y: Pair) -> Pair:
    high, error = rounded_product(x[0], y[0])
    return _fast_sum(high, x[0].fma(y[1], x[1].fma(y[0], error)))


def _log2_pair(x: Expr) -> Pair:
    """log2 x for finite x > 0 with about 65 good bits."""
    x, extra = normalized(x)
    k, power = exponent_and_bits(x, 0.7071067811865476)
    f = (x.as_bits() - power).as_float() - 1.0
    denominator, lost = _fast_sum(f.constant(2.0), f)
    s = f / denominator
    s_pair = (s, s.fma(-lost, (-s).fma(denominator, f)) / denominator)
    z = _product(s_pair, s_pair)
    inner = _fast_sum(f.constant(2 / 3), z[0].fma(polynomial(z[0], coefficients.POW[64]), 3.700743415417188e-17))
    high, low = _product(z, inner)
    total, error = _fast_sum(f.constant(2.0), high)
    natural = _product(s_pair, (total, error + low))
    (scale, scale_low), _ = BASE_2[64]
    binary = _product(natural, (f.constant(scale), f.constant(scale_low)))
    return _add_exponent(k + extra, binary)


def _add_exponent(k: Expr, binary: Pair) -> Pair:
    """k + binary, where k is zero or the larger one."""
    total, error = _fast_sum(k, binary[0])
    return _fast_sum(total, error + binary[1])


def _single_magnitude(x: Expr, y: Expr) -> Expr:
    """`_magnitude` for f32 operands, in f64 to about 40 bits; nothing is subnormal there."""
    k, power_bits = exponent_and_bits(x, 2 / 3)
    f = (x.as_bits() - power_bits).as_float() - 1.0
    logarithm = (f + logarithm_of_ratio(f, 40)).fma(BASE_2[64][0][0], k)
    product = y * _with_limits(x, logarithm)
    product = at_least(at_most(product, 200.0), -200.0)
    total = product + F64.magic
    r = product - (total - F64.magic)
    return polynomial(r, coefficients.EXP2[40]).fma(r, 1.0) * power_of_two(total)


def _exp2_pair(high: Expr, low: Expr) -> Expr:
    """2**(high + low)."""
    fmt = high.format
    highest, lowest = fmt.bias + 1.0, -(fmt.bias + fmt.fraction + 5.0)
    low = select((high > lowest) & (high < highest), low, 0.0)
    high = at_least(at_most(high, highest), lowest)
    total = high + fmt.magic
    r = high - (total - fmt.magic) + low
    mantissa = polynomial(r, coefficients.EXP2[fmt.bits]).fma(r, 1.0)
    return scaled(mantissa, total)


def _with_limits(x: Expr, logarithm: Expr) -> Expr:
    return select(x == 0.0, -inf, select(x == inf, inf, logarithm))


def _magnitude(x: Expr, y: Expr) -> Expr:
    """x**y for x >= 0, but for the cases in which an exponent of zero or infinity meets 1."""
    high, low = _log2_pair(x)
    high = _with_limits(x, high)
    product, error = rounded_product(y, high)
    return _exp2_pair(product, y.fma(low, error))


def power(x: Expr, y: Expr) -> Expr:
    """x**y with the special cases of C and numpy; the expressions are f32 or f64."""
    bits = x.format.bits
    x, y = x.converted(64), y.converted(64)
    a = abs(x)
    result = _single_magnitude(a, y) if bits == 32 else _magnitude(a, y)
    half = y * 0.5
    whole = y.floor() == y
    odd = whole & (half.floor() != half)
    result = select(odd, result.copysign(x), result)
    result = select((x < 0.0) & (a < inf) & ~whole, nan, result)
    result = select((a == 1.0) & (abs(y) == inf), 1.0, result)
    return select((y == 0.0) | (x == 1.0), 1.0, select(x.is_nan() | y.is_nan(), nan, result)).converted(bits)


@expansion("math.powf", ulp={32: 0.75, 64: 1.25})
def powf(x: Expr, y: Expr) -> Expr:
    """x**y: 0**0 = 1, a negative base needs an integer exponent (else NaN)."""
    return power(x, y)


def power_of_constant(x: Expr, exponent: float) -> Expr | None:
    """x**exponent where a few operations give it exactly as well, else None."""
    simple = {
        0.0: lambda: x.constant(1.0),
        0.5: lambda: select(x == -inf, inf, x.sqrt() + 0.0),
        1.0: lambda: x,
        -1.0: lambda: 1.0 / x,
        2.0: lambda: x * x,
        3.0: lambda: x * x * x,
    }
    return simple[exponent]() if exponent in simple else None


def integer_power(x: Expr, y: Expr, width: int, exponent: int | None = None) -> Expr:
    """x**y in integers of `width` bits, wrapping: square and multiply over all bits of y.

    Negative exponents give 1 and -1 for these bases and else 0 (also 0**-1, which C++ leaves undefined).
    """
    if exponent is not None and exponent >= 0:
        return _constant_integer_power(x, exponent)
    result, square = x.constant(1), x
    for bit in range(width - 1):
        result = select((y & (1 << bit)) == 0, result, result * square)
        square = square * square
    unit = select(x == 1, x, select(x == -1, select((y & 1) == 0, x.constant(1), x), 0))
    return select(y < 0, unit, result)


def _constant_integer_power(x: Expr, exponent: int) -> Expr:
    result, square = x.constant(1), x
    while exponent:
        result = result * square if exponent & 1 else result
        square, exponent = square * square, exponent >> 1
    return result


@expansion("math.cbrt", ulp={32: 0.75, 64: 1.0}, wide=True)
def cbrt(x: Expr) -> Expr:
    """The real cube root.

    y = |x|**(-1/3) from a third of the bits (Kahan), three steps y (1 + h/3 + 2h*h/9), h = 1 - |x| y**3, then |x| y*y and
    one Newton step on it.
    """
    a = abs(x)
    tiny = a < x.format.smallest_normal
    a = select(tiny, a * 2.0**54, a)
    y = (0x553EF0FF289DD796 - a.as_bits().divided_by(3)).as_float()
    for _ in range(3):
        h = (a * y * y).fma(-y, 1.0)
        y = (y * h).fma(h.fma(2 / 9, 1 / 3), y)
    root = a * y * y
    square, error = rounded_product(root, root)
    residue = error.fma(-root, square.fma(-root, a))
    root = residue.fma(y * y * (1 / 3), root)
    root = root * choose(tiny, 2.0**-18, 1.0, like=x)
    return select((a == 0.0) | ~(a < inf), x, root.copysign(x))


@expansion("math.rsqrt", ulp={32: 1.5, 64: 1.5})
def rsqrt(x: Expr) -> Expr:
    """1 / sqrt(x)."""
    return 1.0 / x.sqrt()
