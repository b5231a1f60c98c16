"""exp, exp2, expm1 and what is made of exp alone: sigmoid.

Range reduction (Cody and Waite, 1980): x = n ln 2 + r with |r| <= ln 2 / 2, n from adding 1.5 * 2**fraction, and ln 2 in
two parts under fused multiply-adds. Then e**r = 1 + r + r*r*q(r) with a minimax polynomial q (`EXP` of `fit.py`), and the
scale 2**n is made from the bits of the rounded sum. The scale is applied in two factors of about 2**(n/2), so that results next to
overflow and subnormal results are rounded only once: on x86 that takes fewer constants, and less of the multipliers, than a choice
between two scales.
"""

from __future__ import annotations

from . import coefficients
from .expansion import expansion
from .expression import Expr, at_least, at_most, polynomial

LOG2_E = 1.4426950408889634
LN2 = {32: (0.693147182464599609375, -1.904654299957768e-09), 64: (0.6931471805599453, 2.3190468138462996e-17)}
# Beyond these the result is infinite, or zero.
HIGHEST = {32: 89.0, 64: 710.0}
LOWEST = {32: -104.5, 64: -746.0}
LOWEST_SHIFTED = {32: -70.0, 64: -670.0}  # where 2**(n - fraction - 1) is normal


def reduced(x: Expr) -> tuple[Expr, Expr]:
    """r and the sum in whose low bits n stands; |x| must be below 2**(fraction - 1) or NaN."""
    bits, magic = x.format.bits, x.format.magic
    high, low = LN2[bits]
    total = x.fma(LOG2_E, magic)
    n = total - magic
    return n.fma(-low, n.fma(-high, x)), total


def power_of_two(total: Expr, offset: int = 0) -> Expr:
    """2**(n + offset), n being the low bits of `total`."""
    return ((total.as_bits() << total.format.fraction) + total.format.power_of_two(offset)).as_float()


def exp_minus_one(r: Expr) -> Expr:
    """e**r - 1 for |r| <= ln 2 / 2."""
    return (r * r).fma(polynomial(r, coefficients.EXP[r.format.bits]), r)


def exp_reduced(r: Expr) -> Expr:
    """e**r for |r| <= ln 2 / 2."""
    return polynomial(r, coefficients.EXP[r.format.bits]).fma(r, 1.0).fma(r, 1.0)


def scaled(mantissa: Expr, total: Expr) -> Expr:
    """mantissa * 2**n, rounded once: both factors, of about n / 2 each, are normal numbers."""
    fmt, bits = mantissa.format, total.as_bits()
    half = (bits >> 1) << fmt.fraction
    one = fmt.power_of_two(0)
    return mantissa * (half + one).as_float() * ((bits << fmt.fraction) - half + one).as_float()


@expansion("math.exp", ulp={32: 1.0, 64: 1.0})
def exp(x: Expr) -> Expr:
    """e**x; overflow gives inf, results below the smallest subnormal give 0."""
    bits = x.format.bits
    x = at_least(at_most(x, HIGHEST[bits]), LOWEST[bits])
    r, total = reduced(x)
    return scaled(exp_reduced(r), total)


def times_exp(factor: Expr, x: Expr, low: Expr) -> Expr:
    """factor * e**(x + low) for factor <= 1, x <= 0 and |low| less than a unit in the last place of x."""
    r, total = reduced(at_least(x, LOWEST[x.format.bits]))
    return scaled(factor.fma(exp_minus_one(r + low), factor), total)


@expansion("math.exp2", ulp={32: 1.25, 64: 1.0})
def exp2(x: Expr) -> Expr:
    """2**x: x = n + r exactly, 2**r = 1 + r*c(r) (`EXP2`)."""
    fmt = x.format
    x = at_least(at_most(x, fmt.bias + 1.0), -(fmt.bias + fmt.fraction + 1.0))
    total = x + fmt.magic
    r = x - (total - fmt.magic)
    mantissa = polynomial(r, coefficients.EXP2[fmt.bits]).fma(r, 1.0)
    return scaled(mantissa, total)


@expansion("math.expm1", ulp={32: 1.5, 64: 2.0})
def expm1(x: Expr) -> Expr:
    """e**x - 1 = 2**n (e**r - 1) + (2**n - 1), half of which is computed so that 2**n cannot overflow."""
    fmt = x.format
    bounded = at_least(at_most(x, HIGHEST[fmt.bits]), -(fmt.fraction + 4.0))
    r, total = reduced(bounded)
    half = power_of_two(total, -1)
    return (half.fma(exp_minus_one(r), half - 0.5) * 2.0).copysign(x)


@expansion("sigmoid", ulp={32: 2.5, 64: 2.5})
def sigmoid(x: Expr) -> Expr:
    """s / (s + s e**-x) with s a power of two so small that s e**-x is finite for all results above 0: no case needs another scale.

    e**-x = 2**n e**-r with r = x + n ln 2: the signs are those of the steps, since -x itself would cost x86 the minimum in one instruction.
    """
    fmt = x.format
    (high, low), shift = LN2[fmt.bits], -(fmt.fraction + 1)
    x = at_least(at_most(x, -LOWEST_SHIFTED[fmt.bits]), LOWEST[fmt.bits])
    total = x.fma(-LOG2_E, fmt.magic)
    n = total - fmt.magic
    r = n.fma(low, n.fma(high, x))
    inner = polynomial(r, [c * (-1) ** i for i, c in enumerate(coefficients.EXP[fmt.bits])])
    e = (-r).fma((-r).fma(inner, 1.0), 1.0)
    scale = 2.0**shift
    return scale / e.fma(power_of_two(total, shift), scale)
