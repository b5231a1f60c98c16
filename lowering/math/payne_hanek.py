"""Reduction of any f64 argument modulo pi/2 (Payne and Hanek, 1983), without branches and without a table in memory.

|x| = M 2**(e - 52) with an integer M. Of the bits of 2/pi only 192 matter: those above give multiples of 4 quadrants,
those below nothing that shows. A binary tree of selects on e brings these words together, M times them is computed modulo
2**192 in 32-bit limbs, and the top of the product is the quadrant and the fraction of a quadrant to 126 bits.
"""

from __future__ import annotations

from math import pi

from .expression import F64, Expr, rounded_product, select

LOW_WORD = 0xFFFFFFFF
CONSTANT_BITS = 1280


def _inverse_tangent(n: int, bits: int) -> int:
    """atan(1 / n) * 2**bits by its series."""
    total, power, k = 0, (1 << bits) // n, 0
    while power:
        total += (-1) ** k * power // (2 * k + 1)
        power, k = power // (n * n), k + 1
    return total


def _two_over_pi(bits: int) -> int:
    """2/pi * 2**bits, rounded down; pi by Machin's formula with 64 spare bits."""
    spare = bits + 64
    pi_bits = 16 * _inverse_tangent(5, spare) - 4 * _inverse_tangent(239, spare)
    return (2 << (spare + bits)) // pi_bits


TWO_OVER_PI = _two_over_pi(CONSTANT_BITS)
# A word of zeros in front serves the small arguments.
WORDS = [0] + [(TWO_OVER_PI >> (CONSTANT_BITS - 64 * i)) % 2**64 for i in range(1, CONSTANT_BITS // 64 + 1)]


def f64_quadrant(x: Expr) -> tuple[Expr, Expr, Expr]:
    """The quadrant (two lowest bits) and the rest r + low in [-pi/4, pi/4] of any f64."""
    near = abs(x) < pi / 4
    bits = x.as_bits() & (2**63 - 1)
    high, low = _multiplied(bits)
    rounded = high + 2**61
    quadrant = rounded >> 62
    fraction = _two_floats(high - (quadrant << 62), low)
    r, tail = _times_half_pi(*fraction)
    negative = x < 0.0
    quadrant = select(negative, -quadrant, quadrant)
    r = select(near, x, select(negative, -r, r))
    tail = select(near, 0.0, select(negative, -tail, tail))
    # inf and NaN give NaN.
    return select(near, 0, quadrant), select(abs(x) < float("inf"), r, float("nan")), tail


def _multiplied(bits: Expr) -> tuple[Expr, Expr]:
    """M times the window of 2/pi modulo 2**192, in units of 2**-190 quadrants: its two upper words."""
    fraction_bits = F64.fraction
    mantissa = (bits & ((1 << fraction_bits) - 1)) | (1 << fraction_bits)
    # The window begins at the bit e - 53 of 2/pi, which is the bit e + 10 of WORDS.
    start = (bits >> fraction_bits) - (F64.bias - 10)
    limbs = _limbs(_window(start))
    m0, m1 = mantissa & LOW_WORD, mantissa >> 32
    product, carry = [], (m0 * limbs[0]) >> 32
    for previous, limb in zip(limbs, limbs[1:]):
        first = m0 * limb + carry
        second = m1 * previous + (first & LOW_WORD)
        carry = (first >> 32) + (second >> 32)
        product.append(second & LOW_WORD)
    return (product[4] << 32) | product[3], (product[2] << 32) | product[1]


def _window(start: Expr) -> list[Expr]:
    """192 bits of WORDS from the bit `start` on, as three words."""
    word, shift = start >> 6, start & 63
    words: list = [start.constant(_signed(w)) for w in WORDS]
    for distance in (16, 8, 4, 2, 1):
        far = (word & distance) != 0
        kept = words[: 4 + distance - 1]
        words = [select(far, words[i + distance], w) if i + distance < len(words) else w for i, w in enumerate(kept)]
    back = shift ^ 63
    return [(words[i] << shift) | ((words[i + 1] >> 1) >> back) for i in range(3)]


def _signed(word: int) -> int:
    return word - 2**64 if word >= 2**63 else word


def _limbs(words: list[Expr]) -> list[Expr]:
    """The 32-bit halves, the lowest first."""
    return [half for word in reversed(words) for half in (word & LOW_WORD, word >> 32)]


def _to_float(word: Expr, above: float = 0.0) -> Expr:
    """An integer in [0, 2**52) as a float, less `above`: AVX2 converts no 64-bit integers."""
    return (word | F64.power_of_two(F64.fraction)).as_float() - (2.0**F64.fraction + above)


def _two_floats(high: Expr, low: Expr) -> tuple[Expr, Expr]:
    """(high * 2**64 + low) * 2**-126 as a sum of two floats; `high` is signed and below 2**61 in size."""
    a = _to_float((high + 2**61) >> 32, above=2.0**29) * 2.0**-30
    b = _to_float(high & LOW_WORD) * 2.0**-62
    c = _to_float(low >> 32) * 2.0**-94 + _to_float(low & LOW_WORD) * 2.0**-126
    top = a + b
    rest = (b - (top - a)) + c
    total = top + rest
    return total, rest - (total - top)


def _times_half_pi(high: Expr, low: Expr) -> tuple[Expr, Expr]:
    product, error = rounded_product(high, pi / 2)
    return product, high.fma(6.123233995736766e-17, low.fma(pi / 2, error))
