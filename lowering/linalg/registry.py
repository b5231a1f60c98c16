"""Lowerings: how an op becomes linalg on tensors.

    @lowers(Transpose)
    def transpose(build, op):
        return build.generic(...)

`build` is the `LinalgBuilder`; `op` gives the declaration's fields by name: operands as `TensorValue` (None when left out), attributes
with symbolic sizes in place, results as their `TensorType`. The function returns the result's value, or a tuple of values.
"""
from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Callable, Mapping

import numpy as np
from mlir import ir

from ...dialect.declare import Op
from ...dialect.shapes import TensorType

LOWERINGS: dict[type[Op], Callable] = {}


def lowers(*ops: type[Op]) -> Callable:
    """Register a function as the lowering of one or several ops."""
    def register(function: Callable) -> Callable:
        for op in ops:
            LOWERINGS[op] = function
        return function
    return register


@dataclass(frozen=True)
class TensorValue:
    """A tensor at the linalg stage: its value (signless elements) and its type as the dialect sees it."""

    value: ir.Value
    type: TensorType
    constant: bool = False  # depends on weights and literals alone
    literal: np.ndarray | None = None  # the content, where it is written in the IR

    shape = property(lambda self: self.type.shape)
    dtype = property(lambda self: self.type.dtype)
    rank = property(lambda self: self.type.rank)


class LoweredOp:
    """The op being lowered, its fields as attributes; `operation` is what it is in the function that is being rebuilt."""

    def __init__(self, declaration: type[Op], operands: Mapping[str, Any], attributes: Mapping[str, Any], results: tuple[TensorType, ...],
                 operation: ir.Operation | None = None):
        self.declaration, self.operation = declaration, operation
        self.results = results
        self.__dict__.update(operands)
        self.__dict__.update(attributes)
        self.__dict__.update({spec.name: type for spec, type in zip(declaration.results, results) if spec.name not in self.__dict__})
        self.tensors = [operands[s.name] for s in declaration.operands]

    @property
    def result(self) -> TensorType:
        """Type of the first result."""
        return self.results[0]
