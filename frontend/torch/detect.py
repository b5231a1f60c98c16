"""Whether something belongs to torch, asked without importing it."""
from __future__ import annotations

import sys


def is_torch(model, examples=(), keywords=None) -> bool:
    """Whether a model is torch's, or a plain function is given torch tensors."""
    torch = sys.modules.get("torch")
    if torch is None or not hasattr(torch, "nn"):
        return False
    if isinstance(model, (torch.nn.Module, torch.jit.ScriptFunction)) or type(model).__name__ == "ExportedProgram":
        return True
    if isinstance(getattr(model, "__self__", None), torch.nn.Module):
        return True
    from ..nn.module import Module

    if isinstance(model, Module) or isinstance(getattr(model, "__self__", None), Module):
        return False
    return _any_tensor(torch, (examples, keywords))


def _any_tensor(torch, value, within: tuple[int, ...] = ()) -> bool:
    """within: the ids of the containers around; one that holds itself is refused later, with its place."""
    if isinstance(value, (dict, tuple, list)):
        inner, around = value.values() if isinstance(value, dict) else value, (*within, id(value))
        return id(value) not in within and any(_any_tensor(torch, v, around) for v in inner)
    return isinstance(value, torch.Tensor)
