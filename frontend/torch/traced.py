"""`TorchTracedModel`: a traced model that speaks torch."""
from __future__ import annotations

from typing import Iterator

import torch

from ...dialect.structure import rebuild
from ...errors import OnemlirError, TraceError
from ...traced import TracedModel
from ..locations import user_line
from .arrays import shared_array, to_torch
from .tensor import RecordedTensor


class TorchTracedModel(TracedModel):
    """A recorded torch model. Called with torch tensors it gives torch tensors back, in what the program returned (also named tuples)."""

    def __init__(self, program, versions=(), structure=None):
        super().__init__(program, versions)
        self._result = structure

    def __call__(self, *inputs, **named):
        """Run the model with a session that is made at the first call. Torch tensors give torch tensors, arrays give arrays."""
        if not hasattr(self, "_session"):
            self._session = self.session()
        tensors = torch.utils._pytree.tree_leaves((inputs, named))
        if any(isinstance(t, RecordedTensor) for t in tensors):
            raise TraceError(f"a recorded model is called inside a recording, at {user_line()}\n"
                             "  call the torch module that it was recorded from")
        if not any(isinstance(t, torch.Tensor) for t in tensors):
            return self._session(*inputs, **named)
        arrays = [shared_array(t) if isinstance(t, torch.Tensor) else t for t in torch.utils._pytree.tree_leaves(inputs) if t is not None]
        names = self.input_names
        values = dict(zip(names, arrays)) | {k: shared_array(t) if isinstance(t, torch.Tensor) else t for k, t in named.items()}
        outputs = [to_torch(a) for a in self._session.run(values).values()]
        if self._result is None:
            return outputs[0] if len(outputs) == 1 else tuple(outputs)
        return rebuild(self._result, outputs)

    @property
    def forward(self):
        """The model itself, called."""
        return self.__call__

    training = False

    def eval(self) -> "TorchTracedModel":
        """The model itself: a recording is always in evaluation mode."""
        return self

    def train(self, mode: bool = True) -> "TorchTracedModel":
        """The model itself for ``train(False)``; OnemlirError otherwise: a recording has no training mode."""
        if mode:
            raise OnemlirError("a recording is in evaluation mode and computes no gradients: train the torch module, then record it")
        return self

    def cpu(self) -> "TorchTracedModel":
        """The model itself, which runs on the CPU."""
        return self

    def save(self, path, **of_torch) -> None:
        """Write a .onemodel file, atomically, for ``om.load``.

        FileNotFoundError where its folder does not exist; OnemlirError when torch.jit.save calls.
        """
        if of_torch:
            raise OnemlirError(f"torch.jit.save({str(path)!r}) would write what torch.jit.load cannot read: "
                               "write it with traced.save(path), read it with om.load(path)")
        super().save(path)

    def to(self, device, **options) -> "TorchTracedModel":
        """The model itself on the CPU, where a recording runs; OnemlirError for another device or a dtype."""
        if str(device) != "cpu" or options:
            raise OnemlirError(f"a recording runs on the CPU in the dtypes it was recorded with, found to({device}): convert the torch module, then record it")
        return self

    @property
    def parameters(self) -> "NamedWeights":
        """Weights by name, as arrays; called, as ``traced.parameters()``, an iterator of tensors."""
        return NamedWeights(self.program.weights)

    def named_parameters(self):
        """Names and weights, sharing the recording's memory."""
        return iter(self.state_dict().items())

    @property
    def graph(self) -> str:
        """The IR with its locations, what a reader of ``traced.graph`` looks for."""
        return self.mlir(locations=True)

    inlined_graph = graph

    @property
    def code(self) -> str:
        """The IR without locations, what a reader of ``traced.code`` looks for."""
        return self.mlir()

    def state_dict(self) -> dict[str, torch.Tensor]:
        """The weights by name, sharing the recording's memory."""
        return {name: to_torch(array) for name, array in self.parameters.items()}

    def __getattr__(self, name: str):
        advice = "" if name.startswith("_") else self._advice(name)
        raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'{advice}")

    def _advice(self, name: str) -> str:
        """What to do instead, for a name that a torch.nn.Module or its TorchScript has."""
        if name in _ADVICE:
            return f": {_ADVICE[name]}"
        if any(weight.startswith(f"{name}.") for weight in self.program.weights):
            return ": a recording has no submodules; weights are in state_dict(), and the ops in 'graph' carry the path of their module"
        return ": a recording is no torch.nn.Module" if hasattr(torch.jit.ScriptModule, name) else ""


class NamedWeights(dict):
    """Arrays by name; called, tensors that share their memory, as ``module.parameters()`` gives them."""

    def __call__(self) -> Iterator[torch.Tensor]:
        return map(to_torch, self.values())


_CONVERT = "a recording runs on the CPU in the dtypes it was recorded with; convert the torch module, then record it"
_INSIDE = "a recording has no submodules; the ops in 'graph' carry the path of their module"
_NO_TRAINING = "a recording computes no gradients"
_ADVICE = {
    **dict.fromkeys(("cuda", "float", "double", "half", "bfloat16", "type"), _CONVERT),
    **dict.fromkeys(("modules", "named_modules", "children", "named_children", "get_submodule", "apply"), _INSIDE),
    **dict.fromkeys(("buffers", "named_buffers"), "parameters and buffers are both in state_dict()"),
    **dict.fromkeys(("requires_grad_", "zero_grad"), _NO_TRAINING),
    "load_state_dict": "a recording does not change; load the weights into the torch module, then record it",
    "save_to_buffer": "save(path) writes a file",
}
