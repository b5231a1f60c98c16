"""The interface of onnx.backend: `prepare`, `run_model`, `run_node`, `supports_device`.

A model is compiled when it is run for the first time. Inputs that decide about the structure of the graph (axes, for instance) become
constants of the compiled code, which is then made once for each of their values.
"""
from __future__ import annotations

from typing import Any, Sequence

import numpy as np
import onnx
from onnx.backend.base import Backend, BackendRep

from ...errors import OnemlirError, UnsupportedOpError
from .narrow import restored, stored
from .read import read_onnx
from .recorder import NeedsConstant

STRUCTURAL = 64  # elements that an input which decides about the structure has at most


class CompiledModel(BackendRep):
    """A model ready to run. `constants` names the inputs that became constants at the last run."""

    def __init__(self, model: onnx.ModelProto):
        self.model = model
        given = {tensor.name for tensor in model.graph.initializer}
        self.inputs = [info for info in model.graph.input if info.name not in given]
        self.outputs = [info.name for info in model.graph.output]
        self.constants: tuple[str, ...] = ()
        self._sessions: dict[tuple, Any] = {}

    def run(self, inputs, **kwargs) -> tuple:
        """The outputs for inputs in order, or by name."""
        values = inputs if isinstance(inputs, dict) else dict(zip([info.name for info in self.inputs], inputs))
        session, flat = self._session(values)
        results = session(*flat)
        results = results if isinstance(results, tuple) else (results,)
        return tuple(restored(r, t.type.tensor_type.elem_type) if isinstance(r, np.ndarray) else r for r, t in zip(results, self.model.graph.output))

    def _session(self, values: dict):
        """A session for these values, and the arrays it takes. Inputs are fixed one after the other, while the reader asks for it."""
        constants: dict[str, np.ndarray] = {}
        shapes: dict[str, tuple] = {}
        lengths: dict[str, int] = {}
        while True:
            key = _key(constants, shapes, lengths)
            try:
                if key not in self._sessions:
                    self._sessions[key] = self._compiled(constants, shapes, lengths)
                self.constants = tuple(constants)
                return self._sessions[key], self._flat(values, constants)
            except NeedsConstant as error:
                if not self._fix(error, values, constants, shapes, lengths):
                    raise

    def _compiled(self, constants, shapes, lengths):
        from ...traced import TracedModel

        return TracedModel(read_onnx(self.model, constants, shapes, lengths, assume=False)).session()

    def _fix(self, error: NeedsConstant, values, constants, shapes, lengths) -> bool:
        """Fix what the reader has to know; whether there was anything."""
        kinds = {info.name: info.type.WhichOneof("value") for info in self.inputs}
        for name in sorted(error.inputs):
            value, kind = values.get(name), kinds.get(name)
            if kind in ("sequence_type", "optional_type") and name not in lengths:
                lengths[name] = -1 if value is None else len(value) if isinstance(value, (list, tuple)) else 0
                return True
            if isinstance(value, (list, tuple)) and f"{name}_0" not in shapes and value:
                shapes.update({f"{name}_{i}": np.shape(item) for i, item in enumerate(value)})
                return True
            if error.symbolic and name not in shapes and isinstance(value, np.ndarray):
                shapes[name] = np.shape(value)
                return True
            if kind == "tensor_type" and name not in shapes and not _ranked(self.inputs, name):
                shapes[name] = np.shape(value)
                return True
        found = [n for n in sorted(error.inputs) if n not in constants and n in values and isinstance(values[n], (np.ndarray, np.generic))
                 and np.asarray(values[n]).dtype.kind in "iubf"
                 and np.size(values[n]) <= STRUCTURAL]
        if len(found) != len(error.inputs - set(constants)) or not found:
            return False
        constants.update({name: np.asarray(values[name]) for name in found})
        return True

    def _flat(self, values: dict, constants: dict) -> list:
        result = []
        for info in self.inputs:
            value = values.get(info.name)
            if info.name in constants or value is None:
                continue
            result += list(value) if isinstance(value, (list, tuple)) else [stored(np.asarray(value))]
        return result


def _ranked(inputs, name: str) -> bool:
    return next(info.type.tensor_type.HasField("shape") for info in inputs if info.name == name)


def _key(constants, shapes, lengths) -> tuple:
    fixed = tuple((name, value.shape, str(value.dtype), value.tobytes()) for name, value in sorted(constants.items()))
    return fixed, tuple(sorted(shapes.items())), tuple(sorted(lengths.items()))


class OnemlirBackend(Backend):
    """onnx's backend interface."""

    @classmethod
    def is_compatible(cls, model, device: str = "CPU", **kwargs) -> bool:
        return True

    @classmethod
    def prepare(cls, model, device: str = "CPU", **kwargs) -> CompiledModel:
        """Check a model and make it ready to run. FormatError for a damaged one, UnsupportedOpError for what cannot be read."""
        if not cls.supports_device(device):
            raise UnsupportedOpError(f"the device {device} is not supported: there is CPU")
        from .read import load_model

        return CompiledModel(load_model(model)[0])

    @classmethod
    def run_model(cls, model, inputs, device: str = "CPU", **kwargs) -> tuple:
        return cls.prepare(model, device, **kwargs).run(inputs)

    @classmethod
    def run_node(cls, node, inputs: Sequence, device: str = "CPU", outputs_info=None, **kwargs) -> tuple:
        """One node by itself, for the dtypes and shapes of the inputs."""
        arrays = [np.asarray(value) for value in inputs]
        names = [name for name in node.input if name]
        if len(names) != len(arrays):
            raise OnemlirError(f"the node takes {len(names)} inputs, found {len(arrays)}")
        infos = [onnx.helper.make_tensor_value_info(n, onnx.helper.np_dtype_to_tensor_dtype(a.dtype), a.shape) for n, a in zip(names, arrays)]
        outputs = [onnx.ValueInfoProto(name=name) for name in node.output if name]
        opsets = [onnx.helper.make_opsetid("", kwargs.get("opset_version", onnx.defs.onnx_opset_version()))]
        opsets += [onnx.helper.make_opsetid(node.domain, 1)] if node.domain else []
        model = onnx.helper.make_model(onnx.helper.make_graph([node], "node", infos, outputs), opset_imports=opsets)
        return cls.prepare(model, device).run(arrays)

    @classmethod
    def supports_device(cls, device: str) -> bool:
        """Whether there is code for a device: CPU alone."""
        return device.split(":")[0].upper() == "CPU"


prepare, run_model, run_node = OnemlirBackend.prepare, OnemlirBackend.run_model, OnemlirBackend.run_node
supports_device, is_compatible = OnemlirBackend.supports_device, OnemlirBackend.is_compatible
