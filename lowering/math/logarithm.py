"""log, log2, log10, log1p and softplus.

Range reduction on the bits: x = 2**k * m with m in [2/3, 4/3), f = m - 1 exactly. Then log(1 + f) = f + f*f*q(f) with a
minimax polynomial q (`LOG` of `fit.py`); k * log 2 is added in two parts, and other bases multiply f + f*f*q(f), kept as a
sum of two, by a two-part constant. No division and no table, the same code for f32 and f64.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import inf, nan

from . import coefficients
from .expansion import expansion
from .exponential import LN2, exp
from .expression import Expr, at_least, choose, polynomial, select

# 1 / ln b and log_b 2 in two parts each, by number of bits.
BASE_2 = {
    32: ((1.44269502162933349609375, 1.9259629911266175e-08), (1.0, 0.0)),
    64: ((1.4426950408889634, 2.0355273740931033e-17), (1.0, 0.0)),
}
BASE_10 = {
    32: ((0.4342944920063018798828125, -1.0103050052231683e-08), (0.301030009984970093, -1.4320988897559699e-08)),
    64: ((0.4342944819032518, 1.098319650216765e-17), (0.30102999566398120, -2.8037281277851704e-18)),
}


@dataclass(frozen=True)
class Split:
    """log x = k log 2 + f + t, where f is exact and |t| is less than half of |f|."""

    k: Expr
    f: Expr
    t: Expr


def exponent_and_bits(x: Expr, lowest: float) -> tuple[Expr, Expr]:
    """For x = 2**k * m with m in [lowest, 2 * lowest): k as a float and the bits of 2**k less those of 1."""
    fmt = x.format
    start = (fmt.power_of_two(-1)) + int((2 * lowest - 1) * (1 << fmt.fraction))
    shifted = x.as_bits() - start
    power = shifted & -(1 << fmt.fraction)
    if fmt.bits == 32:
        return power.converted(32) * 2.0**-fmt.fraction, power
    # AVX2 converts no 64-bit integers: put the biased exponent below the fraction's top bit instead.
    biased = (shifted + fmt.power_of_two(0)) >> fmt.fraction
    return (biased | fmt.power_of_two(fmt.fraction)).as_float() - (2.0**fmt.fraction + fmt.bias), power


def normalized(x: Expr) -> tuple[Expr, Expr]:
    """x scaled into the normal range where it is subnormal, and the exponent to add."""
    digits = x.format.fraction + 2
    tiny = x < x.format.smallest_normal
    return select(tiny, x * 2.0**digits, x), choose(tiny, -float(digits), 0.0, like=x)


def logarithm_of_ratio(f: Expr, digits: int | None = None) -> Expr:
    """log(1 + f) - f for f in [-1/3, 1/3], to the digits of the type if not told."""
    return f * f * polynomial(f, coefficients.LOG[digits or f.format.bits])


def split(x: Expr) -> Split:
    """The parts of log x for finite x > 0."""
    x, extra = normalized(x)
    k, power = exponent_and_bits(x, 2 / 3)
    f = (x.as_bits() - power).as_float() - 1.0
    return Split(k + extra, f, logarithm_of_ratio(f))


def with_special_cases(x: Expr, result: Expr, pole: float = 0.0) -> Expr:
    """inf at inf, -inf at the pole, NaN below it and at NaN."""
    result = select(x == inf, x, result)
    return select(x > pole, result, choose(x == pole, -inf, nan, like=x))


@expansion("math.log", ulp={32: 1.0, 64: 1.0})
def log(x: Expr) -> Expr:
    """The natural logarithm: k ln2_high + (f + (t + k ln2_low))."""
    return with_special_cases(x, natural(split(x)))


def natural(parts: Split) -> Expr:
    high, low = LN2[parts.f.format.bits]
    return parts.k.fma(high, parts.f + parts.k.fma(low, parts.t))


def to_base(parts: Split, table: dict) -> Expr:
    """(f + t) / ln b + k log_b 2."""
    (scale, scale_low), (step, step_low) = table[parts.f.format.bits]
    product = parts.f * scale
    error = parts.f.fma(scale, -product)
    small = parts.t.fma(scale, parts.f.fma(scale_low, error))
    if step == 1.0:
        return _sum(parts.k, product, small)
    high = parts.k * step
    return _sum(high, product, small + parts.k.fma(step_low, parts.k.fma(step, -high)))


def _sum(big: Expr, middle: Expr, small: Expr) -> Expr:
    """big + middle + small where |big| > |middle| or big is zero (Dekker's fast sum)."""
    total = big + middle
    return total + (middle - (total - big) + small)


@expansion("math.log2", ulp={32: 1.25, 64: 1.25})
def log2(x: Expr) -> Expr:
    """k + (f + t) / ln 2; exact at powers of two."""
    return with_special_cases(x, to_base(split(x), BASE_2))


@expansion("math.log10", ulp={32: 1.25, 64: 1.5})
def log10(x: Expr) -> Expr:
    """k log10(2) + (f + t) / ln 10."""
    return with_special_cases(x, to_base(split(x), BASE_10))


@expansion("math.log1p", ulp={32: 1.5, 64: 1.5})
def log1p(x: Expr) -> Expr:
    """log(1 + x): k from the rounded 1 + x, then f = x 2**-k + (2**-k - 1) (Juffa's reduction), whose rounding error
    joins t.
    """
    # 2**-k must be a normal number, so large x is scaled first.
    large = x > 2.0**64
    scaled, one = select(large, x * 2.0**-64, x), choose(large, 0.0, 1.0, like=x)
    k, power = exponent_and_bits(scaled + one, 2 / 3)
    shrink = (x.format.power_of_two(0) - power).as_float()
    rest = one.fma(shrink, -1.0)
    f = scaled.fma(shrink, rest)
    lost = scaled.fma(shrink, rest - f)
    parts = Split(k + choose(large, 64.0, 0.0, like=x), f, logarithm_of_ratio(f) + lost)
    return with_special_cases(x, natural(parts), pole=-1.0).copysign(x)


@expansion("softplus", ulp={32: 2.0, 64: 2.0})
def softplus(x: Expr) -> Expr:
    """log(1 + e**x) = max(x, 0) + log1p(e**-|x|): nothing overflows and small results keep their digits."""
    return at_least(x, 0.0) + log1p.on(exp.on(-abs(x)))
