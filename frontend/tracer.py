"""`trace` and `Tracer`: recording a function, a module, or ops one by one."""
from __future__ import annotations

import inspect
from typing import Any, Callable, Mapping, Sequence

import numpy as np
from ..dialect.program import Program
from ..errors import OnemlirError, TraceError
from . import assumptions
from .axis import Axis, is_axis_name
from .locations import function_line, line_of_error, user_line
from .nn.module import Module
from .ops.declared import as_tensor
from .recording import Recorder, recording
from .symbolic_int import SymbolicInt
from .tensor import Tensor
from ..dialect.structure import flatten, rebuild, to_json


EXAMPLES = {0: "()", 1: "('batch',)", 2: "('batch', None)", 3: "('batch', None, None)", 4: "('batch', None, None, None)"}


class Tracer:
    """Records ops by hand: `input`, then ops on what it returns, then `output`, then `finish`."""

    def __init__(self, on_read: str = "error"):
        self.recorder = Recorder(on_read)
        self._outputs: list[tuple[str, Tensor]] = []
        self._scope = recording(self.recorder)
        self._scope.__enter__()
        self._open = True

    def input(self, name: str, example, axes: Sequence[str | None] | None = None) -> Tensor:
        """An input of the graph with the example's dtype and sizes; `axes` names those that stay symbolic."""
        return self.recorder.add_input(name, example_array(example), check_axes(axes, np.ndim(example_array(example)), name))

    def output(self, name: str, tensor: Tensor) -> None:
        """Give the graph an output."""
        if any(name == other for other, _ in self._outputs):
            raise TraceError(f"output '{name}' is given twice")
        self._outputs.append((name, tensor))

    def finish(self):
        """End the recording; gives the TracedModel."""
        try:
            return traced_model(self.recorder, self.recorder.finish(self._outputs))
        finally:
            self.close()

    def close(self) -> None:
        """Leave the recording without a result."""
        if self._open:
            self._open = False
            self._scope.__exit__(None, None, None)

    def __enter__(self) -> "Tracer":
        return self

    def __exit__(self, *_) -> None:
        self.close()


def record(function: Callable, examples: Sequence, keywords: Mapping[str, Any], axes, on_read: str, static: Mapping[str, Any], repeats: bool = False):
    """Record ``function(*examples, **keywords, **static)``; leaves of examples and keywords that are tensors are inputs.

    With `repeats` the recording is made again on perturbed examples and compared, see `repeat`.
    """
    if not callable(function):
        raise TraceError(f"trace takes a module or a function, found {function!r:.80} of type {type(function).__name__}")
    call = RecordedCall(function, examples, keywords, axes, on_read, static)
    first = call.run(None, None)
    if repeats:
        from .repeat import check_repeats

        check_repeats(first, lambda arrays: call.run(arrays, first.answers), first.given_axes)
    return traced_model(first, first.program)


class RecordedCall:
    """A call that can be recorded several times, on the examples given or on others of the same structure."""

    def __init__(self, function: Callable, examples: Sequence, keywords: Mapping[str, Any], axes, on_read: str, static: Mapping[str, Any]):
        self.function, self.examples, self.keywords, self.axes, self.on_read, self.static = function, examples, keywords, axes, on_read, static

    def run(self, arrays: Sequence[np.ndarray] | None, replay) -> Recorder:
        """One recording; the recorder has the program as `program`. Errors of the user's program name its line."""
        recorder = Recorder(self.on_read, replay)
        with evaluation_mode(self.function) as switched, recording(recorder):
            modules = name_parameters(recorder, self.function)
            arguments, named = add_inputs(recorder, self.function, self.examples, self.keywords, self.axes, arrays)
            self._note(recorder, modules, switched)
            result = self._called(recorder, arguments, named)
            leaves: list = []
            structure = flatten(result, _is_output, leaves, static=self._refuse_output)
            if not leaves:
                raise TraceError(f"the function returned {result!r:.80}, which holds no tensor: there is nothing to compile, from {function_line(self.function)}")
            outputs = list(zip(output_names(leaves), (as_tensor(value) for _, value in leaves)))
            recorder.program = recorder.finish(outputs, to_json(structure))
        return recorder

    def _called(self, recorder: Recorder, arguments: Sequence, named: Mapping[str, Any]):
        """What the function returns. Errors of ours say where; a refusal that the program has caught is raised in the end."""
        try:
            result = self.function(*arguments, **named, **self.static)
        except OnemlirError as error:
            line = line_of_error(error)
            if line is None or f"{line.filename}:{line.line}" in str(error):
                raise
            raise type(error)(f"{error}, at {line}") from None
        if recorder.refusal is not None:
            raise TraceError(f"the program caught this error and went on, which it would not do eagerly: {recorder.refusal}")
        return result

    def _refuse_output(self, path: str, value) -> None:
        if not isinstance(value, (bool, int, float, str)):
            raise TraceError(f"the function returned {type(value).__name__} at '{path or 'the top'}': outputs are tensors in tuples, lists, dicts, "
                             f"from {function_line(self.function)}")

    def _note(self, recorder: Recorder, modules: Mapping[str, Module], switched: Sequence[Module]) -> None:
        assumptions.note_inputs(recorder)
        assumptions.note_static(recorder, self.static)
        assumptions.note_modes(recorder, modules, switched)
        assumptions.note_captured(recorder, assumptions.user_functions(self.function, modules))
        assumptions.note_dtypes(recorder, user_line())


def traced_model(recorder: Recorder, program: Program):
    """The recording as the user holds it."""
    from ..traced import TracedModel

    return TracedModel(program, recorder.versions)


def _is_output(value) -> bool:
    """Whether a returned value is an output by itself: also sizes, as i64, and arrays, which are constants."""
    return isinstance(value, (Tensor, SymbolicInt, np.ndarray, np.generic))


def _is_array(value) -> bool:
    return isinstance(value, (Tensor, np.ndarray)) or hasattr(value, "__dlpack__")


def output_names(leaves: Sequence[tuple[str, Tensor]]) -> list[str]:
    """Names of outputs: ``output`` for a single one, dict keys by themselves, positions as ``output_0``."""
    if len(leaves) == 1 and not leaves[0][0]:
        return ["output"]
    names = [f"output_{path}" if path[:1].isdigit() else path for path, _ in leaves]
    check_distinct(names, "outputs")
    return names


def check_distinct(names: Sequence[str], what: str) -> None:
    """TraceError when keys give two inputs or outputs one name."""
    twice = [name for name in dict.fromkeys(names) if names.count(name) > 1]
    if twice:
        raise TraceError(f"two of the {what} are called '{twice[0]}': rename a key; the {what} are {', '.join(map(repr, names))}")


def add_inputs(recorder: Recorder, function: Callable, examples: Sequence, keywords: Mapping[str, Any], axes,
               arrays: Sequence[np.ndarray] | None = None):  # fmt: skip
    """Arguments for the call with tensors replaced by recorded inputs; `arrays` stand for the examples' data where given."""
    parameters = parameter_names(function, len(examples))
    leaves: list = []
    values = dict(zip(parameters, examples)) | dict(keywords)
    static = lambda path, value: assumptions.note_static(recorder, {path: value})
    structures = {name: flatten(value, _is_array, leaves, name, static) for name, value in values.items()}
    names = [path for path, _ in leaves]
    shown = ["input"] if len(leaves) == 1 and len(examples) == 1 and names == parameters[:1] else names
    check_distinct(shown, "inputs")
    per_input = axes_by_input(axes, shown, names)
    tensors = []
    for number, (name, (path, example)) in enumerate(zip(shown, leaves)):
        array = example_array(example) if arrays is None else arrays[number]
        recorder.example_objects[id(example)] = name
        tensors.append(recorder.add_input(name, array, check_axes(per_input.get(name), array.ndim, name)))
    arguments = [rebuild(structures[name], tensors) for name in parameters[:len(examples)]]
    return arguments, {name: rebuild(structures[name], tensors) for name in keywords}


def axes_by_input(axes, shown: Sequence[str], names: Sequence[str]) -> dict[str, Any]:
    """`axes` as given (one tuple, one per input, or a mapping by name) by input name. TraceError for a name that no input has."""
    if axes is None:
        return {}
    if isinstance(axes, Mapping):
        renamed = dict(zip(names, shown))
        for name in axes:
            if name not in renamed and name not in shown:
                raise TraceError(f"axes are given for '{name}', but the inputs are {', '.join(map(repr, shown))}")
        return {renamed.get(name, name): value for name, value in axes.items()}
    if len(shown) == 1 and not (isinstance(axes, (tuple, list)) and len(axes) == 1 and (isinstance(axes[0], (tuple, list)))):
        return {shown[0]: axes}
    if not isinstance(axes, (tuple, list)) or len(axes) != len(shown) or not all(a is None or isinstance(a, (tuple, list)) for a in axes):
        raise TraceError(f"axes must be a mapping, or one tuple for each of the inputs {', '.join(map(repr, shown))}; found {axes!r}")
    return dict(zip(shown, axes))


def check_axes(axes, rank: int, name: str):
    """The names of an input's axes. TraceError unless there is a name, an Axis or None for each axis of the example."""
    if axes is None:
        return None
    form = f"axes of '{name}' are a tuple with a name, an om.Axis or None for each of its {rank} axes, such as {EXAMPLES.get(rank, '(...)')}"
    if isinstance(axes, (str, Axis)) or not isinstance(axes, (tuple, list)):
        raise TraceError(f"{form}; found {axes!r}")
    for axis in axes:
        if not (axis is None or isinstance(axis, Axis) or is_axis_name(axis)):
            raise TraceError(f"{form}; found {axis!r}, and a name is text that starts with a letter")
    if len(axes) != rank:
        raise TraceError(f"axes {tuple(axis and str(axis) for axis in axes)} of '{name}' name {len(axes)} axes, but the example has {rank}")
    return axes


def example_array(example) -> np.ndarray:
    """The example's data, as a copy that the program cannot change."""
    if isinstance(example, Tensor) and example.is_recorded:
        raise TraceError("an example must have data, found a recorded tensor")
    return Tensor(example)._array


def parameter_names(function: Callable, count: int) -> list[str]:
    """Names of the first `count` positional parameters of the function or the module's forward."""
    target = function.forward if isinstance(function, Module) else function
    try:
        parameters = inspect.signature(target).parameters.values()
    except (TypeError, ValueError):
        return [f"input_{i}" for i in range(count)]
    names = [p.name for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    variadic = next((p.name for p in parameters if p.kind == p.VAR_POSITIONAL), "input")
    return [names[i] if i < len(names) else f"{variadic}_{i - len(names)}" for i in range(count)]


def modules_of(function: Callable) -> list[tuple[str, Module]]:
    """Modules whose parameters the recording should know by name: the function itself, its owner, or what its closure holds."""
    if isinstance(function, Module):
        return [("", function)]
    owner = getattr(function, "__self__", None)
    if isinstance(owner, Module):
        return [("", owner)]
    try:
        captured = inspect.getclosurevars(function)
    except TypeError:
        return []
    return [(name, v) for scope in (captured.nonlocals, captured.globals) for name, v in scope.items() if isinstance(v, Module)]


def name_parameters(recorder: Recorder, function: Callable) -> dict[str, Module]:
    """Tell the recorder the names of parameters and the paths of modules; the modules by path."""
    found: dict[str, Module] = {}
    modules = modules_of(function)
    for prefix, module in modules:
        prefix = f"{prefix}." if prefix and len(modules) > 1 else ""
        for name, tensor in [*module.named_parameters(), *module.named_buffers()]:
            recorder.parameter_names.setdefault(id(tensor), prefix + name)
        for path, child in module.named_modules():
            recorder.module_paths.setdefault(id(child), prefix + path)
            found.setdefault(prefix + path, child)
    return found


class evaluation_mode:
    """Context in which the modules of a function are in evaluation mode; their modes come back at the end, also after an error."""

    def __init__(self, function: Callable):
        function = getattr(function, "func", function)  # of a partial
        self.modules = [m for _, top in modules_of(function) for m in top.modules()] if isinstance(function, Module) else []

    def __enter__(self) -> list[Module]:
        """The modules that were in training mode."""
        self.before = [m.training for m in self.modules]
        for m in self.modules:
            object.__setattr__(m, "training", False)
        return [m for m, training in zip(self.modules, self.before) if training]

    def __exit__(self, *_):
        for m, training in zip(self.modules, self.before):
            object.__setattr__(m, "training", training)
