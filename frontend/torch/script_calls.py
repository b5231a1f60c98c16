"""Calls of TorchScript functions and methods in a recorded program, which torch's interpreter would otherwise run unseen."""
from __future__ import annotations

import contextlib
from typing import Iterator

import torch
from torch.overrides import handle_torch_function

from .script import ScriptRunner

_KINDS = (torch.ScriptMethod, torch.jit.ScriptFunction)


def is_script_call(function) -> bool:
    """Whether a function is TorchScript's: a method of a scripted or traced module, or a function."""
    return isinstance(function, _KINDS)


@contextlib.contextmanager
def seen_script_calls(mode: type) -> Iterator[None]:
    """While a function mode of this class is on top, it is asked about calls of TorchScript, as about any torch function."""
    before = [(kind, kind.__call__) for kind in _KINDS]
    for kind, call in before:
        kind.__call__ = _asking(mode, call)
    try:
        yield
    finally:
        for kind, call in before:
            kind.__call__ = call


def _asking(mode: type, call):
    def asking(self, *args, **kwargs):
        if isinstance(torch.overrides._get_current_function_mode(), mode):
            return handle_torch_function(self, args, *args, **kwargs)
        return call(self, *args, **kwargs)
    return asking


def run_script(recording, function, args, kwargs):
    """The result of a TorchScript function or method on recorded tensors."""
    owner = module_of(function)
    names = dict(owner.named_modules()) if owner is not None else {}
    paths = {id(module): ".".join([*recording.recorder.path, *([path] if path else [])]) for path, module in names.items()}
    return ScriptRunner(recording, owner, paths).run(function.graph, complete(function, args, kwargs))


def module_of(function) -> torch.jit.ScriptModule | None:
    """The module of a method, which shares the weights of the one it was taken from; None for a function."""
    return torch.jit._recursive.wrap_cpp_module(function.owner) if isinstance(function, torch.ScriptMethod) else None


def complete(function, arguments, named) -> list:
    """Arguments in order, with the function's defaults. TypeError for one that is missing or unknown."""
    parameters = script_parameters(function)
    rest = parameters[len(arguments):]
    missing = [p.name for p in rest if p.name not in named and not p.has_default_value()]
    if missing or len(arguments) > len(parameters) or not named.keys() <= {p.name for p in rest}:
        names = ", ".join(p.name for p in parameters)
        raise TypeError(f"{function.name}({names}) was called with {len(arguments)} arguments by position and {list(named)} by name")
    return [*arguments, *(named[p.name] if p.name in named else p.default_value for p in rest)]


def script_parameters(function) -> list:
    """The arguments of a TorchScript function, or of a method after the module itself."""
    arguments = function.schema.arguments
    return arguments[1:] if isinstance(function, torch.ScriptMethod) and len(arguments) == len(list(function.graph.inputs())) else arguments
