"""Calling a module with other parameters than its own."""
from __future__ import annotations

from contextlib import contextmanager
from typing import Mapping

from ...errors import OnemlirError
from ..dispatch import substituted
from ..tensor import Tensor
from .module import Module


def functional_call(module: Module, parameters: Mapping[str, Tensor], *args, **kwargs):
    """``module(*args, **kwargs)`` with these tensors in the place of its parameters and buffers of the same names.

    OnemlirError for a name the module does not have. For training steps as functions: ``om.value_and_grad`` by the parameters.
    Source: torch.func.functional_call.
    """
    places = {}
    for path, owner in module.named_modules():
        for table in ("_parameters", "_buffers"):
            for name in owner.__dict__[table]:
                places[f"{path}.{name}" if path else name] = owner.__dict__[table], name
    unknown = [name for name in parameters if name not in places]
    if unknown:
        raise OnemlirError(f"{type(module).__name__} has no parameter or buffer {', '.join(map(repr, unknown))}")
    with substituted(lambda: _in_place(places, parameters)):
        return module(*args, **kwargs)


@contextmanager
def _in_place(places: dict, parameters: Mapping[str, Tensor]):
    before = {name: places[name][0][places[name][1]] for name in parameters}
    try:
        _put(places, parameters)
        yield
    finally:
        _put(places, before)


def _put(places: dict, tensors: Mapping[str, Tensor]) -> None:
    for name, tensor in tensors.items():
        table, key = places[name]
        table[key] = tensor
