"""`Parameter`: a tensor that a module learns."""
from __future__ import annotations

import numpy as np

from ...dialect import dtypes
from ..dispatch import current_recorder, training_allowed
from ..tensor import Tensor


class Parameter(Tensor):
    """A tensor that becomes part of a module when it is assigned to one of its attributes. Holds a copy of `data`."""

    __slots__ = ()

    def __init__(self, data, requires_grad: bool = True):
        super().__init__(data, None, requires_grad)

    def __repr__(self) -> str:
        return f"Parameter({super().__repr__()})"


def new_parameter(shape, dtype=None) -> Parameter:
    """A parameter of zeros for `reset_parameters` to fill; f32 unless `dtype` says otherwise."""
    return Parameter(np.zeros(shape, dtypes.float32 if dtype is None else dtypes.dtype_of(dtype)))


def new_buffer(shape, value=0, dtype=None) -> Tensor:
    """A tensor filled with `value` for `Module.register_buffer`; f32 unless `dtype` says otherwise."""
    return Tensor(np.full(shape, value, dtypes.float32 if dtype is None else dtypes.dtype_of(dtype)))


def replace_data(tensor: Tensor, array: np.ndarray) -> None:
    """Give a parameter or buffer other data, so that recordings which hold the old data notice."""
    tensor._array = array
    tensor._version += 1


def in_graph(tensor: Tensor | None) -> Tensor | None:
    """A parameter or buffer as a value of the recording that is under way, under its name; eager it is itself.

    For what is computed from weights alone: without it the result would be a constant of the recording that has no name.
    """
    recorder = current_recorder()
    if recorder is None or tensor is None or tensor.is_recorded:
        return tensor
    return Tensor._recorded(recorder.lift(tensor))


def refuse_in_recording(what: str, advice: str) -> None:
    """TraceError when a recording is under way, for what has no meaning in a model for inference."""
    recorder = current_recorder()
    if not training_allowed():
        recorder.refuse(what, advice)
