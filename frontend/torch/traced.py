"""`TorchTracedModel`: a traced model that speaks torch."""
from __future__ import annotations

import torch

from ...dialect.structure import rebuild
from ...errors import OnemlirError
from ...traced import TracedModel
from .arrays import shared_array, to_torch


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
        if not any(isinstance(t, torch.Tensor) for t in tensors):
            return self._session(*inputs, **named)
        arrays = [shared_array(t) if isinstance(t, torch.Tensor) else t for t in torch.utils._pytree.tree_leaves(inputs) if t is not None]
        names = self.input_names
        values = dict(zip(names, arrays)) | {k: shared_array(t) if isinstance(t, torch.Tensor) else t for k, t in named.items()}
        outputs = [to_torch(a) for a in self._session.run(values).values()]
        if self._result is None:
            return outputs[0] if len(outputs) == 1 else tuple(outputs)
        return rebuild(self._result, outputs)

    def eval(self) -> "TorchTracedModel":
        """The model itself: a recording is always in evaluation mode."""
        return self

    def train(self, mode: bool = True) -> "TorchTracedModel":
        """The model itself for ``train(False)``; OnemlirError otherwise: a recording has no training mode."""
        if mode:
            raise OnemlirError("a recording is in evaluation mode and computes no gradients: train the torch module, then record it")
        return self

    def to(self, device, **options) -> "TorchTracedModel":
        """The model itself on the CPU, where a recording runs; OnemlirError for another device or a dtype."""
        if str(device) != "cpu" or options:
            raise OnemlirError(f"a recording runs on the CPU in the dtypes it was recorded with, found to({device}): convert the torch module, then record it")
        return self

    def named_parameters(self):
        """Names and weights, sharing the recording's memory."""
        return iter(self.state_dict().items())

    @property
    def graph(self) -> str:
        """The IR with its locations, what a reader of ``traced.graph`` looks for."""
        return self.mlir(locations=True)

    @property
    def code(self) -> str:
        """The IR without locations, what a reader of ``traced.code`` looks for."""
        return self.mlir()

    def state_dict(self) -> dict[str, torch.Tensor]:
        """The weights by name, sharing the recording's memory."""
        return {name: to_torch(array) for name, array in self.parameters.items()}
