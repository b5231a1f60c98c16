"""Normalizations, in evaluation mode."""
from __future__ import annotations

from ... import ops
from ..dtypes import is_floating
from ..registry import handles


@handles("F.layer_norm", "layer_norm")
def layer_norm(input, normalized_shape, weight=None, bias=None, eps=1e-5, cudnn_enable=True):
    return ops.layer_norm(input, tuple(normalized_shape), weight, bias, eps).astype(input.dtype)


@handles("aten.native_layer_norm", "native_layer_norm")
def native_layer_norm(input, normalized_shape, weight, bias, eps):
    axes = tuple(range(input.ndim - len(normalized_shape), input.ndim))
    mean = ops.mean(input, axis=axes, keepdims=True)
    return ops.layer_norm(input, tuple(normalized_shape), weight, bias, eps), mean, ops.rsqrt(ops.var(input, axis=axes, keepdims=True) + eps)


@handles("F.rms_norm", "rms_norm")
def rms_norm(input, normalized_shape, weight=None, eps=None):
    return ops.rms_norm(input, tuple(normalized_shape), weight, eps)


@handles("F.group_norm")
def f_group_norm(input, num_groups, weight=None, bias=None, eps=1e-5):
    return ops.group_norm(input, num_groups, weight, bias, eps).astype(input.dtype)


@handles("group_norm")
def group_norm(input, num_groups, weight=None, bias=None, eps=1e-5, cudnn_enabled=True):
    return ops.group_norm(input, num_groups, weight, bias, eps).astype(input.dtype)


@handles("native_group_norm")
def native_group_norm(input, weight, bias, N, C, HxW, group, eps):
    parts = ops.reshape(input, shape=(N, group, C // group * HxW))
    mean, variance = ops.mean(parts, axis=-1), ops.var(parts, axis=-1)
    return ops.group_norm(input, group, weight, bias, eps), mean, ops.rsqrt(variance + eps)


@handles("F.batch_norm")
def f_batch_norm(input, running_mean, running_var, weight=None, bias=None, training=False, momentum=0.1, eps=1e-5):
    return ops.batch_norm(input, running_mean, running_var, weight, bias, training, momentum, eps).astype(input.dtype)


@handles("batch_norm")
def batch_norm(input, weight, bias, running_mean, running_var, training, momentum, eps, cudnn_enabled=True):
    return ops.batch_norm(input, running_mean, running_var, weight, bias, training, momentum, eps).astype(input.dtype)


@handles("_native_batch_norm_legit_no_training")
def batch_norm_inference(input, weight, bias, running_mean, running_var, momentum, eps):
    empty = ops.zeros((0,))
    return ops.batch_norm(input, running_mean, running_var, weight, bias, False, momentum, eps), empty, empty


@handles("F.instance_norm")
def f_instance_norm(input, running_mean=None, running_var=None, weight=None, bias=None, use_input_stats=True, momentum=0.1, eps=1e-5):
    return ops.instance_norm(input, None if use_input_stats else running_mean, None if use_input_stats else running_var, weight, bias,
                             use_input_stats, momentum, eps)


@handles("instance_norm")
def instance_norm(input, weight, bias, running_mean, running_var, use_input_stats, momentum, eps, cudnn_enabled=True):
    return f_instance_norm(input, running_mean, running_var, weight, bias, use_input_stats, momentum, eps)


@handles("F.local_response_norm")
def local_response_norm(input, size, alpha=1e-4, beta=0.75, k=1.0):
    if not is_floating(input.dtype):
        return NotImplemented
    return ops.local_response_norm(input, size, alpha=alpha, beta=beta, k=k)


@handles("_weight_norm", "_weight_norm_interface")
def weight_norm(v, g, dim=0):
    axes = tuple(a for a in range(v.ndim) if dim == -1 or a != dim % v.ndim)
    return v * (g / ops.norm(v, axis=axes, keepdims=True))
