"""What is known about the elements of a recorded tensor whatever the run: the interval that they lie in, from literals, places and masks.

A program that asks ``(mask > 0).any()`` of a mask that it made itself is answered, where a symbolic size keeps the mask from being known.
"""
from __future__ import annotations

import math
from typing import Callable

import numpy as np

from ..dialect import dtypes
from ..dialect.graph import Node

Interval = tuple  # the least and the greatest value that an element may have; no element is NaN
FALSE, TRUE, EITHER = (0.0, 0.0), (1.0, 1.0), (0.0, 1.0)
SAME_ELEMENTS = ("om.full", "om.reshape", "om.slice", "om.transpose", "om.broadcast_to", "om.flip", "om.gather", "om.max", "om.min", "tensor.concat")


def known_element(recorder, node: Node) -> np.ndarray | None:
    """The one element of a tensor where it is the same in every run; None where it is not known to be."""
    if any(size != 1 for size in node.shape):
        return None
    found = _interval(recorder, node.value, {})
    return np.full(node.shape, found[0]).astype(node.dtype) if found is not None and found[0] == found[1] else None


def _interval(recorder, value, seen: dict) -> Interval | None:
    if value not in seen:
        seen[value] = None
        operation = getattr(value.owner, "operation", None)
        seen[value] = _of_operation(recorder, operation, seen) if operation is not None and hasattr(value.type, "element_type") else None
    return seen[value]


def _of_operation(recorder, operation, seen: dict) -> Interval | None:
    name = operation.name
    if name == "om.constant":
        return _of_array(np.asarray(recorder.interpreter().value(operation.results[0])))
    if name == "om.iota":
        return 0.0, math.inf
    tensors = [v for v in operation.operands if hasattr(v.type, "element_type")]
    parts = [_interval(recorder, v, seen) for v in tensors[:1 if name == "om.gather" else None]]
    if name in SAME_ELEMENTS:
        return None if None in parts else _hull(parts)
    if name == "om.where":
        return _chosen(*parts)
    if name not in RULES or None in parts:
        return None
    return RULES[name](*parts) if name != "om.cast" else _cast(parts[0], str(operation.results[0].type.element_type))


def _of_array(array: np.ndarray) -> Interval | None:
    if not array.size or array.dtype == dtypes.bfloat16:
        return None
    low, high = float(array.min()), float(array.max())
    return None if math.isnan(low) or math.isnan(high) else (low, high)


def _hull(parts) -> Interval:
    return min(low for low, _ in parts), max(high for _, high in parts)


def _chosen(condition, x, y) -> Interval | None:
    if condition in (FALSE, TRUE):
        return x if condition == TRUE else y
    return None if x is None or y is None else _hull((x, y))


def _cast(x: Interval, element: str) -> Interval | None:
    if element == "i1":
        return FALSE if x == (0, 0) else TRUE if x[0] > 0 or x[1] < 0 else EITHER
    whole = all(math.isinf(v) or v == int(v) for v in x)
    return x if element in ("f32", "f64") and whole or element == "i64" and whole and x[0] >= 0 else None


def _less(a: Interval, b: Interval) -> Interval:
    return TRUE if a[1] < b[0] else FALSE if a[0] >= b[1] else EITHER


def _not(a: Interval) -> Interval:
    return 1 - a[1], 1 - a[0]


def _equal(a: Interval, b: Interval) -> Interval:
    return TRUE if a == b and a[0] == a[1] else FALSE if a[1] < b[0] or b[1] < a[0] else EITHER


def _of_bools(combine: Callable) -> Callable:
    def rule(a: Interval, b: Interval) -> Interval | None:
        if any(part not in (FALSE, TRUE, EITHER) for part in (a, b)):
            return None
        return combine(a[0], b[0]), combine(a[1], b[1])
    return rule


RULES: dict[str, Callable] = {
    "om.cast": _cast, "om.less": _less, "om.greater": lambda a, b: _less(b, a), "om.less_equal": lambda a, b: _not(_less(b, a)),
    "om.greater_equal": lambda a, b: _not(_less(a, b)), "om.equal": _equal, "om.not_equal": lambda a, b: _not(_equal(a, b)),
    "om.logical_and": _of_bools(min), "om.bitwise_and": _of_bools(min), "om.logical_or": _of_bools(max), "om.bitwise_or": _of_bools(max),
    "om.logical_not": _not, "om.maximum": lambda a, b: (max(a[0], b[0]), max(a[1], b[1])), "om.minimum": lambda a, b: (min(a[0], b[0]), min(a[1], b[1])),
    "om.any": lambda a: FALSE if a == FALSE else EITHER, "om.all": lambda a: TRUE if a == TRUE else EITHER,
}  # fmt: skip
