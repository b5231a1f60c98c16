"""erf and erfc.

erf: x + x p(x*x) for small |x| (`ERF` of `fit.py`). Beyond, f32 takes 1 - q(|x|)**8 with q a polynomial for the eighth root of erfc
(`ERFC_ROOT`), which needs no exponential, and f64 takes 1 - erfc. erfc(x) = e**(-x*x) P(t) / (1 + 2x) with t = (x - K) / (x + K), K = 3.75, so that one
polynomial (`ERFCX`) serves the whole half line (Shepherd and Laframboise, 1981); x*x is taken in two parts.
"""

from __future__ import annotations

from . import coefficients
from .expansion import expansion
from .exponential import times_exp
from .expression import Expr, at_most, polynomial, rounded_product, select

K = 3.75
NEAR = {32: 1.25, 64: 1.0}


def _near(x: Expr) -> Expr:
    """erf x for |x| < NEAR."""
    return x.fma(polynomial(x * x, coefficients.ERF[x.format.bits]), x)


def _far(x: Expr) -> Expr:
    """erfc x for x in [0.5, 28], in f64."""
    square, error = rounded_product(x, x)
    t = (x - K) / (x + K)
    return times_exp(polynomial(t, coefficients.ERFCX[64]) / x.fma(2.0, 1.0), -square, -error)


@expansion("math.erf", ulp={32: 1.75, 64: 2.0})
def erf(x: Expr) -> Expr:
    """2 / sqrt(pi) times the integral of e**(-t*t) from 0 to x."""
    a, bits = abs(x), x.format.bits
    if bits == 64:
        outer = 1.0 - _far(at_most(a, 6.0))
    else:
        root = polynomial(at_most(a, 4.0), coefficients.ERFC_ROOT[32])
        square = root * root
        fourth = square * square
        outer = (-fourth).fma(fourth, 1.0)
    return select(a < NEAR[bits], _near(x), outer.copysign(x))


@expansion("math.erfc", ulp={32: 0.75, 64: 4.0}, wide=True)
def erfc(x: Expr) -> Expr:
    """1 - erf x, accurate also where it is small."""
    far = _far(at_most(abs(x), 28.0))
    return select(abs(x) < 0.75, 1.0 - _near(x), select(x < 0.0, 2.0 - far, far))
