"""sinh, cosh, tanh and their inverses, made of exp, expm1 and log1p.

Small arguments of sinh and tanh take an odd minimax polynomial x + x**3 p(x*x) (`SINH`, `TANH` of `fit.py`) where the
exponentials would cancel. The inverses follow Kahan's forms (1987), all through log1p; f32 is computed in f64 there.
"""

from __future__ import annotations

from math import log as ln
from math import nan

from . import coefficients
from .expansion import expansion
from .exponential import exp_reduced, expm1, power_of_two, reduced
from .expression import Expr, at_most, choose, polynomial, select
from .logarithm import log1p

HIGHEST = {32: 90.0, 64: 711.0}
# From here on x + sqrt(x*x + 1) and x + sqrt(x*x - 1) are 2x.
LARGE = 2.0**30


def odd(x: Expr, table: dict) -> Expr:
    """x + x**3 p(x*x)."""
    z = x * x
    return (x * z).fma(polynomial(z, table[x.format.bits]), x)


def half_exp(x: Expr) -> Expr:
    """e**x / 2 for x >= 0, infinite only where cosh is."""
    r, total = reduced(at_most(x, HIGHEST[x.format.bits]))
    return exp_reduced(r) * power_of_two(total, -2) * 2.0


@expansion("math.cosh", ulp={32: 1.5, 64: 1.5})
def cosh(x: Expr) -> Expr:
    """h + 1 / (4 h) with h = e**|x| / 2."""
    h = half_exp(abs(x))
    return h + 0.25 / h


@expansion("math.sinh", ulp={32: 2.0, 64: 2.0})
def sinh(x: Expr) -> Expr:
    """h - 1 / (4 h) with h = e**|x| / 2, or the polynomial where |x| < 1."""
    h = half_exp(abs(x))
    return select(abs(x) < 1.0, odd(x, coefficients.SINH), (h - 0.25 / h).copysign(x))


@expansion("math.tanh", ulp={32: 1.5, 64: 3.0})
def tanh(x: Expr) -> Expr:
    """f32: 1 - 2 / (e**2|x| + 1), or the polynomial where |x| < 0.6. f64: t / (t + 2) with t = e**2|x| - 1."""
    if x.format.bits == 64:
        t = expm1.on(at_most(abs(x), 20.0) * 2.0)
        return (t / (t + 2.0)).copysign(x)
    a = abs(x)
    r, total = reduced(at_most(a, 10.0) * 2.0)
    large = 1.0 - 2.0 / exp_reduced(r).fma(power_of_two(total), 1.0)
    return select(a < 0.6, odd(a, coefficients.TANH), large).copysign(x)


@expansion("math.asinh", ulp={32: 0.75, 64: 2.5}, wide=True)
def asinh(x: Expr) -> Expr:
    """log1p(x + x*x / (1 + sqrt(x*x + 1))) for x >= 0; log(x) + ln 2 where x is large."""
    a = abs(x)
    bounded = at_most(a, LARGE)
    square = bounded * bounded
    argument = bounded + square / ((square + 1.0).sqrt() + 1.0)
    return _log1p_or_large(a, argument).copysign(x)


@expansion("math.acosh", ulp={32: 0.75, 64: 2.5}, wide=True)
def acosh(x: Expr) -> Expr:
    """log1p(t + sqrt(t*t + 2t)) with t = x - 1; log(x) + ln 2 where x is large."""
    t = at_most(x, LARGE) - 1.0
    return select(x < 1.0, nan, _log1p_or_large(x, t + t.fma(t, t + t).sqrt()))


def _log1p_or_large(x: Expr, argument: Expr) -> Expr:
    large = x > LARGE
    return log1p.on(select(large, x - 1.0, argument)) + choose(large, ln(2.0), 0.0, like=x)


@expansion("math.atanh", ulp={32: 0.75, 64: 2.5}, wide=True)
def atanh(x: Expr) -> Expr:
    """log1p(2x / (1 - x)) / 2 for x >= 0."""
    a = abs(x)
    return (log1p.on((a + a) / (1.0 - a)) * 0.5).copysign(x)
