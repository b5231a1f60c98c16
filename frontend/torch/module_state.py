"""The modules of a recorded program: their weights' names, their mode, their paths, and that a recording leaves them as they were."""
from __future__ import annotations

import contextlib
import inspect
from typing import Callable, Iterator

import torch

from ...errors import TraceError
from .. import locations
from ..dispatch import current_recorder
from ..reading import from_weights_alone
from ..recording import Recorder
from .complex_tensor import RecordedComplex
from .script_calls import module_of
from .tensor import RecordedTensor, value_of


def modules_of(model: Callable) -> list[tuple[str, torch.nn.Module]]:
    """The module itself, the owner of a bound method, or the modules that a function's closure and globals hold."""
    if isinstance(model, torch.nn.Module):
        return [("", model)]
    if isinstance(model, torch.ScriptMethod):
        return [("", module_of(model))]
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


def by_path(modules) -> dict[str, torch.nn.Module]:
    """All modules by their paths; the first one's path is empty."""
    return {f"{prefix}.{path}".strip("."): m for prefix, top in modules for path, m in top.named_modules()}


@contextlib.contextmanager
def evaluation_mode(modules) -> Iterator[None]:
    """The modules are in evaluation mode; their modes come back at the end, also after an error."""
    before = [(m, getattr(m, "training", False)) for _, top in modules for m in top.modules()]  # a frozen script has no mode
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
def unchanged_state(modules, is_harmless: Callable) -> Iterator[None]:
    """TraceError when the program has put a recorded tensor into a module; what was there before comes back in any case.

    is_harmless(old value, recorded tensor): whether it may be forgotten.
    """
    tables = [(path, table) for path, m in by_path(modules).items() for table in (m.__dict__, m._parameters, m._buffers, *_tables_in(m))]
    before = [dict(table) for _, table in tables]
    changed = []
    try:
        yield
    finally:
        for (path, table), old in zip(tables, before):
            for name in [n for n, value in table.items() if isinstance(value, (RecordedTensor, RecordedComplex)) and value is not old.get(n)]:
                if not is_harmless(old.get(name), table[name]):
                    changed.append(f"{path}.{name}".strip("."))
                table.update({name: old[name]} if name in old else {})
                if name not in old:
                    del table[name]
    if changed:
        raise TraceError(f"the program keeps a recorded tensor in the module, as {', '.join(map(repr, changed))}, at {locations.user_line()}\n"
                         "  a recording has no state: return the new value as an output")


def _tables_in(module) -> list[dict]:
    """Dictionaries that a module holds, in which programs keep what they computed."""
    own = ("_parameters", "_buffers", "_modules")
    return [value for name, value in module.__dict__.items() if type(value) is dict and name not in own]


@contextlib.contextmanager
def module_paths(recorder: Recorder, modules) -> Iterator[None]:
    """Ops recorded while a module runs belong to its path."""
    paths = {id(m): path for path, m in by_path(modules).items()}
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


@contextlib.contextmanager
def exporting() -> Iterator[None]:
    """torch.compiler.is_exporting() answers yes, by which libraries leave out shortcuts that look at the data.

    So does is_dynamo_compiling(), by which torch.cond and its like are called as they are.
    """
    compiler = torch.compiler
    before = compiler._is_compiling_flag, compiler._is_exporting_flag, compiler.is_dynamo_compiling
    compiler._is_compiling_flag = compiler._is_exporting_flag = True
    compiler.is_dynamo_compiling = lambda: True
    try:
        yield
    finally:
        compiler._is_compiling_flag, compiler._is_exporting_flag, compiler.is_dynamo_compiling = before


@contextlib.contextmanager
def undetected_causal_masks() -> Iterator[None]:
    """torch's encoders and decoders do not ask whether a mask that depends on the run is causal: the mask itself gives the same numbers."""
    transformer = torch.nn.modules.transformer
    detect = transformer._detect_is_causal_mask

    def detect_known(mask, is_causal=None, size=None) -> bool:
        if is_causal is None and isinstance(mask, RecordedTensor) and not from_weights_alone(current_recorder()._as_node(value_of(mask)).value):
            return False
        return detect(mask, is_causal, size)

    transformer._detect_is_causal_mask = detect_known
    try:
        yield
    finally:
        transformer._detect_is_causal_mask = detect
