"""Losses that ask for a margin."""
from __future__ import annotations

from ... import ops
from ....errors import OnemlirError, ShapeError
from ..distance import pairwise_distance
from .classification import check_classes
from .reduction import loss, need_same_shape, positive_part, reduce_loss


@loss
def hinge_loss(input, target, margin: float = 1.0, reduction: str = "mean"):
    """max(0, margin - target * input); target holds 1 and -1."""
    need_same_shape("hinge_loss", input, target)
    return reduce_loss(positive_part(margin - target * input), reduction)


@loss
def hinge_embedding_loss(input, target, margin: float = 1.0, reduction: str = "mean"):
    """input where target is 1, max(0, margin - input) where it is -1."""
    need_same_shape("hinge_embedding_loss", input, target)
    far = ops.where(ops.not_equal(target, 1), positive_part(margin - input), 0.0)
    return reduce_loss(far + ops.where(ops.not_equal(target, -1), input, 0.0), reduction)


@loss
def soft_margin_loss(input, target, reduction: str = "mean"):
    """log(1 + exp(-target * input)); target holds 1 and -1."""
    need_same_shape("soft_margin_loss", input, target)
    return reduce_loss(ops.log1p(ops.exp(-target * input)), reduction)


@loss
def margin_ranking_loss(input1, input2, target, margin: float = 0.0, reduction: str = "mean"):
    """max(0, -target * (input1 - input2) + margin): target 1 when input1 should be the larger, -1 when input2."""
    need_same_shape("margin_ranking_loss", input1, input2)
    return reduce_loss(positive_part(-target * (input1 - input2) + margin), reduction)


@loss
def multi_margin_loss(input, target, p: int = 1, margin: float = 1.0, weight=None, reduction: str = "mean"):
    """sum over classes c other than the target of max(0, margin - input[target] + input[c])^p / C. input: (N, C) or (C,)."""
    if p not in (1, 2):
        raise OnemlirError(f"multi_margin_loss: p must be 1 or 2, found {p}")
    if input.ndim not in (1, 2) or target.shape != input.shape[:-1]:
        raise ShapeError(f"multi_margin_loss: input must be (N, C) or (C,) and target (N,) or (), found {input.shape} and {target.shape}")
    classes = input.shape[-1]
    check_classes("multi_margin_loss", target, classes)
    index = ops.expand_dims(target, -1)
    short = ops.relu(margin - ops.take_along_axis(input, index, axis=-1) + input)
    short = short if p == 1 else ops.square(short)
    if weight is not None:
        short = short * ops.expand_dims(ops.take(weight, target, axis=0), -1)
    others = ops.not_equal(ops.arange(classes), index)
    return reduce_loss(ops.sum(ops.where(others, short, 0.0), axis=-1) / float(classes), reduction)


@loss
def cosine_embedding_loss(input1, input2, target, margin: float = 0.0, reduction: str = "mean"):
    """1 - cos(x1, x2) where target is 1, max(0, cos(x1, x2) - margin) where it is -1. Inputs: (N, D) or (D,); target: (N,) or ()."""
    need_same_shape("cosine_embedding_loss", input1, input2)
    if target.shape != input1.shape[:-1]:
        raise ShapeError(f"cosine_embedding_loss: target must have shape {input1.shape[:-1]}, found {target.shape}")
    tiny = 1e-12
    lengths = (ops.sum(ops.square(input1), axis=-1) + tiny) * (ops.sum(ops.square(input2), axis=-1) + tiny)
    cosine = ops.sum(input1 * input2, axis=-1) / ops.sqrt(lengths)
    near = ops.where(ops.equal(target, 1), 1 - cosine, 0.0)
    return reduce_loss(near + ops.where(ops.equal(target, -1), positive_part(cosine - margin), 0.0), reduction)


@loss
def triplet_margin_loss(anchor, positive, negative, margin: float = 1.0, p: float = 2, eps: float = 1e-6, swap: bool = False,
                        reduction: str = "mean"):
    """max(0, d(anchor, positive) - d(anchor, negative) + margin), d the p-norm of the difference plus eps.

    With `swap` the distance of positive and negative counts where it is smaller. Source: Balntas et al. 2016.
    """
    far = pairwise_distance(anchor, negative, p, eps)
    if swap:
        far = ops.minimum(far, pairwise_distance(positive, negative, p, eps))
    return reduce_loss(positive_part(pairwise_distance(anchor, positive, p, eps) - far + margin), reduction)
