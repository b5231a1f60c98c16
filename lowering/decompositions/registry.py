"""Decompositions: a composite op written in terms of other ops.

    @decomposes(Softmax)
    def softmax(ops, x, axis):
        shifted = ops.exp(x - ops.max(x, axis=axis, keepdims=True))
        return shifted / ops.sum(shifted, axis=axis, keepdims=True)

The function is called with the graph builder's ops, then the declaration's fields as keywords: operands are nodes (None when left
out), attributes have symbolic sizes in place. It returns a node or a tuple of nodes of the op's result types.
"""
from __future__ import annotations

from typing import Callable

from ...dialect.declare import Op

DECOMPOSITIONS: dict[type[Op], Callable] = {}


def decomposes(op: type[Op]) -> Callable:
    """Register a function as the decomposition of an op."""
    def register(function: Callable) -> Callable:
        DECOMPOSITIONS[op] = function
        return function
    return register
