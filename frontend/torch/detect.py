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


def _any_tensor(torch, value) -> bool:
    if isinstance(value, dict):
        return any(_any_tensor(torch, v) for v in value.values())
    if isinstance(value, (tuple, list)):
        return any(_any_tensor(torch, v) for v in value)
    return isinstance(value, torch.Tensor)
