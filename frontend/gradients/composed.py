"""Gradients of ops that are composed of others: the composition is run again on the tape, and walked back."""
from __future__ import annotations

import functools
from typing import Callable

from ...dialect import dtypes
from ...dialect.declare import Op
from .. import autograd
from ..ops.declared import declared as ops
from ..ops.shape import sizes
from ..tensor import Tensor
from .registry import gradient_of


def composed_gradient(*declarations: type[Op]) -> Callable:
    """Register a function ``f(call, *operands)`` that computes the op of simpler ones; the gradient follows from it.

    f16 and bf16 are computed in f32. The operands of `call` are not to be read in it, its attributes are.
    """
    def register(forward: Callable) -> Callable:
        gradient_of(*declarations)(functools.partial(_pull_through, forward))
        return forward
    return register


def _pull_through(forward: Callable, call, *gradients):
    node, wanted = call._node, call._wanted
    operands = [node.operand(i) for i in range(len(node.operands))]
    differentiable = autograd.grad_enabled()
    with autograd.grad_mode(True):
        inputs = [None if t is None else _starting_point(t, differentiable) if w else t.detach() for t, w in zip(operands, wanted)]
        results = forward(call, *map(_wide, inputs))
        results = results if isinstance(results, tuple) else (results,)
    pairs = [(r, g.astype(r.dtype)) for r, g in zip(results, gradients) if g is not None]
    chosen = [t for t, w in zip(inputs, wanted) if w]
    found = iter(autograd.gradients([r for r, _ in pairs], chosen, [g for _, g in pairs], create_graph=differentiable))
    return tuple(next(found) if w else None for w in wanted)


def _starting_point(tensor: Tensor, differentiable: bool) -> Tensor:
    """The operand as a place of its own on the tape: connected with the operand when the gradient is differentiated again."""
    if differentiable:
        return ops.reshape(tensor, shape=sizes(tensor))
    start = tensor.detach()
    start.requires_grad = True
    return start


def _wide(tensor: Tensor | None) -> Tensor | None:
    narrow = tensor is not None and dtypes.is_floating(tensor.dtype) and tensor.dtype.itemsize == 2
    return tensor.astype(dtypes.float32) if narrow else tensor
