"""Special functions, computed of elementary ones to the precision of f32."""
from __future__ import annotations

import math

import numpy as np

from ... import ops
from ...ops.random_keyed import normal_quantile
from ..registry import handles
from .values import as_dtype, floating, promoted

# Lanczos' approximation of the gamma function with g = 7, n = 9; the coefficients are Godfrey's.
LANCZOS = (676.5203681218851, -1259.1392167224028, 771.32342877765313, -176.61502916214059, 12.507343278686905, -0.13857109526572012,
           9.9843695780195716e-6, 1.5056327351493116e-7)


@handles("erfinv", "special_erfinv")
def erfinv(input):
    """The quantile of the normal distribution, and a step of Newton's method."""
    (x,) = floating(input)
    y = normal_quantile((x + 1.0) * 0.5) * math.sqrt(0.5)
    y = y - (ops.erf(y) - x) * ops.exp(y * y) * (math.sqrt(math.pi) / 2)
    y = ops.where(ops.abs(x) == 1, x * float("inf"), y)
    return ops.where(ops.abs(x) <= 1, y, as_dtype(float("nan"), x.dtype))


@handles("special_ndtri")
def ndtri(input):
    (x,) = floating(input)
    return erfinv(x * 2.0 - 1.0) * math.sqrt(2.0)


@handles("lgamma", "special_gammaln")
def lgamma(input):
    """log of the absolute value of the gamma function; below 1/2 by reflection, infinite at 0, -1, -2, ..."""
    (x,) = floating(input)
    reflected = x < 0.5
    z = ops.where(reflected, 1.0 - x, x)
    y = _log_gamma(z)
    sine = ops.abs(ops.sin((x - ops.round(x)) * math.pi))  # the difference is exact, also next to a pole
    y = ops.where(reflected, math.log(math.pi) - ops.log(sine) - y, y)
    return ops.where(ops.isinf(x) | (x <= 0) & (ops.floor(x) == x), as_dtype(float("inf"), x.dtype), y)


def _log_gamma(z):
    """For z of at least 1/2."""
    series = 0.99999999999980993 + sum(c / (z + float(i)) for i, c in enumerate(LANCZOS))
    t = z + 6.5
    return (z - 0.5) * ops.log(t) - t + ops.log(series) + 0.5 * math.log(2 * math.pi)


@handles("digamma", "special_psi", "special_digamma")
def digamma(input):
    """The derivative of lgamma: by an asymptotic series from 10 on, by recurrence below, by reflection below 1/2; NaN at -1, -2, ..."""
    (x,) = floating(input)
    reflected = x < 0.5
    z = ops.where(reflected, 1.0 - x, x)
    y = as_dtype(0, x.dtype)
    for _ in range(10):
        below = z < 10
        y = ops.where(below, y - 1.0 / z, y)
        z = ops.where(below, z + 1.0, z)
    square = 1.0 / (z * z)
    series = square * (1 / 12 - square * (1 / 120 - square * (1 / 252 - square * (1 / 240 - square * (1 / 132)))))
    y = y + ops.log(z) - 0.5 / z - series
    whole = ops.floor(x) == x
    y = ops.where(reflected, y - math.pi / ops.tan((x - ops.round(x)) * math.pi), y)
    y = ops.where(whole & (x < 0), as_dtype(float("nan"), x.dtype), y)
    return ops.where(x == 0, ops.copysign(as_dtype(float("inf"), x.dtype), -x), y)


# Polynomials of the modified Bessel functions of order 0 and 1, Abramowitz and Stegun 9.8.1 to 9.8.4: in (x / 3.75)^2 below 3.75, in 3.75 / x above.
SMALL = ((1.0, 3.5156229, 3.0899424, 1.2067492, 0.2659732, 0.0360768, 0.0045813),
         (0.5, 0.87890594, 0.51498869, 0.15084934, 0.02658733, 0.00301532, 0.00032411))
LARGE = ((0.39894228, 0.01328592, 0.00225319, -0.00157565, 0.00916281, -0.02057706, 0.02635537, -0.01647633, 0.00392377),
         (0.39894228, -0.03988024, -0.00362018, 0.00163801, -0.01031555, 0.02282967, -0.02895312, 0.01787654, -0.00420059))


def _bessel(order: int, scaled: bool):
    """I_0 or I_1; scaled: times exp(-|x|)."""
    def handler(input):
        (x,) = floating(input)
        size = ops.abs(x)
        near, far = ops.minimum(size, 3.75), ops.maximum(size, 3.75)
        small, large = _polynomial(ops.square(near / 3.75), SMALL[order]), _polynomial(3.75 / far, LARGE[order]) * ops.rsqrt(far)
        small = small * near if order else small
        y = ops.where(size < 3.75, *((small * ops.exp(-near), large) if scaled else (small, large * ops.exp(far))))
        return ops.where(x < 0, -y, y) if order else y
    return handler


def _polynomial(x, coefficients):
    y = coefficients[-1]
    for c in reversed(coefficients[:-1]):
        y = y * x + c
    return y


for _order in (0, 1):
    handles(f"special_i{_order}", *["i0"][:1 - _order])(_bessel(_order, False))
    handles(f"special_i{_order}e")(_bessel(_order, True))


@handles("nextafter")
def nextafter(input, other):
    """The number next to x towards y: the bits of a float, as an integer, are in the order of its size."""
    x, y = ops.broadcast_tensors(*promoted(input, other))
    if x.dtype.itemsize < 4:
        return NotImplemented
    whole = "int32" if x.dtype.itemsize == 4 else "int64"
    bits = ops.bitcast(x, dtype=whole)
    step = ops.where((y > x) == (x > 0), as_dtype(1, bits.dtype), as_dtype(-1, bits.dtype))
    smallest = ops.bitcast(ops.where(ops.signbit(y), as_dtype(np.iinfo(whole).min + 1, bits.dtype), as_dtype(1, bits.dtype)), dtype=x.dtype)
    found = ops.where(x == 0, smallest, ops.bitcast(bits + step, dtype=x.dtype))
    found = ops.where(x == y, y, found)
    return ops.where(ops.isnan(x) | ops.isnan(y), as_dtype(float("nan"), x.dtype), found)


@handles("gcd")
def gcd(input, other):
    """Euclid's algorithm on all elements at once."""
    a, b = ops.broadcast_tensors(*promoted(input, other))
    zero = as_dtype(0, a.dtype)

    def step(a, b):
        return ops.where(b == zero, a, b), ops.where(b == zero, zero, ops.remainder(a, ops.where(b == zero, as_dtype(1, b.dtype), b)))

    return ops.while_loop(lambda a, b: ops.any(b != zero), step, (ops.abs(a), ops.abs(b)))[0]


@handles("lcm")
def lcm(input, other):
    """|a b| / gcd(a, b); 0 where both are 0."""
    a, b = promoted(input, other)
    divisor = ops.maximum(gcd(a, b), as_dtype(1, a.dtype))
    return ops.abs(ops.floor_divide(a, divisor) * b)
