"""Handlers of torch functions by name. A handler takes our tensors where torch takes its own, and gives ours back."""
from __future__ import annotations

import inspect
from dataclasses import dataclass
from typing import Callable

from .names import names_of


@dataclass(frozen=True)
class Handler:
    """What to do for a function. `kind`: "pure"; "view" gives a View; "raw" takes the recording and torch's own arguments."""

    function: Callable
    kind: str = "pure"

    def takes(self, args, kwargs) -> bool:
        """Whether the function has parameters for these arguments."""
        try:
            inspect.signature(self.function).bind(*args, **kwargs)
        except TypeError:
            return False
        return True


HANDLERS: dict[str, Handler] = {}


def handles(*names: str, kind: str = "pure") -> Callable:
    """Register the decorated function for torch functions of these names."""
    def register(function: Callable) -> Callable:
        for name in names:
            HANDLERS[name] = Handler(function, kind)
        return function
    return register


def register_op(target: str | Callable) -> Callable:
    """Let the decorated function record a torch function, an ATen op or a custom op.

    target: the torch function or OpOverload itself, or its name: ``"mylib.foo"`` for ``torch.ops.mylib.foo``, ``"F.gelu"``, ``"fmod"``. The
    decorated function takes `onemlir.Tensor`s where the torch function takes tensors, computes with `onemlir.ops`, and returns tensors.

        @onemlir.frontend.torch.register_op(torch.ops.mylib.foo.default)
        def foo(x, scale):
            return ops.tanh(x) * scale
    """
    name = target if isinstance(target, str) else names_of(target)[0].removeprefix("Tensor.")
    return handles(name)


def find(function: Callable) -> tuple[Handler | None, str]:
    """The handler of a function and the name it was found by; (None, its first name) when there is none."""
    names = names_of(function)
    for name in names:
        found = HANDLERS.get(name)
        if found is not None:
            return found, name
    return None, names[0]
