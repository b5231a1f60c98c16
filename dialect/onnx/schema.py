"""What the ONNX standard says of an operator's inputs and outputs: their dtypes, under one opset."""
from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import onnx

from .. import dtypes
from .registry import Unwritable

_SPELLING = {"float16": "float16", "bfloat16": "bfloat16", "float32": "float", "float64": "double", "bool": "bool"}
TYPE_STRINGS = {dtype: f"tensor({_SPELLING.get(dtype.name, dtype.name)})" for dtype in dtypes.ALL}
FROM_TYPE_STRING = {text: dtype for dtype, text in TYPE_STRINGS.items()}
ELEMENT_TYPES = {dtype: onnx.helper.np_dtype_to_tensor_dtype(dtype) for dtype in dtypes.ALL}

# Where the standard has no such dtype, the first of these that it has holds every value exactly. Integers never become floats: sums differ.
_WIDER = {
    "bool": "uint8 int32 int64 float32 float16", "int8": "int16 int32 int64", "uint8": "uint16 int16 int32 uint32 int64",
    "int16": "int32 int64", "uint16": "int32 uint32 int64", "int32": "int64", "uint32": "int64 uint64",
    "float16": "float32 float64", "bfloat16": "float32 float64", "float32": "float64",
}


@dataclass(frozen=True)
class Formal:
    """An input or output: its type variable (or a fixed type) and the dtypes that it may have."""

    variable: str
    allowed: tuple[np.dtype, ...]

    @property
    def only(self) -> np.dtype | None:
        return self.allowed[0] if len(self.allowed) == 1 else None


class Schema:
    """An operator under an opset."""

    def __init__(self, op_type: str, opset: int):
        self.op_type = op_type
        self._schema = onnx.defs.get_schema(op_type, opset, "")
        self._constraints = {c.type_param_str: c.allowed_type_strs for c in self._schema.type_constraints}
        self.inputs = [self._formal(f) for f in self._schema.inputs]
        self.outputs = [self._formal(f) for f in self._schema.outputs]

    def _formal(self, formal) -> Formal:
        texts = self._constraints.get(formal.type_str, [formal.type_str])
        variable = formal.type_str if formal.is_homogeneous else ""
        return Formal(variable, tuple(FROM_TYPE_STRING[t] for t in texts if t in FROM_TYPE_STRING))

    def input(self, number: int) -> Formal:
        """Input `number`; the last one repeats when it is variadic."""
        return self.inputs[min(number, len(self.inputs) - 1)]

    def output(self, number: int) -> Formal:
        return self.outputs[min(number, len(self.outputs) - 1)]

    def dtype_for(self, formal: Formal, dtype: np.dtype) -> np.dtype:
        """The dtype itself where the standard has it, else a wider one that it has. Unwritable where there is none."""
        if not formal.allowed or dtype in formal.allowed or not formal.variable:
            return dtype
        for name in _WIDER.get(dtype.name, "").split():
            if np.dtype(name) in formal.allowed:
                return np.dtype(name)
        raise Unwritable(f"ONNX {self.op_type} does not take {dtype}")


@lru_cache(maxsize=None)
def schema(op_type: str, opset: int) -> Schema:
    return Schema(op_type, opset)
