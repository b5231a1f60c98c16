"""Constructors of the library's modules check their arguments, by the annotations of their signatures."""
from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterable, Mapping

import numpy as np

from ...errors import OnemlirError

SIGNED = ("dim", "start_dim", "end_dim", "padding_idx", "padding", "unflattened_size")  # axes, and what the module checks by its own rule


def checked(init: Callable) -> Callable:
    """The constructor with its arguments checked first. OnemlirError names the module, the argument and what was expected."""
    signature = inspect.signature(init)
    rules = [(p.name, str(p.annotation).replace("Sizes", "int | Sequence[int]").split(" | ")) for p in list(signature.parameters.values())[1:]
             if p.annotation is not p.empty and p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD)]

    @functools.wraps(init)
    def call(self, *args, **kwargs):
        try:
            values = signature.bind(self, *args, **kwargs).arguments
        except TypeError:
            values = {}  # the constructor itself says which argument is missing or unknown
        for name, kinds in rules:
            if name in values and not any(_fits(values[name], kind, name not in SIGNED) for kind in kinds):
                expected = " or ".join(_words(kind, name not in SIGNED) for kind in kinds)
                raise OnemlirError(f"{type(self).__name__}: '{name}' must be {expected}, found {values[name]!r:.60}")
        init(self, *args, **kwargs)
    return call


def _fits(value, kind: str, unsigned: bool) -> bool:
    if kind == "None":
        return value is None
    if kind == "int":
        return _is_int(value) and not (unsigned and value < 0)
    if kind == "float":
        return isinstance(value, (int, float, np.integer, np.floating)) and not isinstance(value, bool)
    if kind == "bool":
        return isinstance(value, (bool, np.bool_)) or (_is_int(value) and value in (0, 1))
    if kind == "str":
        return isinstance(value, str)
    if kind.startswith("Sequence["):
        item = kind[len("Sequence["):-1]
        return isinstance(value, (tuple, list, np.ndarray)) and all(_fits(v, item, unsigned) for v in value)
    return not (kind in TYPES or kind.partition("[")[0] in TYPES) or isinstance(value, TYPES[kind.partition("[")[0]])


TYPES = {"Iterable": Iterable, "Mapping": Mapping, "Callable": Callable}


def _is_int(value) -> bool:
    return hasattr(value, "__index__") and not isinstance(value, (bool, np.bool_)) and not getattr(value, "ndim", 0)


def _words(kind: str, unsigned: bool) -> str:
    """What a kind is called in messages."""
    words = {"int": "an int" + " that is not negative" * unsigned, "float": "a number", "bool": "True or False", "str": "a string"}
    if kind.startswith("Sequence["):
        return "a sequence of " + {"int": "ints", "float": "numbers"}[kind[len("Sequence["):-1]]
    return words.get(kind, kind)
