"""Activation functions, with torch's definitions and defaults. f16 and bf16 are computed in f32."""
from __future__ import annotations

import numpy as np

from ...errors import OnemlirError, ShapeError
from ..attributes import Axis, Choice
from ..declare import Attr, Composite, Elementwise, Floating, FloatUnaryOp, Op, Operand, Pure, Result, UnaryOp
from ..shapes import broadcast_shapes, show
from .elementwise import Erf, quiet, rounded_once

SELU_ALPHA, SELU_SCALE = 1.6732632423543772848170429916717, 1.0507009873554804934193349852946


class Relu(UnaryOp):
    """max(x, 0)."""

    reference = staticmethod(quiet(lambda x: np.maximum(x, x.dtype.type(0))))


class Sigmoid(FloatUnaryOp):
    """1 / (1 + exp(-x))."""

    reference = staticmethod(rounded_once(lambda x: 1 / (1 + np.exp(-x))))


class Activation(FloatUnaryOp, abstract=True):
    """Base of activations that are composed of simpler ops."""

    traits = (Pure, Elementwise, Composite)


class Relu6(UnaryOp):
    """min(max(x, 0), 6)."""

    traits = (Pure, Elementwise, Composite)
    reference = staticmethod(quiet(lambda x: np.minimum(np.maximum(x, x.dtype.type(0)), x.dtype.type(6))))


class LeakyRelu(Activation):
    """x where x > 0, else negative_slope * x. Source: Maas, Hannun, Ng 2013."""

    negative_slope: Attr[float] = 0.01
    reference = staticmethod(rounded_once(lambda x, negative_slope: np.where(x > 0, x, x * x.dtype.type(negative_slope))))


class Prelu(Op):
    """x where x > 0, else weight * x; `weight` broadcasts to x's shape. Source: He et al. 2015; ONNX's PRelu.

    `ops.prelu` has torch's form, in which a rank-1 weight belongs to axis 1.
    """

    x: Operand[Floating, "T"]
    weight: Operand[Floating, "T"]
    result: Result["x"]
    traits = (Pure, Elementwise, Composite)

    def verify(x, weight):
        fits = weight.rank <= x.rank and all(b == 1 or not isinstance(b, int) or not isinstance(a, int) or a == b
                                             for a, b in zip(x.shape[x.rank - weight.rank:], weight.shape))
        if not fits:
            raise ShapeError(f"prelu: weight {show(weight.shape)} does not broadcast to x {show(x.shape)}")
        broadcast_shapes(x.shape, weight.shape, what="prelu: x and weight")

    reference = staticmethod(rounded_once(lambda x, weight: np.where(x > 0, x, weight * x)))


class Elu(Activation):
    """x where x > 0, else alpha * (exp(x) - 1). Source: Clevert, Unterthiner, Hochreiter 2016."""

    alpha: Attr[float] = 1.0
    reference = staticmethod(rounded_once(lambda x, alpha: np.where(x > 0, x, x.dtype.type(alpha) * np.expm1(x))))


class Selu(Activation):
    """scale * (x where x > 0, else alpha * (exp(x) - 1)). Source: Klambauer et al. 2017, whose constants are the defaults."""

    alpha: Attr[float] = SELU_ALPHA
    scale: Attr[float] = SELU_SCALE

    @rounded_once
    def reference(x, alpha, scale):
        return x.dtype.type(scale) * np.where(x > 0, x, x.dtype.type(alpha) * np.expm1(x))


class Celu(Activation):
    """x where x > 0, else alpha * (exp(x / alpha) - 1). OnemlirError for alpha = 0. Source: Barron 2017."""

    alpha: Attr[float] = 1.0
    reference = staticmethod(rounded_once(lambda x, alpha: np.where(x > 0, x, x.dtype.type(alpha) * np.expm1(x / x.dtype.type(alpha)))))

    def verify(x, alpha):
        if alpha == 0:
            raise OnemlirError("celu: alpha must not be 0")


class Gelu(Activation):
    """x * Phi(x), the Gaussian error linear unit; ``approximate="tanh"`` uses 0.5 x (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3))).

    Source: Hendrycks and Gimpel 2016.
    """

    approximate: Attr[Choice("none", "tanh")] = "none"

    @quiet
    def reference(x, approximate):
        wide = x.astype(np.float64)
        if approximate == "tanh":
            inner = np.tanh(np.sqrt(2 / np.pi) * (wide + 0.044715 * wide**3))
        else:
            inner = Erf.reference(wide / np.sqrt(2))
        return (0.5 * wide * (1 + inner)).astype(x.dtype)


class Silu(Activation):
    """x * sigmoid(x), also called swish. Source: Elfwing, Uchibe, Doya 2018."""

    reference = staticmethod(rounded_once(lambda x: x / (1 + np.exp(-x))))


class HardSigmoid(Activation):
    """min(max(alpha * x + beta, 0), 1). The defaults are torch's (1/6, 1/2); ONNX has alpha 0.2."""

    alpha: Attr[float] = 1 / 6
    beta: Attr[float] = 0.5

    @rounded_once
    def reference(x, alpha, beta):
        return np.clip(x * x.dtype.type(alpha) + x.dtype.type(beta), 0, 1)


class HardSwish(Activation):
    """x * min(max(x / 6 + 1/2, 0), 1). Source: Howard et al. 2019."""

    reference = staticmethod(rounded_once(lambda x: x * np.minimum(np.maximum(x + 3, 0), 6) / 6))


class Mish(Activation):
    """x * tanh(log(1 + exp(x))). Source: Misra 2020."""

    reference = staticmethod(rounded_once(lambda x: x * np.tanh(np.logaddexp(x, x.dtype.type(0)))))


class Softplus(Activation):
    """log(1 + exp(beta * x)) / beta, and x itself where beta * x > threshold. Source: torch's softplus."""

    beta: Attr[float] = 1.0
    threshold: Attr[float] = 20.0

    @rounded_once
    def reference(x, beta, threshold):
        z = x * x.dtype.type(beta)
        return np.where(z > threshold, x, np.logaddexp(z, x.dtype.type(0)) / x.dtype.type(beta))


class Softsign(Activation):
    """x / (1 + |x|)."""

    reference = staticmethod(rounded_once(lambda x: x / (1 + np.abs(x))))


class AlongAxis(Op, abstract=True):
    """Base of functions that normalize along one axis."""

    x: Operand[Floating]
    axis: Attr[Axis] = -1
    result: Result["x"]
    traits = (Pure, Composite)


class Softmax(AlongAxis):
    """exp(x - max(x)) / sum(exp(x - max(x))) along one axis."""

    @rounded_once
    def reference(x, axis):
        shifted = np.exp(x - np.max(x, axis=axis, keepdims=True, initial=-np.inf))
        return shifted / np.sum(shifted, axis=axis, keepdims=True)


class LogSoftmax(AlongAxis):
    """log(softmax(x)) along one axis: x - max(x) - log(sum(exp(x - max(x))))."""

    @rounded_once
    def reference(x, axis):
        shifted = x - np.max(x, axis=axis, keepdims=True, initial=-np.inf)
        return shifted - np.log(np.sum(np.exp(shifted), axis=axis, keepdims=True))


OPS = (Relu, Sigmoid, Relu6, LeakyRelu, Prelu, Elu, Selu, Celu, Gelu, Silu, HardSigmoid, HardSwish, Mish, Softplus, Softsign, Softmax,
       LogSoftmax)
