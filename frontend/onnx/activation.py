"""Activations, softmax and its relatives."""
from __future__ import annotations

import numpy as np

from ...dialect import symbolic

from ..ops.declared import declared as om
from .registry import reads


@reads("LeakyRelu")
def read_leaky_relu(node, ops):
    return ops.leaky_relu(node.tensor(0), negative_slope=node.float("alpha", 0.01))


@reads("PRelu")
def read_prelu(node, ops):
    x, slope = node.tensor(0), node.tensor(1)
    if node.version < 7 and slope.ndim == 1 and x.ndim > 1 and node.shape(1) != (1,):
        slope = ops.reshape(slope, shape=(*node.shape(1), *[1] * (x.ndim - 2)))
    if np.issubdtype(x.dtype, np.integer):
        return ops.where(x > 0, x, slope * x)
    return ops.prelu(x, slope)


@reads("Elu")
def read_elu(node, ops):
    return ops.elu(node.tensor(0), alpha=node.float("alpha", 1.0))


@reads("Selu")
def read_selu(node, ops):
    return ops.selu(node.tensor(0), alpha=node.float("alpha", 1.67326319217681884765625), scale=node.float("gamma", 1.05070102214813232421875))


@reads("Celu")
def read_celu(node, ops):
    return ops.celu(node.tensor(0), alpha=node.float("alpha", 1.0))


@reads("Gelu")
def read_gelu(node, ops):
    return ops.gelu(node.tensor(0), approximate=node.text("approximate", "none"))


@reads("HardSigmoid")
def read_hard_sigmoid(node, ops):
    return ops.hard_sigmoid(node.tensor(0), alpha=node.float("alpha", 0.2), beta=node.float("beta", 0.5))


@reads("ThresholdedRelu")
def read_thresholded_relu(node, ops):
    x = node.tensor(0)
    return ops.where(x > node.float("alpha", 1.0), x, 0.0)


@reads("Swish")
def read_swish(node, ops):
    return swish(node, ops, 1.0)


def swish(node, ops, alpha: float):
    """x sigmoid(alpha x); the argument is alpha's default."""
    x, alpha = node.tensor(0), node.float("alpha", alpha)
    return ops.silu(x) if alpha == 1 else x * ops.sigmoid(x * alpha)


@reads("Shrink")
def read_shrink(node, ops):
    x, bias, limit = node.tensor(0), node.float("bias", 0.0), node.float("lambd", 0.5)
    if np.issubdtype(x.dtype, np.integer):
        wide = x.astype(np.float64)
        return ops.where(wide < -limit, wide + bias, ops.where(wide > limit, wide - bias, 0.0)).astype(x.dtype)
    return ops.where(x < -limit, x + bias, ops.where(x > limit, x - bias, 0.0))


@reads("Softmax", "LogSoftmax", since=13)
def read_softmax(node, ops):
    return _function(ops, node)(node.tensor(0), axis=node.int("axis", -1))


@reads("Softmax", "LogSoftmax")
def read_softmax_of_rows(node, ops):
    """Up to version 12 the tensor is seen as a matrix: the axes from `axis` on are one."""
    return _on_rows(node, _function(ops, node))


def _function(ops, node):
    return {"Softmax": ops.softmax, "LogSoftmax": ops.log_softmax, "Hardmax": _hardmax}[node.op_type]


def _on_rows(node, function):
    x, shape, axis = node.tensor(0), node.shape(0), node.int("axis", 1)
    if axis in (-1, len(shape) - 1):
        return function(x, axis=-1)
    axis %= len(shape)
    rows = om.reshape(x, shape=(symbolic.product(shape[:axis]), symbolic.product(shape[axis:])))
    return om.reshape(function(rows, axis=1), shape=shape)


def _hardmax(x, axis):
    """1 at the first largest element along an axis, else 0."""
    axis %= x.ndim
    place = om.argmax(x, axis=axis, keepdims=True)
    count = om.iota(size=(x._node.shape[axis] if x.is_recorded else x.shape[axis],))
    index = om.reshape(count, shape=tuple(-1 if i == axis else 1 for i in range(x.ndim)))
    return (place == index).astype(x.dtype)


@reads("Hardmax", since=13)
def read_hardmax(node, ops):
    return _hardmax(node.tensor(0), node.int("axis", -1))


@reads("Hardmax")
def read_hardmax_of_rows(node, ops):
    return _on_rows(node, _hardmax)
