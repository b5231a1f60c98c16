"""`TracedModel`, what recording gives, and the doors to make one: `trace`, `Tracer`, `load`, `from_onnx`; and `Session`."""
from __future__ import annotations

import functools
import inspect
import os
import pathlib
import sys
import warnings
from typing import Any, Callable, Mapping, Sequence

import numpy as np

from .errors import FormatError, FrozenValueWarning, OnemlirError, TraceError
from .runtime.forking import whole_in_child


class TracedModel:
    """A recorded model: its IR, its weights, its inputs and outputs. Immutable; sessions and files are made from it."""

    def __init__(self, program, versions: Sequence = ()):
        self.program = program
        self._versions = list(versions)

    def __getstate__(self) -> dict:
        """For pickle and copy: the recording without its session and the tensors whose changes it watches."""
        self.check_weights()
        return {k: v for k, v in self.__dict__.items() if k != "_session"} | {"_versions": []}

    @property
    def inputs(self) -> list:
        """Inputs: objects with `name`, `shape` (ints and axis names) and `dtype`."""
        return self.program.inputs

    @property
    def outputs(self) -> list:
        """Outputs, like `inputs`."""
        return self.program.outputs

    @property
    def input_names(self) -> list[str]:
        return self.program.input_names

    @property
    def output_names(self) -> list[str]:
        return self.program.output_names

    @property
    def parameters(self) -> Mapping[str, np.ndarray]:
        """Weights by name."""
        return self.program.weights

    @property
    def assumptions(self) -> list[dict]:
        """What the recording depends on: kind, name, text and line of each."""
        return self.program.assumptions

    def mlir(self, locations: bool = False) -> str:
        """The IR in the om dialect; with `locations`, each op's source line and module path."""
        return self.program.mlir(locations)

    def __str__(self) -> str:
        return self.mlir()

    def check_weights(self) -> None:
        """Raises OnemlirError when a weight was changed in place after the recording."""
        for name, tensor, version in self._versions:
            if tensor._version != version:
                raise OnemlirError(f"the weight '{name}' was changed in place after the recording: record the model again")

    @whole_in_child()
    def session(self, threads: int | None = None, **options):
        """Compile for this processor. threads: how many to use, by default as many as the process may."""
        from .runtime.jit import jit_session
        from .runtime.session import checked_threads

        checked_threads(threads)
        check_options(jit_session, "session", options)
        self.check_weights()
        return jit_session(self.program, threads=threads, **options)

    def save(self, path: str | os.PathLike) -> None:
        """Write a .onemodel file, atomically. FileNotFoundError where its folder does not exist, OSError where it cannot be written."""
        from .dialect.onemodel_program import save_program
        from .dialect.output_file import check_place

        check_place(path)
        self.check_weights()
        save_program(self.program, path)

    def save_onnx(self, path: str | os.PathLike, **options) -> None:
        """Write an ONNX file, atomically. UnsupportedOpError lists what ONNX cannot say; OSError as for `save`."""
        from .dialect.extensions import load_extensions
        from .dialect.onnx import save_onnx
        from .dialect.output_file import check_place
        from .lowering.om.decompose import decompose

        check_options(save_onnx, "save_onnx", options)
        load_extensions("onemlir.passes")
        check_place(path)
        self.check_weights()
        save_onnx(self.program, path, decompose=decompose, **options)

    @whole_in_child()
    def compile(self, path: str | os.PathLike, **options) -> pathlib.Path:
        """Compile ahead of time to a native library, object file or executable, by the suffix of `path`. OSError as for `save`."""
        from .runtime.ahead_of_time import compile_program

        check_options(compile_program, "compile", options)
        self.check_weights()
        return compile_program(self.program, pathlib.Path(path), **options)

    def compare(self, model: Callable, inputs: Sequence | Mapping[str, Any], rtol: float = 1e-4, atol: float = 1e-5):
        """Run `model` eagerly (modules in evaluation mode) and the recording on each input.

        inputs: a tensor each, a tuple of arguments, or a mapping of arguments by the names of the model's inputs; in a list, or in a
        mapping that names the rows. The table has `rows` with `input`, `eager`, `traced` (outputs by name, None where that side
        raised), `match` and `error` (the largest difference), `match` for all, and prints with a summary.
        """
        from .frontend.comparison import compare

        session = self.session()
        names = self.input_names
        return compare(model, lambda arrays: session.run(dict(zip(names, arrays))), inputs, rtol, atol, names)

    def __call__(self, *inputs):
        """Run the model on tensors or arrays with a session that is made at the first call."""
        if not hasattr(self, "_session"):
            self._session = self.session()
        return self._session(*inputs)


def check_options(function: Callable, name: str, options: Mapping[str, Any]) -> None:
    """TypeError for an option that the function does not have."""
    known = [p.name for p in inspect.signature(function).parameters.values() if p.default is not p.empty]
    unknown = [option for option in options if option not in known]
    if unknown:
        raise TypeError(f"{name} has no option {unknown[0]!r}; its options are {', '.join(known)}")


def trace(model: Callable, *examples, axes=None, on_read: str = "error", check=None, kwargs: Mapping[str, Any] | None = None, **static) -> TracedModel:
    """Record one run of a module or function on example inputs. A module is recorded in evaluation mode, whatever mode it is in.

    examples: tensors, or containers of tensors, passed by position; kwargs: the same by keyword. Arguments that are no tensors are
    constants of the recording. axes: names of the axes that stay symbolic (or `Axis` objects, which declare a range): one tuple for a
    single input, else one per input or a mapping by input name. Other keywords go to the model as they are; a tensor among them is a
    constant, with a warning.

    on_read: what happens when the program reads a recorded value, or decides on a symbolic size: "error", "freeze" (a constant, with a
    warning) or "guard" (checked on every run: GuardError).

    check: None records again on perturbed data and sizes and compares the ops, so that what depends on anything but the inputs is
    found; the model's Python code therefore runs several times. Inputs (tensors, or tuples of them) are in addition run eagerly and
    as recorded, and compared. False switches all of it off.

    Raises TraceError for what cannot be recorded, or differs.
    """
    _warn_of_constants(static)
    record = _recording_function(model, examples, kwargs)
    traced = record(model, examples, kwargs or {}, axes, on_read, static, repeats=check is not False)
    if check is not None and check is not False:
        table = traced.compare(functools.partial(model, **static) if static else model, check)
        if not table.match:
            raise TraceError(f"eager and traced differ:\n{table}")
    return traced


def _warn_of_constants(static: Mapping[str, Any]) -> None:
    """A FrozenValueWarning for each tensor among the keywords that go to the model as they are."""
    for name, value in static.items():
        if hasattr(value, "__dlpack__"):
            warnings.warn(f"'{name}' is a tensor, and is taken as constant: kwargs={{'{name}': ...}} makes it an input of the model",
                          FrozenValueWarning, stacklevel=3)


@whole_in_child()
def _recording_function(model, examples, kwargs) -> Callable:
    if "torch" in sys.modules:
        from .frontend.torch import detect, record_torch

        if detect.is_torch(model, examples, kwargs):
            return record_torch
    from .frontend.tracer import record

    return record


class Tracer:
    """Records ops by hand: `input`, ops on what it returns, `output`, `finish`."""

    def __new__(cls, on_read: str = "error"):
        from .frontend.tracer import Tracer as FrontendTracer

        return FrontendTracer(on_read)


def load(path: str | os.PathLike, *, verify: bool | None = None) -> TracedModel:
    """Read a .onemodel file. FormatError for one that is damaged, newer or of another kind.

    verify: whether all weights are read at once and compared with their checksum, so that damage is found. None does so for weights of up
    to 1 GiB; larger ones are only mapped, and read when they are needed.

    Where torch is imported, the model gives torch tensors for torch tensors, as what `trace` made of a torch module does.
    """
    from .dialect.onemodel_program import load_program

    if pathlib.Path(path).suffix == ".onnx":
        raise FormatError(f"'{path}' is an ONNX file by its name: from_onnx reads it")
    program = load_program(path, verify)
    if not hasattr(sys.modules.get("torch"), "nn"):
        return TracedModel(program)
    from .frontend.torch.traced import TorchTracedModel

    return TorchTracedModel(program, structure=program.structure)


def from_onnx(model, **options) -> TracedModel:
    """Read an ONNX model: a path, bytes, or a ModelProto."""
    from .dialect.extensions import load_extensions
    from .frontend.onnx import read_onnx

    if isinstance(model, (str, os.PathLike)) and pathlib.Path(model).suffix == ".onemodel":
        raise FormatError(f"'{model}' is a OneModel file by its name: load reads it")
    load_extensions("onemlir.passes")
    load_extensions("onemlir.readers")
    return TracedModel(read_onnx(model, **options))


def Session(model, threads: int | None = None, **options):
    """A compiled model, ready to run: of a TracedModel, or of a .onemodel, .onnx or native library file.

    The options are those of `TracedModel.session`, and for a .onemodel file `verify` as in `load`.
    """
    if isinstance(model, TracedModel):
        return model.session(threads=threads, **options)
    path = pathlib.Path(model)
    if path.suffix in (".so", ".dylib"):
        from .runtime.library import load_library

        return load_library(path, threads=threads, **options)
    from .runtime.heap import trim

    traced = from_onnx(path) if path.suffix == ".onnx" else load(path, verify=options.pop("verify", None))
    session = traced.session(threads=threads, **options)
    del traced  # the IR, and weights that were packed
    trim()
    return session
