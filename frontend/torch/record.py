"""Recording a torch module or function from one run on example inputs, and again on perturbed ones."""
from __future__ import annotations

import inspect
from typing import Any, Callable, Mapping, Sequence

import numpy as np
import torch

from ...dialect.structure import flatten, rebuild, to_json
from ...errors import OnemlirError, TraceError
from .. import assumptions, locations
from ..recording import Recorder, recording
from ..repeat import check_repeats
from ..tracer import axes_by_input, check_axes, output_names
from .arrays import shared_array
from .complex_tensor import is_complex, refuse_input, refuse_output
from .module_state import by_path, evaluation_mode, exporting, module_paths, modules_of, named_state, unchanged_state, undetected_causal_masks
from .ops.packed import batches_of_packed_sequences
from .outputs import plain_outputs
from .programs import as_callable, is_script, run_program, script_parameter_names
from .recording import TorchRecording, version_of
from .tensor import RecordedTensor, value_of
from .traced import TorchTracedModel

locations.skip_folder(torch.__path__[0])


def record_torch(model: Callable, examples: Sequence, keywords: Mapping[str, Any], axes, on_read: str, static: Mapping[str, Any],
                 repeats: bool = True) -> TorchTracedModel:
    """Record ``model(*examples, **keywords, **static)``; tensors among the examples and keywords are inputs.

    With `repeats` the recording is made again on perturbed examples and compared, see `repeat`.
    """
    model = as_callable(model)
    if len(examples) == 1 and (type(examples[0]) is tuple or type(examples[0]) is list and takes_no_list(model, examples[0])):
        examples = tuple(examples[0])
    refuse_foreign_arguments(model, static)
    call = RecordedCall(model, examples, keywords, axes, on_read, static)
    first = call.run(None, None)
    if repeats:
        with torch.random.fork_rng(devices=[]):
            check_repeats(first, lambda arrays: call.run(arrays, first.answers), first.given_axes)
    return first.traced


OF_JIT_TRACE = {
    "example_inputs": "give the examples by position: om.trace(model, *examples)", "example_kwarg_inputs": "it is called kwargs here",
    "check_trace": "it is called check here; check=False records once", "check_inputs": "it is called check here: check=[inputs, ...]",
    "check_tolerance": "traced.compare(model, inputs, rtol=, atol=) takes tolerances", "strict": "containers are always taken and returned as they are",
    "optimize": "a session always optimises",
}  # fmt: skip


def refuse_foreign_arguments(model: Callable, static: Mapping[str, Any]) -> None:
    """TraceError for an argument of torch.jit.trace that the model does not take itself."""
    foreign = [name for name in static if name in OF_JIT_TRACE and name not in signature_of(model)]
    if foreign:
        raise TraceError(f"om.trace has no argument '{foreign[0]}', which torch.jit.trace has, at {locations.user_line()}\n  {OF_JIT_TRACE[foreign[0]]}")


def signature_of(model: Callable) -> Mapping[str, inspect.Parameter]:
    try:
        return inspect.signature(getattr(model, "forward", model)).parameters
    except (TypeError, ValueError):
        return {}


def takes_no_list(model: Callable, values: list) -> bool:
    """Whether a list of tensors can only be all arguments of a model, which takes as many."""
    required = [p for p in signature_of(model).values() if p.default is p.empty and p.kind is p.POSITIONAL_OR_KEYWORD]
    return len(required) == len(values) > 1 and all(isinstance(v, torch.Tensor) for v in values)


class RecordedCall:
    """A call that can be recorded several times, on the examples given or on others of the same structure."""

    def __init__(self, model: Callable, examples: Sequence, keywords: Mapping[str, Any], axes, on_read: str, static: Mapping[str, Any]):
        self.model, self.examples, self.keywords, self.axes, self.on_read, self.static = model, examples, keywords, axes, on_read, static

    def run(self, arrays: Sequence[np.ndarray] | None, replay) -> Recorder:
        """One recording; the recorder has the traced model as `traced`."""
        recorder = Recorder(self.on_read, replay)
        modules = modules_of(self.model)
        with evaluation_mode(modules), recording(recorder), torch.no_grad(), exporting(), undetected_causal_masks(), batches_of_packed_sequences():
            torch_recording = TorchRecording(recorder, named_state(modules))
            arguments, named = add_inputs(recorder, self.model, self.examples, self.keywords, self.axes, arrays)
            self._note(recorder, {path: m for path, m in by_path(modules).items() if not is_script(m)})
            with module_paths(recorder, modules), unchanged_state(modules, torch_recording.made_of_weights):
                result = self._result(torch_recording, arguments, named)
            recorder.traced = finish(recorder, torch_recording, result)
        return recorder

    def _result(self, torch_recording: TorchRecording, arguments, named):
        try:
            result = run_program(torch_recording, self.model, arguments, {**named, **self.static})
        except OnemlirError:
            raise
        except Exception:  # it may follow from a stand-in of what is missing
            torch_recording.report()
            raise
        torch_recording.report()
        return result

    def _note(self, recorder: Recorder, modules: Mapping[str, torch.nn.Module]) -> None:
        assumptions.note_inputs(recorder)
        assumptions.note_static(recorder, self.static)
        assumptions.note_modes(recorder, modules)
        assumptions.note_captured(recorder, assumptions.user_functions(self.model, modules))
        assumptions.note_dtypes(recorder, locations.user_line())


def finish(recorder: Recorder, torch_recording: TorchRecording, result) -> TorchTracedModel:
    """The traced model whose outputs are the tensors in `result`."""
    leaves: list = []
    structure = flatten(plain_outputs(result), lambda v: isinstance(v, torch.Tensor), leaves, static=_refuse_output)
    for path, leaf in leaves:
        if is_complex(leaf):
            refuse_output(path)
    outputs = list(zip(output_names(leaves), (value_of(torch_recording.recorded(t)) for _, t in leaves)))
    recorder.program = recorder.finish(outputs, to_json(structure))
    versions = [(name, torch_recording.shared.get(id(t), t), version) for name, t, version in recorder.versions]
    return TorchTracedModel(recorder.program, [(n, t, version_of(t) if isinstance(t, torch.Tensor) else v) for n, t, v in versions], structure)


def _refuse_output(path: str, value) -> None:
    if not isinstance(value, (bool, int, float, str)):
        raise TraceError(f"the function returned {type(value).__name__} at '{path or 'the top'}': outputs are tensors in tuples, lists, dicts")


# Inputs.
def add_inputs(recorder: Recorder, model: Callable, examples: Sequence, keywords: Mapping[str, Any], axes, arrays: Sequence[np.ndarray] | None = None):
    """Arguments for the call with tensors replaced by recorded inputs; `arrays` stand for the examples' data where given."""
    parameters = parameter_names(model, len(examples))
    values = dict(zip(parameters, examples)) | dict(keywords)
    leaves: list = []
    static = lambda path, value: assumptions.note_static(recorder, {path: value})
    structures = {name: flatten(value, is_array, leaves, name, static) for name, value in values.items()}
    names = [path for path, _ in leaves]
    shown = ["input"] if len(leaves) == 1 and len(examples) == 1 and names == parameters[:1] else names
    per_input = axes_by_input(axes, shown, names)
    tensors = []
    for number, (name, (_, example)) in enumerate(zip(shown, leaves)):
        if is_complex(example):
            refuse_input(name, example.dtype)
        array = shared_array(torch.as_tensor(example)).copy() if arrays is None else arrays[number]
        tensors.append(RecordedTensor(recorder.add_input(name, array, check_axes(per_input.get(name), array.ndim, name))))
    arguments = [rebuild(structures[name], tensors) for name in parameters[:len(examples)]]
    return arguments, {name: rebuild(structures[name], tensors) for name in keywords}


def is_array(value) -> bool:
    return isinstance(value, torch.Tensor) or hasattr(value, "__dlpack__")


def parameter_names(model: Callable, count: int) -> list[str]:
    """Names of the first `count` positional parameters of the function or the module's forward."""
    if is_script(model):
        return script_parameter_names(model, count)
    parameters = signature_of(model).values()
    if not parameters:
        return [f"input_{i}" for i in range(count)]
    names = [p.name for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    variadic = next((p.name for p in parameters if p.kind == p.VAR_POSITIONAL), "input")
    return [names[i] if i < len(names) else f"{variadic}_{i - len(names)}" for i in range(count)]
