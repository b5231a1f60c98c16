"""Losses, which evaluation may compute."""
from __future__ import annotations

import math

from ... import ops
from ...nn.losses.classification import check_classes
from ...ops.declared import declared
from ..dtypes import is_floating
from ..registry import handles
from .reduction import pairwise_distance
from .values import as_dtype, floating


def _reduced(loss, reduction):
    reduction = {0: "none", 1: "mean", 2: "sum"}.get(reduction, reduction)
    return loss if reduction == "none" else ops.mean(loss) if reduction == "mean" else ops.sum(loss)


@handles("F.mse_loss")
def mse_loss(input, target, size_average=None, reduce=None, reduction="mean", weight=None):
    difference = input - target
    return _reduced(difference * difference, reduction)


@handles("F.l1_loss")
def l1_loss(input, target, size_average=None, reduce=None, reduction="mean", weight=None):
    return _reduced(ops.abs(input - target), reduction)


@handles("F.kl_div")
def kl_div(input, target, size_average=None, reduce=None, reduction="mean", log_target=False):
    """target * (log(target) - input), 0 where target is 0."""
    if log_target:
        loss = ops.exp(target) * (target - input)
    else:
        loss = ops.where(target == 0, as_dtype(0, target.dtype), target * ops.log(target)) - target * input
    return ops.sum(loss) / as_dtype(input.shape[0], loss.dtype) if reduction == "batchmean" else _reduced(loss, reduction)


handles("C.mse_loss", "mse_loss")(lambda input, target, reduction=1: mse_loss(input, target, reduction=reduction))
handles("C.l1_loss", "l1_loss")(lambda input, target, reduction=1: l1_loss(input, target, reduction=reduction))
handles("kl_div")(lambda input, target, reduction=1, log_target=False: kl_div(input, target, None, None, reduction, log_target))


@handles("F.nll_loss")
def nll_loss(input, target, weight=None, size_average=None, ignore_index=-100, reduce=None, reduction="mean"):
    """-input[.., target, ..] along the class axis; targets that are ignore_index count as nothing."""
    axis = 0 if input.ndim == 1 else 1
    kept = target != ignore_index
    classes = ops.where(kept, target, as_dtype(0, target.dtype))
    check_classes("nll_loss", classes, input.shape[axis])
    places = ops.expand_dims(classes, axis)
    chosen = ops.squeeze(declared.take_along_axis(input, places, axis=axis), axis)
    factor = kept.astype(input.dtype) if weight is None else ops.gather(weight, classes, axis=0) * kept.astype(input.dtype)
    loss = -chosen * factor
    return ops.sum(loss) / ops.sum(factor) if reduction == "mean" else _reduced(loss, reduction)


@handles("F.cross_entropy")
def cross_entropy(input, target, weight=None, size_average=None, ignore_index=-100, reduce=None, reduction="mean", label_smoothing=0.0):
    """Of class numbers, or of probabilities in the shape of the input; smoothed labels count all classes a little."""
    axis = 0 if input.ndim == 1 else 1
    logs = ops.log_softmax(input, axis=axis)
    per_class = 1.0 if weight is None else ops.reshape(weight, shape=(-1,) + (1,) * (input.ndim - axis - 1))
    if is_floating(target.dtype):
        target = target * (1.0 - label_smoothing) + label_smoothing / input.shape[axis] if label_smoothing else target
        loss = -ops.sum(logs * target * per_class, axis=axis)
        count = math.prod(s for i, s in enumerate(input.shape) if i != axis)
        return ops.sum(loss) / as_dtype(count, loss.dtype) if reduction == "mean" else _reduced(loss, reduction)
    loss = nll_loss(logs, target, weight, None, ignore_index, None, reduction)
    if not label_smoothing:
        return loss
    kept = target != ignore_index
    smooth = ops.where(kept, -ops.sum(logs * per_class, axis=axis), as_dtype(0, logs.dtype))
    if reduction == "mean":
        classes = ops.where(kept, target, as_dtype(0, target.dtype))
        factor = kept.astype(logs.dtype) if weight is None else ops.gather(weight, classes, axis=0) * kept.astype(logs.dtype)
        smooth = ops.sum(smooth) / ops.sum(factor)
    else:
        smooth = _reduced(smooth, reduction)
    return loss * (1.0 - label_smoothing) + smooth * (label_smoothing / input.shape[axis])


# What torch.nn.functional calls in C++; a reduction is a number or its name.
@handles("margin_ranking_loss")
def margin_ranking_loss(input1, input2, target, margin=0.0, reduction=1):
    (loss,) = floating(-target * (input1 - input2))
    return _reduced(_positive(loss + margin), reduction)


@handles("hinge_embedding_loss")
def hinge_embedding_loss(input, target, margin=1.0, reduction=1):
    """The input where the target is 1, max(0, margin - input) where it is -1."""
    (input,) = floating(input)
    return _reduced(_where(target != 1, _positive(margin - input)) + _where(target != -1, input), reduction)


@handles("cosine_embedding_loss")
def cosine_embedding_loss(input1, input2, target, margin=0.0, reduction=1):
    """1 - cos where the target is 1, max(0, cos - margin) where it is -1."""
    input1, input2 = floating(input1, input2)
    total = lambda x: ops.sum(x, axis=target.ndim)
    cosine = total(input1 * input2) / ops.sqrt((total(input1 * input1) + 1e-12) * (total(input2 * input2) + 1e-12))
    return _reduced(_where(target == 1, 1.0 - cosine) + _where(target == -1, _positive(cosine - margin)), reduction)


@handles("triplet_margin_loss")
def triplet_margin_loss(anchor, positive, negative, margin=1.0, p=2.0, eps=1e-6, swap=False, reduction=1):
    near, far = pairwise_distance(anchor, positive, p, eps), pairwise_distance(anchor, negative, p, eps)
    far = ops.minimum(far, pairwise_distance(positive, negative, p, eps)) if swap else far
    return _reduced(_positive(near - far + margin), reduction)


@handles("poisson_nll_loss")
def poisson_nll_loss(input, target, log_input=True, full=False, eps=1e-8, reduction=1):
    """exp(input) - target * input; with `full`, Stirling's approximation of log(target!) where the target is above 1."""
    input, target = floating(input, target)
    loss = ops.exp(input) - target * input if log_input else input - target * ops.log(input + eps)
    if full:
        loss = loss + _where(target > 1, target * ops.log(target) - target + 0.5 * ops.log(2 * math.pi * target))
    return _reduced(loss, reduction)


@handles("F.gaussian_nll_loss")
def gaussian_nll_loss(input, target, var, full=False, eps=1e-6, reduction="mean"):
    """(log(var) + (input - target)**2 / var) / 2, var at least eps. A negative var, an error in torch, counts as eps."""
    var = as_dtype(var, input.dtype)
    var = ops.expand_dims(var, -1) if 0 < var.ndim < input.ndim else var
    var = ops.maximum(var, as_dtype(eps, var.dtype))
    difference = input - target
    loss = 0.5 * (ops.log(var) + difference * difference / var)
    return _reduced(loss + 0.5 * math.log(2 * math.pi) if full else loss, reduction)


def _positive(x):
    return ops.maximum(x, as_dtype(0, x.dtype))


def _where(condition, x):
    return ops.where(condition, x, as_dtype(0, x.dtype))
