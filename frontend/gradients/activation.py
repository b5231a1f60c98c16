"""Gradients of activation functions."""
from __future__ import annotations

import math

from ...dialect.ops import activation as om
from ..ops.declared import declared as ops
from .registry import gradient_of


@gradient_of(om.Relu)
def relu(call, gradient):
    return ops.where(call.x > 0, gradient, 0.0)


@gradient_of(om.Sigmoid)
def sigmoid(call, gradient):
    return gradient * call.result * (1 - call.result)


@gradient_of(om.Relu6)
def relu6(call, gradient):
    return ops.where((call.x > 0) & (call.x < 6), gradient, 0.0)


@gradient_of(om.LeakyRelu)
def leaky_relu(call, gradient):
    return ops.where(call.x > 0, gradient, gradient * call.negative_slope)


@gradient_of(om.Prelu)
def prelu(call, gradient):
    positive = call.x > 0
    return ops.where(positive, gradient, gradient * call.weight), ops.where(positive, 0.0, gradient * call.x) if call.needs("weight") else None


@gradient_of(om.Elu)
def elu(call, gradient):
    return ops.where(call.x > 0, gradient, gradient * ops.exp(ops.minimum(call.x, 0.0)) * call.alpha)


@gradient_of(om.Selu)
def selu(call, gradient):
    return gradient * call.scale * ops.where(call.x > 0, 1.0, ops.exp(ops.minimum(call.x, 0.0)) * call.alpha)


@gradient_of(om.Celu)
def celu(call, gradient):
    negative = ops.where(call.x > 0, 0.0, call.x)
    return ops.where(call.x > 0, gradient, gradient * ops.exp(negative / call.alpha))


@gradient_of(om.Gelu)
def gelu(call, gradient):
    x = call.x
    if call.approximate == "tanh":
        scale, cubic = math.sqrt(2 / math.pi), 0.044715
        inner = ops.tanh((x + x * x * x * cubic) * scale)
        slope = (1 - inner * inner) * (1 + x * x * (3 * cubic)) * scale
        return gradient * ((1 + inner) * 0.5 + x * slope * 0.5)
    cumulative = (ops.erf(x * math.sqrt(0.5)) + 1) * 0.5
    density = ops.exp(x * x * -0.5) * (1 / math.sqrt(2 * math.pi))
    return gradient * (cumulative + x * density)


@gradient_of(om.Silu)
def silu(call, gradient):
    share = ops.sigmoid(call.x)
    return gradient * share * (1 + call.x * (1 - share))


@gradient_of(om.HardSigmoid)
def hard_sigmoid(call, gradient):
    y = call.x * call.alpha + call.beta
    return ops.where((y > 0) & (y < 1), gradient * call.alpha, 0.0)


@gradient_of(om.HardSwish)
def hard_swish(call, gradient):
    x = call.x
    return ops.where(x <= -3, 0.0, ops.where(x < 3, gradient * (x / 3 + 0.5), gradient))


@gradient_of(om.Mish)
def mish(call, gradient):
    x = call.x
    inner = ops.tanh(ops.softplus(x))
    return gradient * (inner + x * ops.sigmoid(x) * (1 - inner * inner))


@gradient_of(om.Softplus)
def softplus(call, gradient):
    z = call.x * call.beta
    return ops.where(z > call.threshold, gradient, gradient * ops.sigmoid(z))


@gradient_of(om.Softsign)
def softsign(call, gradient):
    return gradient / ops.square(1 + ops.abs(call.x))


@gradient_of(om.Softmax)
def softmax(call, gradient):
    y = call.result
    return y * (gradient - ops.sum(gradient * y, axis=call.axis, keepdims=True))


@gradient_of(om.LogSoftmax)
def log_softmax(call, gradient):
    return gradient - ops.exp(call.result) * ops.sum(gradient, axis=call.axis, keepdims=True)
