"""asin, acos, atan, atan2.

asin: x + x**3 p(x*x) for |x| <= 1/2 (`ASIN` of `fit.py`), beyond it pi/2 - 2 asin(sqrt((1 - |x|) / 2)); acos likewise
(Cody and Waite, 1980). atan: the argument is brought into [0, 1] by 1/x, in f64 further below 3/8 by
atan t = atan c + atan((t - c) / (1 + c t)) with c = 5/8, then t + t**3 p(t*t) (`ATAN`).
"""

from __future__ import annotations

from math import nan, pi

from . import coefficients
from .expansion import expansion
from .expression import Expr, choose, polynomial, select
from .hyperbolic import odd

# pi/2 in two parts.
HALF_PI = {32: (1.57079637050628662109375, -4.371139000186241e-08), 64: (pi / 2, 6.123233995736766e-17)}
# The middle argument of f64 and its arc tangent in two parts.
MIDDLE, ATAN_MIDDLE, ATAN_MIDDLE_LOW = 0.625, 0.5585993153435624, -5.4556305485916264e-18


def _outer(a: Expr) -> tuple[Expr, Expr]:
    """s = sqrt((1 - a) / 2), or a where a <= 1/2, and asin(s) - s."""
    z = select(a > 0.5, (1.0 - a) * 0.5, a * a)
    s = select(a > 0.5, z.sqrt(), a)
    return s, s * z * polynomial(z, coefficients.ASIN[a.format.bits])


@expansion("math.asin", ulp={32: 2.0, 64: 2.0})
def asin(x: Expr) -> Expr:
    """NaN outside of [-1, 1]."""
    a = abs(x)
    high, low = HALF_PI[x.format.bits]
    s, rest = _outer(a)
    outer = high - (s * 2.0 + (rest * 2.0 - low))
    return select(a > 0.5, outer, s + rest).copysign(x)


@expansion("math.acos", ulp={32: 1.5, 64: 2.0})
def acos(x: Expr) -> Expr:
    """pi/2 - asin(x) inside, 2 asin(s) or pi - 2 asin(s) outside; NaN outside of [-1, 1]."""
    a = abs(x)
    high, low = HALF_PI[x.format.bits]
    s, rest = _outer(a)
    inner = high - (s.copysign(x) + (rest.copysign(x) - low))
    right = (s + rest) * 2.0
    left = 2.0 * high - (s * 2.0 + (rest * 2.0 - 2.0 * low))
    return select(a > 0.5, select(x < 0.0, left, right), inner)


def atan_unit(t: Expr) -> Expr:
    """atan t for t in [0, 1]."""
    if t.format.bits == 32:
        return odd(t, coefficients.ATAN)
    far = t > 0.375
    inner = select(far, (t - MIDDLE) / t.fma(MIDDLE, 1.0), t)
    angle, low = (choose(far, part, 0.0, like=t) for part in (ATAN_MIDDLE, ATAN_MIDDLE_LOW))
    return angle + (odd(inner, coefficients.ATAN) + low)


def _complement(angle: Expr, high: float, low: float) -> Expr:
    return high - (angle - low)


@expansion("math.atan", ulp={32: 1.75, 64: 1.75})
def atan(x: Expr) -> Expr:
    """pi/2 - atan(1/x) where x > 1."""
    a = abs(x)
    large = a > 1.0
    angle = atan_unit(select(large, 1.0 / a, a))
    return select(large, _complement(angle, *HALF_PI[x.format.bits]), angle).copysign(x)


@expansion("math.atan2", ulp={32: 2.0, 64: 2.0})
def atan2(y: Expr, x: Expr) -> Expr:
    """The angle of (x, y) in [-pi, pi], with the signs of zeros and the diagonals of infinities as in C and numpy."""
    a, b = abs(x), abs(y)
    steep = b > a
    small, big = select(steep, a, b), select(steep, b, a)
    ratio = select(small == big, choose(big == 0.0, 0.0, 1.0, like=x), small / big)
    high, low = HALF_PI[x.format.bits]
    angle = atan_unit(ratio)
    angle = select(steep, _complement(angle, high, low), angle)
    negative = x.constant(1.0).copysign(x) < 0.0
    angle = select(negative, _complement(angle, 2.0 * high, 2.0 * low), angle)
    return select(x.is_nan() | y.is_nan(), nan, angle.copysign(y))
