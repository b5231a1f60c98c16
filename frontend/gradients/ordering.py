"""Gradients of sorting and selection: each result goes back to the place it came from."""
from __future__ import annotations

from ...dialect.ops import ordering as om
from ..ops.declared import declared as ops
from .broadcasting import zeros_like
from .registry import gradient_of, no_gradient

no_gradient("which elements are distinct changes with every step, as in torch", om.Unique)


@gradient_of(om.Sort)
def sort(call, gradient):
    places = ops.argsort(call.x, axis=call.axis, descending=call.descending)
    return ops.scatter(zeros_like(call.x), places, gradient, axis=call.axis)


@gradient_of(om.Topk)
def topk(call, gradient, _):
    return ops.scatter(zeros_like(call.x), call.indices, gradient, axis=call.axis)
