"""Functions without a handler, taken apart by torch's own decompositions into functions that have one."""
from __future__ import annotations

from typing import Any, Callable

import torch

from ...errors import TraceError
from .names import names_of

ASKS = "what asks is torch's decomposition of"


def decomposed(recording, function: Callable, args, kwargs) -> tuple[bool, Any]:
    """(True, result) when torch has a decomposition or reference in Python of the ATen op of this name that fits the arguments."""
    from torch._decomp import decomposition_table

    for overload, body in _candidates(function, decomposition_table):
        if body is None or overload in recording.decomposing:
            continue
        recording.decomposing.append(overload)
        try:
            with recording.mode:
                result = body(*args, **kwargs)
            if result is not NotImplemented:
                return True, result
        except TraceError as error:
            raise _asked_by(error, function) from None
        except (TypeError, NotImplementedError, ValueError, AssertionError):  # the arguments are those of another overload
            continue
        finally:
            recording.decomposing.pop()
    return False, None


def _asked_by(error: TraceError, function: Callable) -> TraceError:
    """The error with the function whose decomposition, which is not the user's, looked at a size or at data."""
    if ASKS in str(error):
        return error
    return TraceError(f"{error}\n  {ASKS} {names_of(function)[-1]}, for which the recorder has no handler of its own: "
                      "onemlir.frontend.torch.register_op adds one")


def _candidates(function, table) -> list[tuple]:
    """Decompositions of the overloads, then torch's reference in Python of the same name."""
    import torch._refs

    overloads = _overloads(function)
    name = names_of(function)[-1].removeprefix("F.")
    found = [(o, table.get(o)) for o in overloads]
    reference = getattr(torch._refs, name, None)
    return [*found, (f"refs.{name}", reference)] if callable(reference) else found


def _overloads(function) -> list:
    if isinstance(function, torch._ops.OpOverload):
        return [function]
    name = names_of(function)[-1].removeprefix("F.")
    packet = getattr(torch.ops.aten, name, None)
    return [getattr(packet, o) for o in packet.overloads()] if packet is not None else []
