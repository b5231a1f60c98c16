"""Decompositions of activation functions."""
from __future__ import annotations

import math

from ...dialect.ops import activation as om
from .precision import rounded_once
from .reduction import largest
from .registry import decomposes


@decomposes(om.Relu6)
def relu6(ops, x):
    return ops.minimum(ops.relu(x), 6)


@decomposes(om.LeakyRelu)
@rounded_once
def leaky_relu(ops, x, negative_slope):
    return ops.where(x > 0, x, x * negative_slope)


@decomposes(om.Prelu)
@rounded_once
def prelu(ops, x, weight):
    return ops.where(x > 0, x, weight * x)


@decomposes(om.Elu)
@rounded_once
def elu(ops, x, alpha):
    return ops.where(x > 0, x, ops.expm1(x) * alpha)


@decomposes(om.Selu)
@rounded_once
def selu(ops, x, alpha, scale):
    return ops.where(x > 0, x, ops.expm1(x) * alpha) * scale


@decomposes(om.Celu)
@rounded_once
def celu(ops, x, alpha):
    return ops.where(x > 0, x, ops.expm1(x / alpha) * alpha)


@decomposes(om.Gelu)
@rounded_once
def gelu(ops, x, approximate):
    if approximate == "tanh":
        inner = ops.tanh((x + x * x * x * 0.044715) * math.sqrt(2 / math.pi))
    else:
        inner = ops.erf(x * math.sqrt(0.5))
    return x * 0.5 * (inner + 1.0)


@decomposes(om.Silu)
@rounded_once
def silu(ops, x):
    return x * ops.sigmoid(x)


@decomposes(om.HardSigmoid)
@rounded_once
def hard_sigmoid(ops, x, alpha, beta):
    return ops.minimum(ops.maximum(x * alpha + beta, 0), 1)


@decomposes(om.HardSwish)
@rounded_once
def hard_swish(ops, x):
    return x * ops.minimum(ops.maximum(x + 3, 0), 6) / 6


@decomposes(om.Mish)
@rounded_once
def mish(ops, x):
    return x * ops.tanh(log_one_plus_exp(ops, x))


@decomposes(om.Softplus)
@rounded_once
def softplus(ops, x, beta, threshold):
    z = x * beta
    return ops.where(z > threshold, x, log_one_plus_exp(ops, z) / beta)


def log_one_plus_exp(ops, x):
    """log(1 + exp(x)) without overflow."""
    return ops.maximum(x, 0) + ops.log1p(ops.exp(-ops.abs(x)))


@decomposes(om.Softsign)
@rounded_once
def softsign(ops, x):
    return x / (ops.abs(x) + 1)


@decomposes(om.Softmax)
@rounded_once
def softmax(ops, x, axis):
    """Divides once a row: the sum is 1 at least, so its reciprocal is as exact."""
    shifted = ops.exp(x - largest(ops, x, (axis,)))
    return shifted * ops.reciprocal(ops.sum(shifted, axis=axis, keepdims=True))


@decomposes(om.LogSoftmax)
@rounded_once
def log_softmax(ops, x, axis):
    shifted = x - largest(ops, x, (axis,))
    return shifted - ops.log(ops.sum(ops.exp(shifted), axis=axis, keepdims=True))
