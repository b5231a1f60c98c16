"""Losses on real values. `input` and `target` have one shape; reduction is "mean", "sum" or "none"."""
from __future__ import annotations

import math

from ... import ops
from ....errors import OnemlirError
from .reduction import loss, need_same_shape, reduce_loss


@loss
def mse_loss(input, target, reduction: str = "mean"):
    """(input - target)^2."""
    need_same_shape("mse_loss", input, target)
    return reduce_loss(ops.square(input - target), reduction)


@loss
def l1_loss(input, target, reduction: str = "mean"):
    """|input - target|."""
    need_same_shape("l1_loss", input, target)
    return reduce_loss(ops.abs(input - target), reduction)


@loss
def smooth_l1_loss(input, target, reduction: str = "mean", beta: float = 1.0):
    """d^2 / (2 beta) where d = |input - target| < beta, else d - beta / 2."""
    need_same_shape("smooth_l1_loss", input, target)
    if beta < 0:
        raise OnemlirError(f"smooth_l1_loss: beta must not be negative, found {beta}")
    distance = ops.abs(input - target)
    if beta == 0:
        return reduce_loss(distance, reduction)
    return reduce_loss(ops.where(distance < beta, ops.square(distance) * (0.5 / beta), distance - 0.5 * beta), reduction)


@loss
def huber_loss(input, target, reduction: str = "mean", delta: float = 1.0):
    """d^2 / 2 where d = |input - target| <= delta, else delta * (d - delta / 2)."""
    need_same_shape("huber_loss", input, target)
    if delta <= 0:
        raise OnemlirError(f"huber_loss: delta must be positive, found {delta}")
    distance = ops.abs(input - target)
    return reduce_loss(ops.where(distance <= delta, ops.square(distance) * 0.5, (distance - 0.5 * delta) * delta), reduction)


@loss
def poisson_nll_loss(input, target, log_input: bool = True, full: bool = False, eps: float = 1e-8, reduction: str = "mean"):
    """exp(input) - target * input, or input - target * log(input + eps) without log_input; `full` adds Stirling's term."""
    need_same_shape("poisson_nll_loss", input, target)
    values = ops.exp(input) - target * input if log_input else input - target * ops.log(input + eps)
    if full:
        above = ops.where(target > 1, target, 1.0)
        stirling = above * ops.log(above) - above + 0.5 * ops.log(2 * math.pi * above)
        values = values + ops.where(target > 1, stirling, 0.0)
    return reduce_loss(values, reduction)


@loss
def gaussian_nll_loss(input, target, var, full: bool = False, eps: float = 1e-6, reduction: str = "mean"):
    """(log(v) + (input - target)^2 / v) / 2 with v = max(var, eps); `full` adds log(2 pi) / 2.

    var: a number, of a shape that broadcasts against input, or of input's shape without its last axis. The gradient passes the limit eps
    by, as torch's.
    """
    var = ops.full((), float(var), dtype=input.dtype) if isinstance(var, (int, float)) else var
    if not var.is_recorded and (var._array < 0).any():
        raise OnemlirError(f"gaussian_nll_loss: var must not be negative, found {var._array.min()}")
    if 0 < var.ndim and var.shape == input.shape[:-1]:
        var = ops.expand_dims(var, -1)
    variance = var + ops.maximum(eps - var.detach(), 0.0)
    values = 0.5 * (ops.log(variance) + ops.square(input - target) / variance)
    return reduce_loss(values + 0.5 * math.log(2 * math.pi) if full else values, reduction)
