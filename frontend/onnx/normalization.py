"""Normalizations."""
from __future__ import annotations

import numpy as np

from ...dialect import dtypes
from ...dialect.shapes import normalize_axis
from ..ops.declared import declared as om
from ..tensor import Tensor
from .registry import reads


@reads("BatchNormalization", since=7)
def read_batch_norm(node, ops):
    """The running statistics count; in training mode those of the batch, and the running ones are outputs 1 and 2."""
    x, scale, bias, mean, var = node.tensors()
    eps = node.float("epsilon", 1e-5)
    if not node.int("training_mode", 0):
        return ops.batch_norm(x, mean, var, scale, bias, eps=eps)
    axes = (0, *range(2, x.ndim))
    momentum = node.float("momentum", 0.9)
    batch_mean, batch_var = ops.mean(x, axis=axes), ops.var(x, axis=axes)
    y = ops.batch_norm(x, batch_mean, batch_var, scale, bias, eps=eps)
    running = [a * momentum + b.astype(a.dtype) * (1 - momentum) for a, b in ((mean, batch_mean), (var, batch_var))]
    return (y, *running)


@reads("BatchNormalization")
def read_old_batch_norm(node, ops):
    if not node.int("is_test", 0):
        node.refuse("batch normalization in training mode (is_test 0) of a version below 7 cannot be read")
    return read_batch_norm(node, ops)


@reads("InstanceNormalization")
def read_instance_norm(node, ops):
    return ops.instance_norm(node.tensor(0), node.tensor(1), node.tensor(2), eps=node.float("epsilon", 1e-5))


@reads("GroupNormalization", since=21)
def read_group_norm(node, ops):
    return ops.group_norm(node.tensor(0), node.tensor(1), node.tensor(2), num_groups=node.int("num_groups"), eps=node.float("epsilon", 1e-5))


def _leading(x: Tensor, axis: int) -> tuple[Tensor, Tensor]:
    """Mean over the axes from `axis` on, and x without it, both in f32 at least."""
    wide = x.astype(dtypes.float32) if x.dtype.itemsize < 4 else x
    mean = om.mean(wide, axis=tuple(range(axis, x.ndim)), keepdims=True)
    return mean, wide - mean


@reads("LayerNormalization")
def read_layer_norm(node, ops):
    x, axis, eps = node.tensor(0), normalize_axis(node.int("axis", -1), node.rank(0)), node.float("epsilon", 1e-5)
    weight, bias = node.tensor(1), node.optional(2)
    fits = all(node.shape(i) == node.shape(0)[axis:] for i in (1, 2) if node.has(i))
    if fits and not node.wants(1) and not node.wants(2) and x.dtype == weight.dtype:
        return ops.layer_norm(x, weight, bias, axes_count=x.ndim - axis, eps=eps)
    mean, centered = _leading(x, axis)
    inverse = ops.rsqrt(ops.mean(centered * centered, axis=tuple(range(axis, x.ndim)), keepdims=True) + eps)
    y = (centered * inverse).astype(x.dtype) * weight
    return (y if bias is None else y + bias), mean, inverse


@reads("RMSNormalization", "SimplifiedLayerNormalization")
def read_rms_norm(node, ops):
    x, axis, eps = node.tensor(0), normalize_axis(node.int("axis", -1), node.rank(0)), node.float("epsilon", 1e-5)
    weight = node.tensor(1)
    if node.shape(1) == node.shape(0)[axis:] and weight.dtype == x.dtype:
        return ops.rms_norm(x, weight, axes_count=x.ndim - axis, eps=eps)
    wide = x.astype(dtypes.float32) if x.dtype.itemsize < 4 else x
    y = wide * ops.rsqrt(ops.mean(wide * wide, axis=tuple(range(axis, x.ndim)), keepdims=True) + eps)
    return y.astype(weight.dtype) * weight


@reads("LRN")
def read_lrn(node, ops):
    """x / (bias + alpha / size * s)^beta, s the sum of squares over floor((size - 1) / 2) channels before and ceil((size - 1) / 2) after."""
    x, size, alpha, beta, bias = node.tensor(0), node.int("size"), node.float("alpha", 1e-4), node.float("beta", 0.75), node.float("bias", 1.0)
    if size % 2:
        return ops.local_response_norm(x, size=size, alpha=alpha, beta=beta, k=bias)
    shape, rest = node.shape(0), (0,) * (x.ndim - 2)
    squares = ops.pad(x * x, None, low=(0, (size - 1) // 2, *rest), high=(0, size // 2, *rest))
    total = 0
    for i in range(node.steps(size, "the channels of a window")):
        total = total + ops.slice(squares, starts=(0, i, *rest), shape=shape, steps=(1,) * x.ndim)
    return x / ops.pow(total * (alpha / size) + bias, beta)


@reads("LpNormalization")
def read_lp_norm(node, ops):
    x, axis, p = node.tensor(0), node.int("axis", -1), node.int("p", 2)
    size = ops.norm(x, ord=float(p), axis=axis, keepdims=True)
    return ops.where(size == 0, Tensor._wrap(np.zeros((), x.dtype)), x / size)


@reads("MeanVarianceNormalization")
def read_mean_variance_norm(node, ops):
    x, axes = node.tensor(0), node.ints_attribute("axes", (0, 2, 3))
    centered = x - ops.mean(x, axis=axes, keepdims=True)
    return centered / (ops.sqrt(ops.mean(centered * centered, axis=axes, keepdims=True)) + 1e-9)
