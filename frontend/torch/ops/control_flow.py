"""torch.cond and while_loop: both branches, or condition and body, are recorded; the model decides when it runs."""
from __future__ import annotations

import functools
from typing import Callable

import torch

from ... import ops
from ...tensor import Tensor
from ..registry import handles
from ..tensor import value_of
from .values import tensor_of


def _recorded(recording, function: Callable) -> Callable:
    """A function of torch tensors as one of ours."""
    def run(*values):
        with recording.mode:
            result = recording.to_ours(function(*recording.to_theirs(values)))
        return tuple(map(_tensor, result)) if isinstance(result, (tuple, list)) else result
    return functools.update_wrapper(run, function, assigned=("__name__",), updated=()) if hasattr(function, "__name__") else run


def _tensor(value):
    return value if isinstance(value, Tensor) or value is None else tensor_of(value)


@handles("higher_order.cond", kind="raw")
def cond(recording, pred, true_fn, false_fn, operands=()):
    if not isinstance(pred, torch.Tensor):
        return (true_fn if pred else false_fn)(*operands)
    decision = ops.reshape(value_of(recording.recorded(pred)), shape=()).astype(bool)
    sides = [lambda f=f: _recorded(recording, f)(*map(recording.to_ours, operands)) for f in (true_fn, false_fn)]
    for side, function in zip(sides, (true_fn, false_fn)):
        side.__wrapped__ = function
    return recording.to_theirs(ops.cond(decision, *sides))


@handles("higher_order.while_loop", kind="raw")
def while_loop(recording, cond_fn, body_fn, carried_inputs, additional_inputs=()):
    extra = [recording.to_ours(v) for v in additional_inputs]
    init = tuple(_tensor(recording.to_ours(v)) for v in carried_inputs)
    condition, body = (_recorded(recording, f) for f in (cond_fn, body_fn))
    return recording.to_theirs(ops.while_loop(lambda *values: ops.reshape(condition(*values, *extra), shape=()), lambda *values: body(*values, *extra), init))
