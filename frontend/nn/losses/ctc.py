"""Connectionist temporal classification. Source: Graves et al. 2006, section 4.1, in log space."""
from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ... import ops
from ....dialect import dtypes
from ....errors import DTypeError, OnemlirError, ShapeError
from ...tensor import Tensor
from .reduction import check_reduction, loss

# Stands for log(0): finite, so that sums and gradients of impossible paths are defined.
_IMPOSSIBLE = -1e30


@loss
def ctc_loss(log_probs, targets, input_lengths, target_lengths, blank: int = 0, reduction: str = "mean", zero_infinity: bool = False):
    """-log of the summed probability of all paths that give the target once repeats are merged and blanks left out.

    log_probs: (T, N, C) or (T, C), logarithms of probabilities. targets: (N, S) padded, or all of them joined to one axis; classes
    other than blank. input_lengths, target_lengths: (N,), or one number each for (T, C). "mean" divides each loss by its target's
    length (at least 1) and averages over the batch. A target that no path can give costs infinity, or 0 with `zero_infinity`.
    """
    check_reduction(reduction)
    batched = log_probs.ndim == 3
    if log_probs.ndim not in (2, 3) or log_probs.dtype not in dtypes.FLOATING:
        raise ShapeError(f"ctc_loss: log_probs must be floating (T, N, C) or (T, C), found {log_probs.dtype}{log_probs.shape}")
    log_probs = log_probs if batched else ops.expand_dims(log_probs, 1)
    batch = _Batch.of(log_probs.shape, targets, input_lengths, target_lengths, blank)
    dtype = log_probs.dtype
    wide = log_probs.astype(dtypes.float32) if dtype.itemsize < 4 else log_probs
    costs = _costs(wide, batch).astype(dtype)
    if zero_infinity:
        costs = ops.where(ops.isinf(costs), 0.0, costs)
    if reduction == "mean":
        return ops.mean(costs / np.maximum(batch.target_lengths, 1).astype(dtype))
    return ops.sum(costs) if reduction == "sum" else costs if batched else ops.reshape(costs, ())


@dataclass(frozen=True)
class _Batch:
    """The targets with a blank before, between and after the classes: `path` (N, 2 S + 1), and the lengths (N,)."""

    path: np.ndarray
    may_skip: np.ndarray  # whether a path may come to a place from two places before
    input_lengths: np.ndarray
    target_lengths: np.ndarray

    @staticmethod
    def of(shape: tuple, targets, input_lengths, target_lengths, blank: int) -> "_Batch":
        steps, count, classes = shape
        if not 0 <= blank < classes:
            raise OnemlirError(f"ctc_loss: blank {blank} is not one of {classes} classes")
        inputs = _lengths("input_lengths", input_lengths, count, steps)
        wanted = _lengths("target_lengths", target_lengths, count, None)
        rows = _padded(_integers("targets", targets), wanted)
        _check_targets(rows, wanted, classes)
        path = np.full((count, 2 * rows.shape[1] + 1), blank, np.int64)
        path[:, 1::2] = rows
        may_skip = np.zeros(path.shape, bool)
        may_skip[:, 2:] = (path[:, 2:] != blank) & (path[:, 2:] != path[:, :-2])
        return _Batch(path, may_skip, inputs, wanted)


def _costs(log_probs: Tensor, batch: _Batch) -> Tensor:
    """-log p of each target: (N,)."""
    steps, count, _ = log_probs.shape
    places = batch.path.shape[1]
    index = np.broadcast_to(batch.path, (steps, count, places))
    emissions = ops.maximum(ops.take_along_axis(log_probs, index, axis=2), _IMPOSSIBLE)
    ends = _last_places(batch, log_probs.dtype)
    # Before the first step a path stands before place 0, from where places 0 and 1 are reached.
    alpha = Tensor(np.where(np.arange(places) < 2, 0, _IMPOSSIBLE).astype(log_probs.dtype) * np.ones((count, 1), log_probs.dtype))
    for step in range(steps):
        arrived = alpha if step == 0 else _arrive(alpha, batch)
        running = (step < batch.input_lengths)[:, None]
        alpha = ops.where(running, arrived + ops.reshape(emissions[step], (count, places)), alpha)
    total = ops.logsumexp(alpha + ends, axis=1)
    costs = ops.where(total < 0.1 * _IMPOSSIBLE, np.inf, -total)
    nothing = batch.input_lengths == 0
    return ops.where(nothing, np.where(batch.target_lengths == 0, 0, np.inf).astype(log_probs.dtype), costs) if nothing.any() else costs


def _arrive(alpha: Tensor, batch: _Batch) -> Tensor:
    """log of the probability to be at each place one step later, before what is emitted there: from it, or one or two places before."""
    count, places = alpha.shape
    before = Tensor(np.full((count, 2), _IMPOSSIBLE, alpha.dtype))
    padded = ops.concat([before, alpha], axis=1)
    stay, one, two = padded[:, 2:], padded[:, 1:places + 1], padded[:, :places]
    return ops.logsumexp(ops.stack([stay, one, ops.where(batch.may_skip, two, _IMPOSSIBLE)], axis=0), axis=0)


def _last_places(batch: _Batch, dtype) -> np.ndarray:
    """0 at the places where a path may end, the last class and the blank after it, else the stand-in for log(0)."""
    place = np.arange(batch.path.shape[1])
    last = 2 * batch.target_lengths[:, None]
    return np.where((place == last) | (place == last - 1), 0, _IMPOSSIBLE).astype(dtype)


def _integers(name: str, values) -> np.ndarray:
    array = np.asarray(values._array if isinstance(values, Tensor) else values)
    if array.dtype.kind not in "iu" and array.size:
        raise DTypeError(f"ctc_loss: {name} must hold integers, found {array.dtype}")
    return array.astype(np.int64)


def _lengths(name: str, values, count: int, most: int | None) -> np.ndarray:
    lengths = _integers(name, values).reshape(-1)
    if lengths.shape != (count,):
        raise ShapeError(f"ctc_loss: {name} must have one number for each of {count} sequences, found {lengths.size}")
    if (lengths < 0).any() or (most is not None and (lengths > most).any()):
        raise OnemlirError(f"ctc_loss: {name} must be between 0 and {'the size of targets' if most is None else most}, found {lengths.tolist()}")
    return lengths


def _padded(targets: np.ndarray, lengths: np.ndarray) -> np.ndarray:
    """The targets as rows (N, longest length), 0 after the end of each."""
    joined = targets.ndim == 1
    if targets.ndim not in (1, 2) or (joined and targets.size < lengths.sum()) or (not joined and targets.shape[0] != len(lengths)):
        raise ShapeError(f"ctc_loss: targets must be ({len(lengths)}, S), or joined with {lengths.sum()} classes, found shape {targets.shape}")
    longest = int(lengths.max(initial=0))
    if not joined and longest > targets.shape[1]:
        raise ShapeError(f"ctc_loss: a target has length {longest}, but targets has shape {targets.shape}")
    rows = np.zeros((len(lengths), longest), np.int64)
    starts = np.cumsum(lengths) - lengths
    for row, (start, length) in enumerate(zip(starts, lengths)):
        rows[row, :length] = targets[start:start + length] if joined else targets[row, :length]
    return rows


def _check_targets(rows: np.ndarray, lengths: np.ndarray, classes: int) -> None:
    used = rows[np.arange(rows.shape[1]) < lengths[:, None]]
    if used.size and not (0 <= used.min() and used.max() < classes):
        raise OnemlirError(f"ctc_loss: targets must hold classes between 0 and {classes - 1}, found {used.min()} to {used.max()}")
