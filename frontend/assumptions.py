"""What a recording depends on besides its inputs' data: fixed sizes, modes, captured constants, static arguments, dtype defaults."""
from __future__ import annotations

import inspect
from typing import Any, Callable, Collection, Iterator, Mapping

import numpy as np

from .locations import function_line, is_library_file, UserLine
from .nn.module import Module
from .tensor import Tensor

DTYPE_DEFAULT = "Python floats are f32 and ints i64 where no tensor says otherwise"


def note_inputs(recorder) -> None:
    """Sizes of the example that are constants of the recording."""
    for name, example, axes in recorder.inputs:
        for axis, (size, named) in enumerate(zip(example.shape, axes)):
            if not named:
                recorder.assume("fixed size", name, f"axis {axis} of '{name}' has size {size}")


def note_static(recorder, values: Mapping[str, Any]) -> None:
    """Arguments that are no tensors."""
    for name, value in values.items():
        recorder.assume("static argument", name, f"{name} = {short(value)}")


def note_modes(recorder, modules: Mapping[str, Module], switched: Collection[Module] = ()) -> None:
    """Whether each module is recorded in training or evaluation mode; `switched` are in training mode outside the recording."""
    for path, module in modules.items():
        mode = "training mode" if module.training else "evaluation mode"
        if any(module is other for other in switched):
            mode += ", although it was in training mode: a recording is for inference"
        recorder.assume("mode", path, f"{type(module).__name__} '{path}' in {mode}", function_line(type(module).forward))


def note_captured(recorder, functions: Iterator[Callable]) -> None:
    """Constants that functions take from closures and globals."""
    for function in functions:
        for name, value in captured_constants(function):
            recorder.assume("captured", name, f"{name} = {short(value)}", function_line(function))


def note_dtypes(recorder, line: UserLine) -> None:
    """What a Python number becomes."""
    recorder.assume("dtype default", "dtype", DTYPE_DEFAULT, line)


def captured_constants(function: Callable) -> list[tuple[str, Any]]:
    """Names and values of numbers, text and arrays that a function finds in its closure and in globals."""
    try:
        found = inspect.getclosurevars(inspect.unwrap(function))
    except (TypeError, ValueError):
        return []
    return [(name, value) for scope in (found.nonlocals, found.globals) for name, value in scope.items() if is_constant(value)]


def is_constant(value, within: frozenset = frozenset()) -> bool:
    if isinstance(value, (tuple, list)):
        inside = within | {id(value)}
        return bool(value) and id(value) not in within and all(is_constant(item, inside) for item in value)
    return isinstance(value, (bool, int, float, complex, str, np.ndarray, np.generic)) or (isinstance(value, Tensor) and not value.is_recorded)


def user_functions(function: Callable, modules: Mapping[str, Module]) -> Iterator[Callable]:
    """The function, or the forward functions of the modules that the user wrote."""
    if not isinstance(function, Module):
        yield getattr(function, "__func__", function)
    seen = set()
    for module in modules.values():
        forward = type(module).forward
        code = getattr(forward, "__code__", None)
        if code is not None and code not in seen and not is_library_file(code.co_filename):
            seen.add(code)
            yield forward


def short(value) -> str:
    """A value in one line; arrays by shape and dtype."""
    if isinstance(value, (np.ndarray, Tensor)):
        return f"an array of shape {tuple(value.shape)} and dtype {value.dtype}"
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "..."
