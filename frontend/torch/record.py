"""Recording a torch module or function from one run on example inputs."""
from __future__ import annotations

import contextlib
import inspect
from typing import Any, Callable, Iterator, Mapping, Sequence

import torch

from ...dialect.structure import flatten, rebuild, to_json
from ...errors import OnemlirError, TraceError
from .. import locations
from ..recording import Recorder, recording
from ..tracer import axes_by_input, check_axes, output_names
from .arrays import shared_array
from .outputs import plain_outputs
from .programs import as_callable, is_script, run_program, script_parameter_names
from .recording import TorchRecording, version_of
from .tensor import RecordedTensor, value_of
from .traced import TorchTracedModel

locations.skip_folder(torch.__path__[0])


def record_torch(model: Callable, examples: Sequence, keywords: Mapping[str, Any], axes, on_read: str, static: Mapping[str, Any],
                 repeats: bool = True) -> TorchTracedModel:
    """Record ``model(*examples, **keywords, **static)``; tensors among the examples and keywords are inputs."""
    if len(examples) == 1 and type(examples[0]) is tuple:
        examples = examples[0]
    model = as_callable(model)
    recorder = Recorder(on_read)
    modules = modules_of(model)
    with evaluation_mode(modules), recording(recorder), torch.no_grad(), exporting():
        torch_recording = TorchRecording(recorder, named_state(modules))
        arguments, named = add_inputs(recorder, model, examples, keywords, axes)
        with module_paths(recorder, modules), unchanged_state(modules):
            try:
                result = run_program(torch_recording, model, arguments, {**named, **static})
            except OnemlirError:
                raise
            except Exception:  # it may follow from a stand-in of what is missing
                torch_recording.report()
                raise
        torch_recording.report()
        return finish(recorder, torch_recording, result)


def finish(recorder: Recorder, torch_recording: TorchRecording, result) -> TorchTracedModel:
    """The traced model whose outputs are the tensors in `result`."""
    leaves: list = []
    structure = flatten(plain_outputs(result), lambda v: isinstance(v, torch.Tensor), leaves, static=_refuse_output)
    outputs = list(zip(output_names(leaves), (value_of(torch_recording.recorded(t)) for _, t in leaves)))
    program = recorder.finish(outputs, to_json(structure))
    versions = [(name, torch_recording.shared.get(id(t), t), version) for name, t, version in recorder.versions]
    return TorchTracedModel(program, [(n, t, version_of(t) if isinstance(t, torch.Tensor) else v) for n, t, v in versions], structure)


def _refuse_output(path: str, value) -> None:
    if not isinstance(value, (bool, int, float, str)):
        raise TraceError(f"the function returned {type(value).__name__} at '{path or 'the top'}': outputs are tensors in tuples, lists, dicts")


# Inputs.
def add_inputs(recorder: Recorder, model: Callable, examples: Sequence, keywords: Mapping[str, Any], axes):
    """Arguments for the call with tensors replaced by recorded inputs."""
    parameters = parameter_names(model, len(examples))
    values = dict(zip(parameters, examples)) | dict(keywords)
    leaves: list = []
    structures = {name: flatten(value, is_array, leaves, name) for name, value in values.items()}
    names = [path for path, _ in leaves]
    shown = ["input"] if len(leaves) == 1 and len(examples) == 1 and names == parameters[:1] else names
    per_input = axes_by_input(axes, shown, names)
    tensors = []
    for name, (_, example) in zip(shown, leaves):
        array = shared_array(torch.as_tensor(example)).copy()
        tensors.append(RecordedTensor(recorder.add_input(name, array, check_axes(per_input.get(name), array.ndim, name))))
    arguments = [rebuild(structures[name], tensors) for name in parameters[:len(examples)]]
    return arguments, {name: rebuild(structures[name], tensors) for name in keywords}


def is_array(value) -> bool:
    return isinstance(value, torch.Tensor) or hasattr(value, "__dlpack__")


def parameter_names(model: Callable, count: int) -> list[str]:
    """Names of the first `count` positional parameters of the function or the module's forward."""
    if is_script(model):
        return script_parameter_names(model, count)
    try:
        parameters = inspect.signature(getattr(model, "forward", model)).parameters.values()
    except (TypeError, ValueError):
        return [f"input_{i}" for i in range(count)]
    names = [p.name for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    variadic = next((p.name for p in parameters if p.kind == p.VAR_POSITIONAL), "input")
    return [names[i] if i < len(names) else f"{variadic}_{i - len(names)}" for i in range(count)]


# Modules.
def modules_of(model: Callable) -> list[tuple[str, torch.nn.Module]]:
    """The module itself, the owner of a bound method, or the modules that a function's closure and globals hold."""
    if isinstance(model, torch.nn.Module):
        return [("", model)]
    owner = getattr(model, "__self__", None)
    if isinstance(owner, torch.nn.Module):
        return [("", owner)]
    try:
        captured = inspect.getclosurevars(inspect.unwrap(model))
    except TypeError:
        return []
    found = [(name, v) for scope in (captured.nonlocals, captured.globals) for name, v in scope.items() if isinstance(v, torch.nn.Module)]
    return [("", found[0][1])] if len(found) == 1 else found


def named_state(modules) -> dict[int, tuple[str, torch.Tensor]]:
    """Parameters and buffers by identity, with their names."""
    found: dict[int, tuple[str, torch.Tensor]] = {}
    for prefix, module in modules:
        for name, tensor in [*module.named_parameters(), *module.named_buffers()]:
            found.setdefault(id(tensor), (f"{prefix}.{name}" if prefix else name, tensor))
    return found


@contextlib.contextmanager
def evaluation_mode(modules) -> Iterator[None]:
    """The modules are in evaluation mode; their modes come back at the end, also after an error."""
    before = [(m, m.training) for _, top in modules for m in top.modules()]
    try:
        for m, training in before:
            if training:
                m.training = False
        yield
    finally:
        for m, training in before:
            if training:
                m.training = True


@contextlib.contextmanager
def unchanged_state(modules) -> Iterator[None]:
    """TraceError when the program has put a recorded tensor into a module; what was there before comes back in any case."""
    tables = [(f"{prefix}.{path}".strip("."), table) for prefix, top in modules for path, m in top.named_modules()
              for table in (m.__dict__, m._parameters, m._buffers)]
    before = [dict(table) for _, table in tables]
    changed = []
    try:
        yield
    finally:
        for (path, table), old in zip(tables, before):
            for name in [n for n, value in table.items() if isinstance(value, RecordedTensor) and value is not old.get(n)]:
                changed.append(f"{path}.{name}".strip("."))
                table.update({name: old[name]} if name in old else {})
                if name not in old:
                    del table[name]
    if changed:
        raise TraceError(f"the program keeps a recorded tensor in the module, as {', '.join(map(repr, changed))}, at {locations.user_line()}\n"
                         "  a recording has no state: return the new value as an output")


@contextlib.contextmanager
def exporting() -> Iterator[None]:
    """torch.compiler.is_exporting() answers yes, by which libraries leave out shortcuts that look at the data."""
    compiler = torch.compiler
    before = compiler._is_compiling_flag, compiler._is_exporting_flag
    compiler._is_compiling_flag = compiler._is_exporting_flag = True
    try:
        yield
    finally:
        compiler._is_compiling_flag, compiler._is_exporting_flag = before


@contextlib.contextmanager
def module_paths(recorder: Recorder, modules) -> Iterator[None]:
    """Ops recorded while a module runs belong to its path."""
    paths = {id(m): f"{prefix}.{path}".strip(".") for prefix, top in modules for path, m in top.named_modules()}
    stack: list = []

    def enter(module, args):
        stack.append(recorder.path)
        if paths.get(id(module)):
            recorder.path = [paths[id(module)]]

    def leave(module, args, output):
        recorder.path = stack.pop() if stack else []

    hooks = torch.nn.modules.module
    handles = [hooks.register_module_forward_pre_hook(enter), hooks.register_module_forward_hook(leave, always_call=True)]
    try:
        yield
    finally:
        for handle in handles:
            handle.remove()
