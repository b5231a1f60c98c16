"""What is called when a program is recorded: a module or function as it is, TorchScript through its graph, an ExportedProgram as a module."""
from __future__ import annotations

import re
from typing import Callable

import torch

from ..locations import is_library_file, UserLine
from .ops.mapped import mapped_by
from .ops.scans import scans_by
from .script_calls import is_script_call, script_parameters, seen_script_calls


def as_callable(model) -> Callable:
    """The model as a torch module or function; ExportedPrograms become modules."""
    return model.module() if type(model).__name__ == "ExportedProgram" else model


def is_script(model) -> bool:
    return isinstance(model, torch.jit.ScriptModule) or is_script_call(model)


def run_program(recording, model, arguments, named):
    """Call the model on recorded arguments."""
    if isinstance(model, torch.fx.GraphModule) and not named:
        with recording.mode:
            return LocatedInterpreter(model, recording.recorder).run(*arguments)
    with recording.mode, seen_script_calls(type(recording.mode)), mapped_by(recording), scans_by(recording):
        return model(*arguments, **named)


class LocatedInterpreter(torch.fx.Interpreter):
    """Runs an fx graph; ops get the line and the module path that torch noted on the node."""

    def __init__(self, module, recorder):
        super().__init__(module)
        self.recorder = recorder

    def run_node(self, node):
        recorder, line, path = self.recorder, self.recorder.user_line, self.recorder.path
        recorder.user_line = noted_line(node) or line
        modules = [str(entry[0]) for entry in (node.meta.get("nn_module_stack") or {}).values()]
        recorder.path = [modules[-1]] if modules and modules[-1] else path
        try:
            return super().run_node(node)
        finally:
            recorder.user_line, recorder.path = line, path


def noted_line(node) -> UserLine | None:
    """The innermost line of a node's stack trace that is not torch's own."""
    found = re.findall(r'File "([^"]+)", line (\d+)', node.meta.get("stack_trace") or "")
    users = [(name, line) for name, line in found if not is_library_file(name)]
    return UserLine(users[-1][0], int(users[-1][1])) if users else None


def script_parameter_names(model, count: int) -> list[str]:
    """Names of the first parameters of a TorchScript function, or of a module's forward."""
    return [a.name for a in script_parameters(model.forward if isinstance(model, torch.jit.ScriptModule) else model)][:count]
