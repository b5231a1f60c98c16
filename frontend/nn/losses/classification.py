"""Losses on classes and probabilities."""
from __future__ import annotations

import ml_dtypes
import numpy as np

from ... import ops
from ....dialect import dtypes
from ....dialect.declare import REGISTRY
from ....errors import DTypeError, IndexRangeError, OnemlirError, ShapeError
from ...dispatch import current_recorder
from ...locations import user_line
from ...size_rules import literal
from ...tensor import Tensor
from .reduction import check_reduction, loss, need_same_shape, reduce_loss

NO_CLASS = "{what}: the target holds class {found}, but there are {expected} classes"


@loss
def cross_entropy(input, target, weight=None, ignore_index: int = -100, reduction: str = "mean", label_smoothing: float = 0.0):
    """-sum_c p(c) log softmax(input)(c), where p is 1 at the target's class or the target's probabilities, smoothed.

    input: scores (C,), (N, C) or (N, C, d1, ...). target: class indices without the axis C, or probabilities of input's shape.
    weight: (C,), a factor for each class. Elements whose index is `ignore_index` count as 0; the mean is over the weights of the
    others (over all elements for probabilities). label_smoothing e: p becomes (1 - e) p + e / C.
    Raises IndexRangeError for an index that is no class, ShapeError, DTypeError.
    """
    if not 0 <= label_smoothing <= 1:
        raise OnemlirError(f"label_smoothing must be between 0 and 1, found {label_smoothing}")
    axis = _class_axis("cross_entropy", input)
    log_p = ops.log_softmax(input, axis=axis)
    if dtypes.is_floating(target.dtype):
        return _with_probabilities(log_p, target, weight, axis, reduction, label_smoothing)
    values, factors = _with_indices("cross_entropy", log_p, target, weight, ignore_index, axis)
    if label_smoothing:
        spread = -ops.sum(log_p if weight is None else log_p * _along(weight, axis, log_p.ndim), axis=axis)
        spread = ops.where(ops.not_equal(target, ignore_index), spread, 0.0)
        values = values * (1 - label_smoothing) + spread * (label_smoothing / input.shape[axis])
    return _weighted_reduction(values, factors, reduction)


@loss
def nll_loss(input, target, weight=None, ignore_index: int = -100, reduction: str = "mean"):
    """-weight[target] * input[target]: input holds log-probabilities; shapes, weight, ignore_index, mean as in `cross_entropy`."""
    axis = _class_axis("nll_loss", input)
    return _weighted_reduction(*_with_indices("nll_loss", input, target, weight, ignore_index, axis), reduction)


def _class_axis(what: str, input) -> int:
    if input.ndim == 0:
        raise ShapeError(f"{what}: input needs an axis of classes, found a rank-0 tensor")
    return 0 if input.ndim == 1 else 1


def _with_probabilities(log_p, target, weight, axis: int, reduction: str, smoothing: float):
    need_same_shape("cross_entropy", log_p, target)
    check_reduction(reduction)
    classes = log_p.shape[axis]
    terms = log_p * (target * (1 - smoothing) + smoothing / classes if smoothing else target)
    values = -ops.sum(terms if weight is None else terms * _along(weight, axis, log_p.ndim), axis=axis)
    return values if reduction == "none" else ops.sum(values) if reduction == "sum" else ops.sum(values) / float(values.size)


def _with_indices(what: str, log_p, target, weight, ignore_index: int, axis: int):
    """The loss of each element and the weight it has in the mean."""
    expected = log_p.shape[:axis] + log_p.shape[axis + 1:]
    if target.shape != expected:
        raise ShapeError(f"{what}: class indices for input {log_p.shape} must have shape {expected}, found {target.shape}")
    if target.dtype not in dtypes.INTEGER:
        raise DTypeError(f"{what}: target must hold integers or probabilities, found {target.dtype}")
    counts = ops.not_equal(target, ignore_index)
    classes = ops.where(counts, target, 0)
    check_classes(what, classes, log_p.shape[axis])
    picked = ops.take_along_axis(log_p, ops.expand_dims(classes.astype(dtypes.int64), axis), axis=axis)
    factors = counts.astype(log_p.dtype)
    if weight is not None:
        factors = factors * ops.take(weight, classes, axis=0)
    values = ops.where(counts, -ops.reshape(picked, expected), 0.0)
    return values * factors, factors


def check_classes(what: str, classes: Tensor, count) -> None:
    """IndexRangeError for a class that there is not: at once, or, from a recording, at the run that meets it."""
    if classes.is_recorded:
        _guard_classes(what, classes, count)
    elif classes.size:
        low, high = np.min(classes._array), np.max(classes._array)
        if low < 0 or high >= count:
            raise IndexRangeError(NO_CLASS.format(what=what, found=low if low < 0 else high, expected=count))


def _guard_classes(what: str, classes: Tensor, count) -> None:
    flat = ops.concatenate([ops.reshape(classes, (-1,)).astype(dtypes.int64), ops.zeros((1,), dtypes.int64)])  # never empty
    low, high = ops.min(flat), ops.max(flat)
    text = NO_CLASS.format(what=what, found="{found}", expected="{expected}")
    operands = [ops.logical_and(low >= 0, high < count), ops.where(low < 0, low, high), count]
    message = f"{text}, at {literal(str(user_line()))}"
    current_recorder().apply(REGISTRY["om.guard"], operands, {"message": message, "kind": "IndexRangeError"})


def _along(weight, axis: int, rank: int):
    return ops.reshape(weight, (-1,) + (1,) * (rank - axis - 1))


def _weighted_reduction(values, factors, reduction: str):
    check_reduction(reduction)
    return values if reduction == "none" else ops.sum(values) if reduction == "sum" else ops.sum(values) / ops.sum(factors)


@loss
def binary_cross_entropy(input, target, weight=None, reduction: str = "mean"):
    """-(t log(x) + (1 - t) log(1 - x)) for probabilities x; each logarithm is at least -100. weight broadcasts.

    The gradient is torch's, (x - t) / max(x (1 - x), 1e-12), finite for x 0 and 1.
    """
    need_same_shape("binary_cross_entropy", input, target)
    if not input.is_recorded and not ((input._array >= 0) & (input._array <= 1)).all():
        raise OnemlirError("binary_cross_entropy: input must hold probabilities between 0 and 1; for scores use binary_cross_entropy_with_logits")
    smallest = max(1e-12, float(ml_dtypes.finfo(input.dtype).tiny))
    certain, fixed = input * (1 - input) < smallest, input.detach()
    inside = _log_likelihood(ops.where(certain, 0.5, input), target)
    at_edge = _log_likelihood(fixed, target) + (target - fixed) / smallest * (input - fixed)
    values = -ops.where(certain, at_edge, inside)
    return reduce_loss(values if weight is None else values * weight, reduction)


def _log_likelihood(x, target):
    return target * ops.maximum(ops.log(x), -100.0) + (1 - target) * ops.maximum(ops.log1p(-x), -100.0)


@loss
def binary_cross_entropy_with_logits(input, target, weight=None, reduction: str = "mean", pos_weight=None):
    """`binary_cross_entropy` of sigmoid(input), stable for large scores. pos_weight scales the positive term; both broadcast."""
    need_same_shape("binary_cross_entropy_with_logits", input, target)
    softplus = ops.log1p(ops.exp(-ops.abs(input))) + ops.maximum(-input, 0.0)  # -log(sigmoid(input))
    positive = softplus if pos_weight is None else softplus * (1 + (pos_weight - 1) * target)
    values = (1 - target) * input + positive
    return reduce_loss(values if weight is None else values * weight, reduction)


@loss
def kl_div(input, target, reduction: str = "mean", log_target: bool = False):
    """target * (log(target) - input), 0 where target is 0: input holds log-probabilities, target probabilities (or their logarithms).

    A negative target gives NaN. reduction "batchmean" divides the sum by the size of axis 0, which is the divergence; "mean" is over all
    elements.
    """
    need_same_shape("kl_div", input, target)
    check_reduction(reduction, "batchmean")
    if log_target:
        values = ops.exp(target) * (target - input)
    else:
        zero = ops.equal(target, 0)
        values = ops.where(zero, 0.0, target * ops.log(ops.where(zero, 1.0, target))) - target * input
    if reduction == "batchmean":
        return ops.sum(values) / float(input.shape[0])
    return reduce_loss(values, reduction)
