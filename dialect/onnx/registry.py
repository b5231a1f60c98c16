"""Writers: how an op is said in ONNX.

    @writes(Softmax)
    def write_softmax(graph, op):
        return graph.Softmax(op.x, axis=op.axis)

A writer is called with the `Graph` to add nodes to and the op (`WrittenOp`); it returns the value of the op's result, or a tuple of
them. It raises `Unwritable` for an instance that ONNX cannot say, which is then decomposed where that is possible.
"""
from __future__ import annotations

from typing import Callable

from ..declare import Op

WRITERS: dict[type[Op], list[tuple[int, Callable]]] = {}
LOWEST_OPSET, HIGHEST_OPSET = 18, 24  # older ones lack bit operations and axes as inputs; newer ones are not tried


class Unwritable(Exception):
    """This instance of an op cannot be said in ONNX, for the reason given."""


def writes(*ops: type[Op], since: int = LOWEST_OPSET) -> Callable:
    """Register a function as the writer of ops, from an opset on. Of several, the newest that the opset allows is taken."""
    def register(function: Callable) -> Callable:
        for op in ops:
            WRITERS.setdefault(op, []).append((since, function))
            WRITERS[op].sort(key=lambda entry: entry[0])
        return function
    return register


def writer_for(op: type[Op], opset: int) -> Callable | None:
    """The writer of an op under an opset, or None."""
    found = [function for since, function in WRITERS.get(op, ()) if since <= opset]
    return found[-1] if found else None
