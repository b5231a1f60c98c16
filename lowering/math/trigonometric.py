"""sin, cos, tan and sincos for every argument, however large.

Range reduction gives a quadrant and r in [-pi/4, pi/4]; there sin r = r + r**3 s(r*r) and cos r = 1 - r*r/2 + r**4 c(r*r)
(`SIN`, `COS` of `fit.py`). f32 is computed in f64, see `f32_quadrant`; for f64 see `payne_hanek.py`.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import pi

from . import coefficients
from .expansion import expansion
from .expression import F64, Expr, polynomial, select
from .payne_hanek import CONSTANT_BITS, TWO_OVER_PI, f64_quadrant

CHUNK_BITS = 28
# 1 / (2 pi) in pieces of 28 bits: times 24 bits of a float they are exact in f64.
TURN_CHUNKS = [
    ((TWO_OVER_PI >> (CONSTANT_BITS + 2 - CHUNK_BITS * i)) % 2**CHUNK_BITS) * 2.0 ** (-CHUNK_BITS * i) for i in range(1, 8)
]


@dataclass(frozen=True)
class Angle:
    """quadrant * pi/2 + r + low; the quadrant is in the two lowest bits. `bits` tells how exact a result must be."""

    quadrant: Expr
    r: Expr
    low: Expr | None
    bits: int


def f32_quadrant(x: Expr) -> tuple[Expr, Expr]:
    """The quadrant and r of an f32 value: x / 2pi modulo 1, summed over the pieces of 1 / 2pi.

    Each product is exact in f64 and whole turns are dropped before the next one is added, so no argument is too large.
    The sum is right to 2**-54 turns: of all f32 only a few next to a multiple of pi/2 (21999384576) feel it, by 1 ULP.
    """
    x = x.converted(64)
    turns = x * TURN_CHUNKS[0]
    for chunk in TURN_CHUNKS[1:]:
        turns = x.fma(chunk, turns - turns.round_even())
    turns = turns - turns.round_even()
    total = turns.fma(4.0, F64.magic)
    return total.as_bits(), turns.fma(4.0, F64.magic - total) * (pi / 2)


def reduced(x: Expr) -> Angle:
    bits = x.format.bits
    if bits == 32:
        return Angle(*f32_quadrant(x), None, bits)
    return Angle(*f64_quadrant(x), bits)


def sin_and_cos(angle: Angle) -> tuple[Expr, Expr]:
    """sin and cos of r + low."""
    r, z = angle.r, angle.r * angle.r
    odd_part = polynomial(z, coefficients.SIN[angle.bits]) * (r * z)
    even_part = polynomial(z, coefficients.COS[angle.bits]) * (z * z)
    if angle.low is None:
        return r + odd_part, even_part + z.fma(-0.5, 1.0)
    half = z * 0.5
    one = 1.0 - half
    cosine = one + ((1.0 - one) - half + angle.r.fma(-angle.low, even_part))
    return r + angle.low.fma(one, odd_part), cosine


def _pick(angle: Angle, sine: Expr, cosine: Expr, advance: int) -> Expr:
    """sin(angle + advance * pi/2)."""
    quadrant = angle.quadrant + advance if advance else angle.quadrant
    value = select((quadrant & 1) == 0, sine, cosine)
    return (value.as_bits() ^ ((quadrant & 2) << 62)).as_float()


@expansion("math.sin", ulp={32: 0.75, 64: 1.0})
def sin(x: Expr) -> Expr:
    """The sign of zero is kept; NaN at infinities."""
    angle = reduced(x)
    return select(x == 0.0, x, _pick(angle, *sin_and_cos(angle), 0).converted(angle.bits))


@expansion("math.cos", ulp={32: 1.25, 64: 1.0})
def cos(x: Expr) -> Expr:
    """sin(x + pi/2); NaN at infinities."""
    angle = reduced(x)
    return _pick(angle, *sin_and_cos(angle), 1).converted(angle.bits)


@expansion("math.tan", ulp={32: 1.75, 64: 2.5})
def tan(x: Expr) -> Expr:
    """sin r / cos r, or -cos r / sin r in odd quadrants."""
    angle = reduced(x)
    sine, cosine = sin_and_cos(angle)
    even = (angle.quadrant & 1) == 0
    ratio = select(even, sine, -cosine) / select(even, cosine, sine)
    return select(x == 0.0, x, ratio.converted(angle.bits))


@expansion("math.sincos", ulp={32: 1.25, 64: 1.0})
def sincos(x: Expr) -> tuple[Expr, Expr]:
    """sin and cos at the price of little more than one."""
    angle = reduced(x)
    parts = sin_and_cos(angle)
    sine, cosine = (_pick(angle, *parts, advance).converted(angle.bits) for advance in (0, 1))
    return select(x == 0.0, x, sine), cosine
