"""Normalizations as torch calls them."""
from __future__ import annotations

import math
from typing import Sequence

from ...errors import OnemlirError, ShapeError
from ..autograd import no_grad
from ..dispatch import current_recorder
from ..tensor import Tensor
from .declared import as_tensor, declared as om

__all__ = ["batch_norm", "group_norm", "instance_norm", "layer_norm", "rms_norm"]


def layer_norm(x, normalized_shape: int | Sequence[int], weight=None, bias=None, eps: float = 1e-5) -> Tensor:
    """(x - mean) / sqrt(var + eps) * weight + bias over the last axes, whose sizes `normalized_shape` names.

    weight, bias: of that shape. ShapeError when x does not end in it. Source: torch, ``layer_norm``.
    """
    x = as_tensor(x)
    return om.layer_norm(x, weight, bias, axes_count=_last_axes("layer_norm", x, normalized_shape), eps=eps)


def rms_norm(x, normalized_shape: int | Sequence[int], weight=None, eps: float | None = None) -> Tensor:
    """x / sqrt(mean(x^2) + eps) * weight over the last axes, whose sizes `normalized_shape` names. eps None: the machine epsilon.

    ShapeError when x does not end in it. Source: torch, ``rms_norm``.
    """
    x = as_tensor(x)
    return om.rms_norm(x, weight, axes_count=_last_axes("rms_norm", x, normalized_shape), eps=eps)


def group_norm(x, num_groups: int, weight=None, bias=None, eps: float = 1e-5) -> Tensor:
    """(x - mean) / sqrt(var + eps) * weight + bias with the statistics of one group of channels of one sample.

    x: (batch, channels, ...); weight, bias: (channels,). ShapeError when channels do not divide into num_groups. Source: torch, ``group_norm``.
    """
    return om.group_norm(x, weight, bias, num_groups=num_groups, eps=eps)


def _last_axes(name: str, x: Tensor, shape) -> int:
    shape = (shape,) if hasattr(shape, "__index__") else tuple(shape)
    last = x.shape[-len(shape):] if shape else ()
    if not shape or len(shape) > x.ndim or not all(_same(a, b) for a, b in zip(last, shape)):
        raise ShapeError(f"{name}: x must end in the sizes of normalized_shape {shape}, found shape {x.shape}")
    return len(shape)


def _same(a, b) -> bool:
    """Equality of sizes; a symbolic size against a fixed one follows the recording's rule."""
    return a is b or bool(a == b)


def batch_norm(x, running_mean=None, running_var=None, weight=None, bias=None, training: bool = False, momentum: float = 0.1,
               eps: float = 1e-5) -> Tensor:
    """(x - mean) / sqrt(var + eps) * weight + bias, of one value a channel (axis 1).

    mean and var are the running ones, or with `training` those of the batch; the running ones, when given, then become
    (1 - momentum) * running + momentum * batch, the variance with correction 1. In a recording that change is a TraceError.
    x: (batch, channels, ...). ShapeError for sizes that do not fit, or a batch of one value a channel in training. Source: torch.
    """
    x = as_tensor(x)
    if not training:
        if running_mean is None or running_var is None:
            raise OnemlirError("batch_norm: running_mean and running_var are needed when training is False")
        return om.batch_norm(x, running_mean, running_var, weight, bias, eps=eps)
    if x.ndim < 2:
        raise ShapeError(f"batch_norm: x must be (batch, channels, ...), found {x.shape}")
    axes = (0, *range(2, x.ndim))
    mean, var = om.mean(x, axis=axes), om.var(x, axis=axes)
    if running_mean is not None or running_var is not None:
        _update_running("batch_norm", x, axes, running_mean, running_var, momentum)
    return om.batch_norm(x, mean, var, weight, bias, eps=eps)


def instance_norm(x, running_mean=None, running_var=None, weight=None, bias=None, use_input_stats: bool = True, momentum: float = 0.1,
                  eps: float = 1e-5) -> Tensor:
    """(x - mean) / sqrt(var + eps) * weight + bias with the statistics of each channel of each sample, or the running ones.

    With running statistics and use_input_stats those become (1 - momentum) * running + momentum * (mean over the samples), which in a
    recording is a TraceError. x: (batch, channels, ...) with a further axis. Source: torch, ``instance_norm``.
    """
    x = as_tensor(x)
    if not use_input_stats:
        return batch_norm(x, running_mean, running_var, weight, bias, eps=eps)
    y = om.instance_norm(x, weight, bias, eps=eps)
    if running_mean is not None or running_var is not None:
        _update_running("instance_norm", x, tuple(range(2, x.ndim)), running_mean, running_var, momentum)
    return y


def _update_running(name: str, x: Tensor, axes, running_mean, running_var, momentum: float) -> None:
    recorder = current_recorder()
    if recorder is not None and not hasattr(recorder, "write_back"):
        recorder.refuse(name, "in training it changes its running statistics: record in evaluation mode, as Module.trace does")
    count = math.prod(x.shape[a] for a in axes)
    if count <= 1:
        raise ShapeError(f"{name}: training needs more than one value a channel, found shape {x.shape}")
    with no_grad():
        for running, batch in ((running_mean, om.mean(x, axis=axes)), (running_var, om.var(x, axis=axes, correction=1))):
            if running is not None:
                batch = batch if batch.ndim == 1 else om.mean(batch, axis=0)
                _write(recorder, running, (running * (1 - momentum) + batch * momentum).astype(running.dtype))


def _write(recorder, running: Tensor, value: Tensor) -> None:
    """Change a running statistic: now, or after each call of the function that is being recorded."""
    if recorder is None:
        running[...] = value
    else:
        recorder.write_back(running, value)
