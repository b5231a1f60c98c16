"""Element types: inputs of one type variable of an operator's schema have one, and outputs have those that the graph declares."""
from __future__ import annotations

import warnings
from functools import lru_cache
from itertools import chain, repeat
from typing import Iterable

import onnx

from ...dialect.shapes import show
from ...errors import FormatError
from .registry import normal_domain
from .tensors import dtype_name, DTYPES
from .values import Missing, Sequence, Value

_VARIADIC = onnx.defs.OpSchema.FormalParameterOption.Variadic


def check_inputs(proto: onnx.NodeProto, version: int, inputs: Iterable[Value | None]) -> None:
    """FormatError for inputs of different element types that the schema gives one type variable."""
    first: dict[str, tuple[str, str]] = {}
    names, further = _variables(proto.op_type, normal_domain(proto.domain), version)
    for name, value, variable in zip(proto.input, inputs, chain(names, repeat(further))):
        if variable is None or not _plain(value):
            continue
        found = _element(value)
        other, expected = first.setdefault(variable, (name, found))
        if found != expected:
            raise FormatError(f"the inputs '{other}' of {expected} and '{name}' of {found} must have one element type")


@lru_cache(maxsize=None)
def _variables(op_type: str, domain: str, version: int) -> tuple[tuple[str | None, ...], str | None]:
    """The type variable of each input, and that of further ones; None where there is none, or it may differ from input to input."""
    if not onnx.defs.has(op_type, version, domain):
        return (), None
    schema = onnx.defs.get_schema(op_type, version, domain)
    variables = {constraint.type_param_str for constraint in schema.type_constraints}
    names = tuple(p.type_str if p.type_str in variables and p.is_homogeneous else None for p in schema.inputs)
    return names, names[-1] if names and schema.inputs[-1].option == _VARIADIC else None


def check_outputs(graph: onnx.GraphProto, values: Iterable[Value]) -> None:
    """FormatError for outputs of other element types than the graph declares; a warning where fixed sizes differ, as in onnxruntime."""
    for info, value in zip(graph.output, values):
        if not _plain(value) or info.type.WhichOneof("value") != "tensor_type":
            continue
        declared = info.type.tensor_type
        if value.narrow is None and DTYPES.get(declared.elem_type, value.dtype) != value.dtype:
            raise FormatError(f"the output '{info.name}' is of {value.dtype}, but the graph declares {dtype_name(declared.elem_type)}")
        sizes = tuple(d.dim_value if d.HasField("dim_value") and d.dim_value >= 0 else None for d in declared.shape.dim)
        if declared.HasField("shape") and not _fits(value.shape, sizes):
            shown = ", ".join("?" if size is None else str(size) for size in sizes)
            warnings.warn(f"the output '{info.name}' has the shape {show(value.shape)}, but the graph declares ({shown})", stacklevel=7)


def _fits(shape: tuple, sizes: tuple) -> bool:
    return len(shape) == len(sizes) and not any(isinstance(a, int) and b is not None and a != b for a, b in zip(shape, sizes))


def _plain(value: Value | None) -> bool:
    return value is not None and not isinstance(value, (Sequence, Missing))


def _element(value: Value) -> str:
    return dtype_name(value.narrow) if value.narrow is not None else str(value.dtype)
