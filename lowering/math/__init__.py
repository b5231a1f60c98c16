"""Transcendental functions as branch-free polynomial code.

`expand_math(module)` is the pass. `exp(value)`, `sigmoid(value)`, ... append the same code at the current insertion point
and location, for other lowering code. `ULP` states the error of each function.
"""

from .error_function import erf, erfc
from .expansion_pass import ULP, expand_math
from .exponential import exp, exp2, expm1, sigmoid
from .hyperbolic import acosh, asinh, atanh, cosh, sinh, tanh
from .inverse_trigonometric import acos, asin, atan, atan2
from .logarithm import log, log1p, log2, log10, softplus
from .power import cbrt, powf, rsqrt
from .trigonometric import cos, sin, tan

__all__ = [
    "ULP", "acos", "acosh", "asin", "asinh", "atan", "atan2", "atanh", "cbrt", "cos", "cosh", "erf", "erfc", "exp", "exp2",
    "expand_math", "expm1", "log", "log10", "log1p", "log2", "powf", "rsqrt", "sigmoid", "sin", "sinh", "softplus", "tan",
    "tanh",
]
