"""Data between torch and numpy without copies; bf16 and what numpy does not know go through integers of the same width."""
from __future__ import annotations

import numpy as np
import torch

from ...dialect import dtypes
from ...errors import OnemlirError
from .dtypes import to_numpy_dtype, to_torch_dtype


def shared_array(tensor: torch.Tensor) -> np.ndarray:
    """A numpy array that shares the memory of a torch tensor. OnemlirError for one that is not dense on the CPU."""
    with torch._C.DisableTorchFunction(), torch.no_grad():
        if tensor.device.type != "cpu" or tensor.layout != torch.strided:
            raise OnemlirError(f"tensors must be dense on the CPU, found {tensor.layout} on {tensor.device}: call .cpu() or .to_dense() first")
        tensor = tensor.detach().resolve_conj().resolve_neg()
        dtype = to_numpy_dtype(tensor.dtype)
        if dtype == dtypes.bfloat16:
            return tensor.view(torch.int16).numpy().view(dtypes.bfloat16)
        return tensor.numpy()


def to_torch(array: np.ndarray) -> torch.Tensor:
    """A torch tensor that shares the memory of an array."""
    with torch._C.DisableTorchFunction():
        array = np.require(np.asarray(array), requirements=["C", "W"])
        if array.dtype == dtypes.bfloat16:
            return torch.from_numpy(array.view(np.int16)).view(torch.bfloat16)
        return torch.from_numpy(array).to(to_torch_dtype(array.dtype))
