"""Losses, which evaluation may compute."""
from __future__ import annotations

from ... import ops
from ...ops.declared import declared
from ..dtypes import is_floating
from ..registry import handles
from .values import as_dtype


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
    places = ops.expand_dims(ops.where(kept, target, as_dtype(0, target.dtype)), axis)
    chosen = ops.squeeze(declared.take_along_axis(input, places, axis=axis), axis)
    factor = kept.astype(input.dtype) if weight is None else ops.gather(weight, ops.squeeze(places, axis), axis=0) * kept.astype(input.dtype)
    loss = -chosen * factor
    return ops.sum(loss) / ops.sum(factor) if reduction == "mean" else _reduced(loss, reduction)


@handles("F.cross_entropy")
def cross_entropy(input, target, weight=None, size_average=None, ignore_index=-100, reduce=None, reduction="mean", label_smoothing=0.0):
    if label_smoothing or is_floating(target.dtype):
        return NotImplemented
    return nll_loss(ops.log_softmax(input, axis=0 if input.ndim == 1 else 1), target, weight, None, ignore_index, None, reduction)
