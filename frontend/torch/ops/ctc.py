"""Connectionist temporal classification with lengths and targets that may be inputs. Source: Graves et al. 2006, section 4.1, in log space."""
from __future__ import annotations

import numpy as np

from ... import ops
from ....dialect.declare import REGISTRY
from ....errors import OnemlirError
from ...dispatch import current_recorder
from ...locations import user_line
from ...ops.declared import as_tensor
from ...size_rules import literal
from ...tensor import Tensor
from ..registry import handles
from .values import as_dtype

IMPOSSIBLE = -1e30  # stands for log(0): finite, so that differences of it are defined


@handles("F.ctc_loss", "ctc_loss")
def ctc_loss(log_probs, targets, input_lengths, target_lengths, blank=0, reduction="mean", zero_infinity=False):
    """-log of the summed probability of all paths that give the target once repeats are merged and blanks left out.

    log_probs: (time, batch, classes) or (time, classes). targets: (batch, length) padded, or joined to one axis. One step of the loop per time.
    """
    batched = log_probs.ndim == 3
    log_probs = log_probs if batched else ops.expand_dims(log_probs, 1)
    count = log_probs.shape[1]
    inputs, wanted = (ops.reshape(as_tensor(n).astype("int64"), shape=(count,)) for n in (input_lengths, target_lengths))
    _check_lengths(inputs, log_probs.shape[0])
    rows = _padded(targets if batched or targets.ndim > 1 else ops.expand_dims(targets, 0), wanted)
    rows = ops.where(ops.arange(rows.shape[1]) < ops.expand_dims(wanted, 1), rows.astype("int64"), as_dtype(blank, np.dtype("int64")))
    costs = _costs(log_probs, rows, inputs, wanted, blank)
    if zero_infinity:
        costs = ops.where(ops.isinf(costs), as_dtype(0, costs.dtype), costs)
    if reduction in ("mean", 1):
        return ops.mean(costs / ops.maximum(wanted, as_dtype(1, wanted.dtype)).astype(costs.dtype))
    return ops.sum(costs) if reduction in ("sum", 2) else costs if batched else ops.reshape(costs, shape=())


def _check_lengths(lengths: Tensor, steps) -> None:
    most = ops.max(lengths)
    text = "ctc_loss: an input length is {found}, but log_probs have {expected} steps"
    if not most.is_recorded and isinstance(steps, int):
        if most.item() > steps:
            raise OnemlirError(f"{text.format(found=most.item(), expected=steps)}, at {user_line()}")
        return
    current_recorder().apply(REGISTRY["om.guard"], [most <= steps, most, steps], {"message": f"{text}, at {literal(str(user_line()))}", "kind": "GuardError"})


def _padded(targets: Tensor, lengths: Tensor) -> Tensor:
    """The targets as rows (batch, longest length); joined ones of unknown lengths as rows as long as all of them."""
    if targets.ndim == 2:
        return targets
    longest = targets.shape[0] if lengths.is_recorded else int(lengths._array.max(initial=0))
    starts = ops.expand_dims(ops.cumsum(lengths, axis=0) - lengths, 1)
    places = ops.minimum(starts + ops.arange(longest), as_dtype(targets.shape[0] - 1, lengths.dtype))
    return ops.gather(targets, places, axis=0)


def _costs(log_probs: Tensor, rows: Tensor, inputs: Tensor, wanted: Tensor, blank: int) -> Tensor:
    """-log p of each target: (batch,)."""
    dtype = log_probs.dtype
    number = lambda value: as_dtype(value, dtype)
    count, length = rows.shape
    blanks = ops.full((count, 1), as_dtype(blank, rows.dtype))
    path = ops.reshape(ops.stack([ops.broadcast_to(blanks, shape=rows.shape), rows], axis=2), shape=(count, length * 2))
    path = ops.concat([path, blanks], axis=1)  # a blank before, between and after the classes
    place = ops.arange(path.shape[1])
    shifted = lambda x, by, fill: ops.pad(x, [(0, 0), (by, 0)], constant_values=as_dtype(fill, x.dtype))[:, :x.shape[1]]
    may_skip = (path != blank) & (path != shifted(path, 2, blank)) & (place >= 2)
    running = ops.expand_dims(inputs, 1)

    def step(alpha, row):
        emitted, time = row
        arrived = ops.stack([alpha, shifted(alpha, 1, IMPOSSIBLE), ops.where(may_skip, shifted(alpha, 2, IMPOSSIBLE), number(IMPOSSIBLE))], axis=0)
        arrived = ops.where(time == 0, alpha, ops.logsumexp(arrived, axis=0))
        found = arrived + ops.maximum(ops.take_along_axis(emitted, path, 1), number(IMPOSSIBLE))
        return ops.where(time < running, found, alpha), ()

    # Before the first step a path stands before place 0, from where places 0 and 1 are reached.
    start = ops.broadcast_to(ops.where(place < 2, number(0), number(IMPOSSIBLE)), shape=path.shape)
    alpha, _ = ops.scan(step, start, (log_probs, ops.arange(log_probs.shape[0])))
    last = ops.expand_dims(wanted * 2, 1)
    ends = ops.where((place == last) | (place == last - 1), number(0), number(IMPOSSIBLE))
    total = ops.logsumexp(alpha + ends, axis=1)
    infinite = number(float("inf"))
    costs = ops.where(total < 0.1 * IMPOSSIBLE, infinite, -total)
    return ops.where(inputs == 0, ops.where(wanted == 0, number(0), infinite), costs)
