"""The state of a module: its parameters and persistent buffers as arrays by name."""
from __future__ import annotations

from typing import TYPE_CHECKING, Any, Iterator, Mapping, NamedTuple

import numpy as np

from ...dialect.masked import refuse_masked
from ...errors import OnemlirError, ShapeError
from ..tensor import Tensor

if TYPE_CHECKING:
    from .module import Module


class IncompatibleKeys(NamedTuple):
    """What a load with ``strict=False`` passed over: names that the state lacks, and names that the module lacks."""

    missing_keys: list[str]
    unexpected_keys: list[str]


def named_state(module: "Module", prefix: str = "") -> Iterator[tuple[str, Tensor]]:
    """Parameters and persistent buffers with their names. One that two modules share comes under each of its names."""
    for name, tensor in module._parameters.items():
        if tensor is not None:
            yield prefix + name, tensor
    for name, tensor in module._buffers.items():
        if tensor is not None and name not in module._non_persistent:
            yield prefix + name, tensor
    for name, child in module._modules.items():
        if child is not None:
            yield from named_state(child, f"{prefix}{name}.")


def load(module: "Module", state: Mapping[str, Any], strict: bool, prefix: str) -> IncompatibleKeys:
    """Copy `state` into the module; see `Module.load_state_dict`."""
    own = dict(named_state(module))
    given = {name[len(prefix):]: value for name, value in state.items() if name.startswith(prefix)}
    arrays = {name: as_array(name, value) for name, value in given.items() if name in own}
    keys = IncompatibleKeys([n for n in own if n not in given], [n for n in given if n not in own])
    _check(type(module).__name__, own, arrays, keys if strict else IncompatibleKeys([], []))
    for name, array in arrays.items():
        own[name]._array[...] = array
        own[name]._version += 1
    return keys


def as_array(name: str, value) -> np.ndarray:
    """An entry of a state as a numpy array: tensors of ours, of torch, anything with ``__array__``."""
    if isinstance(value, Tensor):
        return value.numpy()
    if hasattr(value, "detach"):
        value = value.detach()
        value = value.float() if "bfloat16" in str(value.dtype) else value  # torch has no numpy form of it
    refuse_masked(value, f"the state's entry '{name}'")
    array = np.asarray(value)
    if array.dtype == object:
        raise OnemlirError(f"the state's entry '{name}' is a {type(value).__name__}, expected an array")
    return array


def _check(owner: str, own: Mapping[str, Tensor], arrays: Mapping[str, np.ndarray], keys: IncompatibleKeys) -> None:
    problems = [f"'{n}' is missing" for n in keys.missing_keys] + [f"'{n}' is not in the module" for n in keys.unexpected_keys]
    wrong = [f"'{n}' has shape {a.shape}, expected {own[n].shape}" for n, a in arrays.items() if a.shape != own[n].shape]
    if problems or wrong:
        raise (OnemlirError if problems else ShapeError)(f"the state does not fit {owner}: " + "; ".join(problems + wrong))
