"""Functions without a handler, taken apart by torch's own decompositions into functions that have one."""
from __future__ import annotations

from typing import Any, Callable

import torch

from .names import names_of


def decomposed(recording, function: Callable, args, kwargs) -> tuple[bool, Any]:
    """(True, result) when torch has a decomposition in Python of the ATen op of this name that fits the arguments."""
    from torch._decomp import decomposition_table

    for overload in _overloads(function):
        body = decomposition_table.get(overload)
        if body is None or recording.decomposing.count(overload):
            continue
        recording.decomposing.append(overload)
        try:
            with recording.mode:
                return True, body(*args, **kwargs)
        except TypeError:  # the arguments are those of another overload
            continue
        finally:
            recording.decomposing.pop()
    return False, None


def _overloads(function) -> list:
    if isinstance(function, torch._ops.OpOverload):
        return [function]
    name = names_of(function)[-1].removeprefix("F.")
    packet = getattr(torch.ops.aten, name, None)
    return [getattr(packet, o) for o in packet.overloads()] if packet is not None else []
