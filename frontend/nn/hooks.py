"""Functions that run before or after a module's forward."""
from __future__ import annotations

import itertools
from typing import Callable

_numbers = itertools.count()


class HookHandle:
    """What registering a hook returns: `remove` takes the hook away again."""

    def __init__(self, table: dict, hook: Callable):
        self.table, self.number = table, next(_numbers)
        table[self.number] = hook

    def remove(self) -> None:
        self.table.pop(self.number, None)

    def __enter__(self) -> "HookHandle":
        return self

    def __exit__(self, *_) -> None:
        self.remove()


def run_with_hooks(module, args: tuple, kwargs: dict):
    """The forward of a module between its hooks: what a hook returns, unless None, replaces the arguments or the output."""
    for hook in list(module._forward_pre_hooks.values()):
        changed = hook(module, args)
        if changed is not None:
            args = changed if isinstance(changed, tuple) else (changed,)
    output = module.forward(*args, **kwargs)
    for hook in list(module._forward_hooks.values()):
        changed = hook(module, args, output)
        output = output if changed is None else changed
    return output
