"""Activation functions, with torch's definitions and defaults."""
from __future__ import annotations

import numpy as np

from ..attributes import Axis, Choice
from ..declare import Attr, Composite, Floating, FloatUnaryOp, Op, Operand, Pure, Result, UnaryOp
from .elementwise import Erf, quiet


class Relu(UnaryOp):
    """max(x, 0)."""

    reference = staticmethod(quiet(lambda x: np.maximum(x, x.dtype.type(0))))


class Sigmoid(FloatUnaryOp):
    """1 / (1 + exp(-x))."""

    reference = staticmethod(quiet(lambda x: (1 / (1 + np.exp(-x))).astype(x.dtype)))


class Gelu(FloatUnaryOp):
    """x * Phi(x), the Gaussian error linear unit; ``approximate="tanh"`` uses 0.5 x (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3))).

    Source: Hendrycks and Gimpel 2016.
    """

    approximate: Attr[Choice("none", "tanh")] = "none"
    traits = FloatUnaryOp.traits + (Composite,)

    @quiet
    def reference(x, approximate):
        wide = x.astype(np.float64)
        if approximate == "tanh":
            inner = np.tanh(np.sqrt(2 / np.pi) * (wide + 0.044715 * wide**3))
        else:
            inner = Erf.reference(wide / np.sqrt(2))
        return (0.5 * wide * (1 + inner)).astype(x.dtype)


class Softmax(Op):
    """exp(x - max(x)) / sum(exp(x - max(x))) along one axis."""

    x: Operand[Floating]
    axis: Attr[Axis] = -1
    result: Result["x"]
    traits = (Pure, Composite)

    @quiet
    def reference(x, axis):
        shifted = np.exp(x - np.max(x, axis=axis, keepdims=True, initial=-np.inf))
        return (shifted / np.sum(shifted, axis=axis, keepdims=True)).astype(x.dtype)


OPS = (Relu, Sigmoid, Gelu, Softmax)
