"""The table of ONNX operators that can be read: one function for each operator and version in which its meaning changed.

    @reads("Softmax", since=13)
    def read_softmax(node, ops):
        return ops.softmax(node.tensor(0), axis=node.int("axis", -1))

`node` is an `OnnxNode`, `ops` the dialect's ops as functions on recorded tensors. The function returns a tensor, a `Value`, or a tuple of
them, one for each output. A reader for a domain of one's own is registered the same way, from any package.
"""
from __future__ import annotations

from typing import Callable

READERS: dict[tuple[str, str], list[tuple[int, Callable]]] = {}


def normal_domain(domain: str) -> str:
    """The default domain has two spellings; the empty one is used here."""
    return "" if domain == "ai.onnx" else domain


def reads(*op_types: str, since: int = 1, domain: str = "") -> Callable:
    """Register a function as the reader of operators from version `since` of their domain on."""
    def register(function: Callable) -> Callable:
        for op_type in op_types:
            versions = READERS.setdefault((normal_domain(domain), op_type), [])
            versions[:] = sorted([(v, f) for v, f in versions if v != since] + [(since, function)], key=lambda entry: entry[0])
        return function
    return register


def reader_of(domain: str, op_type: str, version: int) -> Callable | None:
    """The reader for an operator at a version of its domain, or None."""
    found = None
    for since, function in READERS.get((normal_domain(domain), op_type), ()):
        if since <= version:
            found = function
    return found
