"""Losses, which evaluation may compute."""
from __future__ import annotations

from ... import ops
from ..registry import handles


def _reduced(loss, reduction):
    reduction = {0: "none", 1: "mean", 2: "sum"}.get(reduction, reduction)
    return loss if reduction == "none" else ops.mean(loss) if reduction == "mean" else ops.sum(loss)


@handles("F.mse_loss", "mse_loss")
def mse_loss(input, target, size_average=None, reduce=None, reduction="mean", weight=None):
    difference = input - target
    return _reduced(difference * difference, reduction)


@handles("F.l1_loss", "l1_loss")
def l1_loss(input, target, size_average=None, reduce=None, reduction="mean", weight=None):
    return _reduced(ops.abs(input - target), reduction)


@handles("F.cross_entropy")
def cross_entropy(input, target, weight=None, size_average=None, ignore_index=-100, reduce=None, reduction="mean", label_smoothing=0.0):
    from ...nn.losses import cross_entropy as function

    return function(input, target, weight=weight, ignore_index=ignore_index, reduction=reduction, label_smoothing=label_smoothing)
