"""Calling a declared op: arguments to operands and attributes, promotion of dtypes. Needs no MLIR."""
from __future__ import annotations

from typing import Any, Mapping, Sequence

import numpy as np

from . import dtypes
from .declare import Floating, Op, Quotient


def bind_arguments(op: type[Op], args: Sequence, keywords: Mapping[str, Any]) -> tuple[list, dict]:
    """Positional and keyword arguments as operands (declaration order) and attributes. Raises TypeError as a call would."""
    keywords = dict(keywords)
    if op.operands and op.operands[-1].variadic:
        operands, *rest = args or (keywords.pop(op.operands[-1].name),)
        operands = list(operands)
    else:
        count = len(op.operands)
        operands, rest = list(args[:count]), list(args[count:])
        for spec in op.operands[len(operands):]:
            if spec.name not in keywords and not spec.optional:
                raise TypeError(f"{op.opname}() is missing the argument '{spec.name}'")
            operands.append(keywords.pop(spec.name, None))
    for spec, value in zip(op.attributes, rest):
        if spec.name in keywords:
            raise TypeError(f"{op.opname}() got '{spec.name}' twice")
        keywords[spec.name] = value
    if len(rest) > len(op.attributes):
        raise TypeError(f"{op.opname}() takes {len(op.operands) + len(op.attributes)} arguments, found {len(op.operands) + len(rest)}")
    unknown = [name for name in keywords if name not in {a.name for a in op.attributes}]
    if unknown:
        raise TypeError(f"{op.opname}() got an unexpected argument '{unknown[0]}'")
    return operands, keywords


def is_weak(value) -> bool:
    """Whether a node or tensor stands for a Python number, see `graph.Node`."""
    return getattr(value, "weak", False)


def _python_number(value):
    return value if not hasattr(value, "dtype") else 1.0 if dtypes.is_floating(value.dtype) else 1


def common_dtype(values: Sequence, allowed) -> np.dtype:
    """The dtype to which operands promote: tensors' and arrays' dtypes, Python scalars weak; floating where only that is allowed."""
    strong = [np.dtype(v.dtype) for v in values if hasattr(v, "dtype") and not is_weak(v)]
    weak = tuple(_python_number(v) for v in values if not hasattr(v, "dtype") or is_weak(v))
    dtype = dtypes.promote(*strong, scalars=weak)
    if allowed is Quotient and dtype not in Quotient:
        return dtypes.float64
    return dtypes.floating_for(dtype) if allowed is Floating and dtype not in Floating else dtype
