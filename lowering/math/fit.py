"""Finds the minimax polynomials of this folder and writes them to `coefficients.py`.

Run `python fit.py` after a change of the table `FITS`; needs mpmath, nothing of MLIR.

Method: the Remez exchange algorithm in 60-digit arithmetic. Each entry of the table approximates g(u) by a polynomial
P(u) so that max |(P(u) - g(u)) * w(u)| is least; the weight w turns the error of P into the relative error of the function
that is built from it. The coefficients are then rounded to the format in which they are used.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from struct import pack, unpack

from mpmath import mp, mpf

mp.dps = 60
GRID = 600


@dataclass(frozen=True)
class Fit:
    """One polynomial: its name, the bits of the format (40: f32 computed in f64), the degree, g, w, the interval of u."""

    name: str
    bits: int
    degree: int
    target: Callable
    weight: Callable
    low: float
    high: float


def remez(fit: Fit, rounds: int = 12) -> tuple[list, mpf]:
    """The coefficients of the minimax polynomial, lowest first, and its weighted error."""
    low, high, count = mpf(fit.low), mpf(fit.high), fit.degree + 2
    grid = [_chebyshev(low, high, i, GRID) for i in range(GRID)]
    samples = [(u, fit.target(u), fit.weight(u)) for u in grid]
    chosen = [samples[round(i * (GRID - 1) / (count - 1))] for i in range(count)]
    for _ in range(rounds):
        coefficients, level = _level(chosen, fit.degree)
        errors = [(mp.polyval(coefficients[::-1], u) - g) * w for u, g, w in samples]
        chosen = _alternation(samples, errors, count)
        worst = max(map(abs, errors))
        if worst < abs(level) * mpf("1.001"):
            break
    return coefficients, worst


def _chebyshev(low, high, i, count):
    """Points dense at both ends that do not touch the ends' neighbourhood of zero exactly."""
    return (low + high) / 2 - (high - low) / 2 * mp.cos(mp.pi * (i + mpf("0.5")) / count)


def _level(points, degree):
    """Solves P(u) + (-1)^i E / w(u) = g(u) at degree + 2 points for P and E."""
    system, right = mp.matrix(degree + 2), mp.matrix(degree + 2, 1)
    for i, (u, g, w) in enumerate(points):
        for j in range(degree + 1):
            system[i, j] = u**j
        system[i, degree + 1] = (-1) ** i / w
        right[i] = g
    solution = mp.lu_solve(system, right)
    return [solution[i] for i in range(degree + 1)], solution[degree + 1]


def _alternation(samples, errors, count):
    """The largest error of each run of one sign; where there are too many runs the outer small ones go."""
    peaks: list[int] = []
    for i, error in enumerate(errors):
        if peaks and (errors[peaks[-1]] > 0) == (error > 0):
            if abs(error) > abs(errors[peaks[-1]]):
                peaks[-1] = i
        else:
            peaks.append(i)
    while len(peaks) > count:
        peaks.pop(0 if abs(errors[peaks[0]]) < abs(errors[peaks[-1]]) else -1)
    if len(peaks) < count:
        raise ValueError("the exchange lost its alternation: lower the degree")
    return [samples[i] for i in peaks]


def _round(value, bits):
    return unpack("f", pack("f", float(value)))[0] if bits == 32 else float(value)


def _odd(function):
    """The target and weight of x + x * z * P(z), z = x*x, as an approximation of an odd function."""
    def target(z):
        x = mp.sqrt(z)
        return (function(x) / x - 1) / z
    return target, lambda z: z * mp.sqrt(z) / function(mp.sqrt(z))


def _erfcx_scaled(t):
    """(1 + 2x) * exp(x*x) * erfc(x) with x = K(1 + t)/(1 - t), K = 3.75 (Shepherd and Laframboise, 1981)."""
    x = mpf("3.75") * (1 + t) / (1 - t)
    return (1 + 2 * x) * mp.exp(x * x) * mp.erfc(x)


def _t(x):
    return (x - 3.75) / (x + 3.75)


HALF_LN2 = 0.3485
QUARTER_PI = 0.78555**2
_exp = (lambda r: (mp.expm1(r) - r) / r**2, lambda r: r * r / mp.expm1(r))
_exp2 = (lambda r: mp.expm1(r * mp.ln(2)) / r, lambda r: r / mpf(2) ** r)
_log = (lambda f: (mp.log1p(f) - f) / f**2, lambda f: f * f / mp.log1p(f))
_pow = (
    lambda z: (2 * mp.atanh(mp.sqrt(z)) / mp.sqrt(z) - 2 - 2 * z / 3) / z**2,
    lambda z: z * z * mp.sqrt(z) / (2 * mp.atanh(mp.sqrt(z))),
)
_cos = (lambda z: (mp.cos(mp.sqrt(z)) - 1 + z / 2) / z**2, lambda z: z * z / mp.cos(mp.sqrt(z)))
_erf = (lambda z: mp.erf(mp.sqrt(z)) / mp.sqrt(z) - 1, lambda z: mp.sqrt(z) / mp.erf(mp.sqrt(z)))
_eighth = (lambda x: mp.root(mp.erfc(x), 8), lambda x: 8 * mp.root(mp.erfc(x), 8) ** 7 / mp.erf(x))
_erfcx = (_erfcx_scaled, lambda t: 1 / _erfcx_scaled(t))

FITS = [
    Fit("EXP", 32, 5, *_exp, -HALF_LN2, HALF_LN2),
    Fit("EXP", 64, 10, *_exp, -HALF_LN2, HALF_LN2),
    Fit("EXP2", 32, 5, *_exp2, -0.5005, 0.5005),
    Fit("EXP2", 40, 7, *_exp2, -0.5005, 0.5005),
    Fit("EXP2", 64, 11, *_exp2, -0.5005, 0.5005),
    Fit("LOG", 32, 9, *_log, -0.33334, 0.33334),
    Fit("LOG", 40, 13, *_log, -0.33334, 0.33334),
    Fit("LOG", 64, 21, *_log, -0.33334, 0.33334),
    Fit("POW", 64, 6, *_pow, 0, 0.02945),
    Fit("SIN", 32, 2, *_odd(mp.sin), 0, QUARTER_PI),
    Fit("SIN", 64, 5, *_odd(mp.sin), 0, QUARTER_PI),
    Fit("COS", 32, 2, *_cos, 0, QUARTER_PI),
    Fit("COS", 64, 5, *_cos, 0, QUARTER_PI),
    Fit("ATAN", 32, 8, *_odd(mp.atan), 0, 1),
    Fit("ATAN", 64, 10, *_odd(mp.atan), 0, 0.375**2),
    Fit("ASIN", 32, 4, *_odd(mp.asin), 0, 0.25),
    Fit("ASIN", 64, 12, *_odd(mp.asin), 0, 0.25),
    Fit("SINH", 32, 3, *_odd(mp.sinh), 0, 1),
    Fit("SINH", 64, 6, *_odd(mp.sinh), 0, 1),
    Fit("TANH", 32, 4, *_odd(mp.tanh), 0, 0.36),
    Fit("ERF", 32, 7, *_erf, 0, 1.25**2),
    Fit("ERF", 64, 11, *_erf, 0, 1),
    Fit("ERFC_ROOT", 32, 6, *_eighth, 1.249, 4),
    Fit("ERFCX", 64, 21, *_erfcx, _t(0.49), _t(28)),
]


def main() -> None:
    lines = ['"""Minimax coefficients, lowest degree first, by number of bits. Written by `fit.py`: do not edit."""', ""]
    entries: dict[str, list[str]] = {}
    for fit in FITS:
        coefficients, error = remez(fit)
        print(f"{fit.name} {fit.bits}: degree {fit.degree}, error 2^{float(mp.log(error, 2)):.2f}")
        wide = 64 if fit.name in ("SIN", "COS") or fit.bits == 40 else fit.bits
        entry = [f"    {fit.bits}: (  # error 2^{float(mp.log(error, 2)):.1f}"]
        entry += [f"        {_round(c, wide)!r}," for c in coefficients]
        entries.setdefault(fit.name, []).extend([*entry, "    ),"])
    for name, body in entries.items():
        lines += [f"{name} = {{", *body, "}"]
    Path(__file__).with_name("coefficients.py").write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
