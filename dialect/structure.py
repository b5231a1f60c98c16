"""Nested containers of tensors: flattening to leaves with paths, and rebuilding.

A structure is JSON-able: ``{"tuple": [...]}``, ``{"list": [...]}``, ``{"dict": {...}}``, ``{"none": true}``, ``{"value": v}`` for
plain Python scalars, and an int for the leaf of that number. Dataclasses and named tuples are ``{"record": class, "fields": {...}}``.
A dict whose keys are not all text, or not in the order of their text, has them under "keys", as ``{"value": key}`` each.
"""
from __future__ import annotations

import dataclasses
from typing import Any, Callable

from ..errors import TraceError

Structure = Any


def flatten(value, is_leaf: Callable[[Any], bool], leaves: list, path: str = "", static: Callable | None = None,
            within: frozenset = frozenset()) -> Structure:
    """The structure of `value`; leaves are appended to `leaves` as (path, leaf).

    Values that are neither containers, leaves, None, nor str/int/float/bool go to `static(path, value)`, which may raise. TraceError for a
    container that holds itself. within: the ids of the containers around.
    """
    if is_leaf(value):
        leaves.append((path, value))
        return len(leaves) - 1
    if value is None:
        return {"none": True}
    if id(value) in within:
        raise TraceError(f"the {type(value).__name__} at '{path}' holds itself: tensors are given in containers that end")
    item = lambda key, v: flatten(v, is_leaf, leaves, f"{path}.{key}" if path else str(key), static, within | {id(value)})
    if isinstance(value, dict):
        return _dict(value, {k: item(k, v) for k, v in value.items()})
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {"record": type(value), "fields": {f.name: item(f.name, getattr(value, f.name)) for f in dataclasses.fields(value)}}
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return {"record": type(value), "fields": {k: item(k, getattr(value, k)) for k in value._fields}}
    if isinstance(value, (list, tuple)):
        return {"tuple" if isinstance(value, tuple) else "list": [item(i, v) for i, v in enumerate(value)]}
    if static is not None:
        static(path, value)
    return {"value": value}


def _dict(value: dict, items: dict) -> Structure:
    named = {str(key): item for key, item in items.items()}
    if len(named) < len(items):
        raise TraceError(f"keys of a dict must differ as text, found {', '.join(map(repr, value))}")
    if all(type(key) is str for key in value):
        return {"dict": named}
    return {"dict": named, "keys": [{"value": key} for key in value]}


def rebuild(structure: Structure, leaves: list):
    """The value whose structure this is, with other leaves."""
    if isinstance(structure, int):
        return leaves[structure]
    if "none" in structure:
        return None
    if "value" in structure:
        return structure["value"]
    if "dict" in structure:
        keys = [k["value"] for k in structure["keys"]] if "keys" in structure else structure["dict"]
        return {k: rebuild(structure["dict"][str(k)], leaves) for k in keys}
    if "record" in structure:
        fields = {k: rebuild(v, leaves) for k, v in structure["fields"].items()}
        return structure["record"](**fields) if isinstance(structure["record"], type) else fields
    kind, items = next(iter(structure.items()))
    rebuilt = [rebuild(v, leaves) for v in items]
    return tuple(rebuilt) if kind == "tuple" else rebuilt


def to_json(structure: Structure) -> Structure:
    """The structure with classes replaced by dicts, so that it can be written to a file; keys that JSON cannot say by their text.

    The file sorts the entries of dicts, so that "keys" says their order.
    """
    if isinstance(structure, dict):
        if "record" in structure:
            return to_json({"dict": structure["fields"]})
        if "dict" in structure:
            keys, items = structure.get("keys"), {k: to_json(v) for k, v in structure["dict"].items()}
            if keys is None or any(not isinstance(k["value"], (str, int, float, type(None))) for k in keys):
                keys = [{"value": k} for k in items]
            return {"dict": items, "keys": keys} if [k["value"] for k in keys] != sorted(items) else {"dict": items}
        return {k: to_json(v) for k, v in structure.items()}
    return [to_json(v) for v in structure] if isinstance(structure, list) else structure
