"""The gradient rules by op.

    @gradient_of(Sqrt)
    def sqrt(call, gradient):
        return gradient * 0.5 / call.result

A rule gets the `Call` and the gradient of each result, and returns the gradient of each operand in order, a tuple when there are
several; None stands for zeros or for one that is not wanted. It computes with ops on tensors. Where an operand was broadcast the
gradient may have the result's shape: it is summed afterwards, for elementwise ops.
"""
from __future__ import annotations

from typing import Callable

from ...dialect.declare import Op

GRADIENTS: dict[type[Op], Callable] = {}
NO_GRADIENT: dict[type[Op], str] = {}  # ops with floating operands and results that have no gradient, and why


def gradient_of(*ops: type[Op]) -> Callable:
    """Register a gradient rule for ops."""
    def register(rule: Callable) -> Callable:
        GRADIENTS.update(dict.fromkeys(ops, rule))
        return rule
    return register


def no_gradient(reason: str, *ops: type[Op]) -> None:
    """Say why ops have no gradient."""
    NO_GRADIENT.update(dict.fromkeys(ops, reason))


def zero_gradient(*ops: type[Op]) -> None:
    """Register ops that are constant almost everywhere."""
    for op in ops:
        gradient_of(op)(lambda call, *gradients: (None,) * len(call._node.operands))
