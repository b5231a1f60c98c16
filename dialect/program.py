"""A recorded model: its IR, its weights beside it, and what its inputs and outputs are called."""
from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Mapping, MutableMapping

import numpy as np
from mlir import ir

from . import dtypes, symbolic
from .analysis import argument_type, ShapeAnalysis
from .shapes import FRESH, TensorType
from .symbolic import Dim


@dataclass(frozen=True)
class TensorSpec:
    """An input or output: its name, its shape (ints and symbolic sizes) and dtype."""

    name: str
    type: TensorType

    @property
    def shape(self) -> tuple:
        """Sizes, symbolic ones as text such as ``"batch"``."""
        return tuple(size if isinstance(size, int) else str(size) for size in self.type.shape)

    @property
    def dtype(self) -> np.dtype:
        return self.type.dtype


@dataclass
class Program:
    """A module with the entry function ``@main`` and the arrays of its parameters.

    structure: how the outputs are nested, see `dialect.structure` (None: a flat mapping). assumptions: what the recording depends on.
    """

    module: ir.Module
    weights: MutableMapping[str, np.ndarray]
    structure: Any = None
    assumptions: list = field(default_factory=list)
    metadata: Mapping[str, Any] = field(default_factory=dict)

    def __getstate__(self) -> dict:
        """For pickle and copy: the IR as text, and the weights it uses."""
        from .onemodel_program import parameter_names

        weights = {name: np.asarray(self.weights[name]) for name in sorted(parameter_names(self))}
        return {**self.__dict__, "module": self.mlir(locations=True), "weights": weights}

    def __setstate__(self, state: dict) -> None:
        from . import bindings

        module = bindings.parse_module(state["module"], bindings.new_context(), "a pickled program")
        self.__dict__.update(state, module=module)

    @property
    def context(self) -> ir.Context:
        return self.module.context

    @property
    def main(self) -> ir.Operation:
        """The entry function."""
        return entry_function(self.module)

    @property
    def inputs(self) -> list[TensorSpec]:
        arguments, attributes = self._arguments()
        return [TensorSpec(_name(a, f"input_{i}"), argument_type(v.type, a, i)) for i, (v, a) in enumerate(zip(arguments, attributes))]

    def _arguments(self) -> tuple:
        """The arguments of the entry function and their attributes."""
        function = self.main
        arguments = function.regions[0].blocks[0].arguments
        return arguments, function.attributes["arg_attrs"] if "arg_attrs" in function.attributes else [ir.DictAttr.get({}, self.context)] * len(arguments)

    @property
    def outputs(self) -> list[TensorSpec]:
        function = self.main
        with self.context:
            analysis = ShapeAnalysis(function)
        block = function.regions[0].blocks[0]
        returned = block.operations[len(block.operations) - 1].operands
        attributes = function.attributes["res_attrs"] if "res_attrs" in function.attributes else [ir.DictAttr.get({}, self.context)] * len(returned)
        types = _numbered_anew([analysis.tensor(v) for v in returned])
        return [TensorSpec(_name(a, f"output_{i}"), t) for i, (t, a) in enumerate(zip(types, attributes))]

    @property
    def input_names(self) -> list[str]:
        return [_name(a, f"input_{i}") for i, a in enumerate(self._arguments()[1])]

    @property
    def output_names(self) -> list[str]:
        attributes = self.main.attributes["res_attrs"] if "res_attrs" in self.main.attributes else []
        return [_name(a, f"output_{i}") for i, a in enumerate(attributes)]

    def mlir(self, locations: bool = False) -> str:
        """The IR as text. Weights are named in it, not printed."""
        return self.module.operation.get_asm(enable_debug_info=locations, pretty_debug_info=False)

    def __str__(self) -> str:
        return self.mlir()


def _numbered_anew(types: list[TensorType]) -> list[TensorType]:
    """The types with sizes that depend on data numbered from 0, so that they are called alike in every process."""
    fresh = {s.name for t in types for size in t.shape for s in symbolic.symbols_of(size) if FRESH.fullmatch(s.name)}
    names = sorted(fresh, key=lambda name: int(FRESH.fullmatch(name)[2]))
    new = {name: Dim.symbol(f"{FRESH.fullmatch(name)[1]}{number}", anonymous=True) for number, name in enumerate(names)}
    return [t.with_shape(symbolic.substitute(size, new) for size in t.shape) for t in types]


def entry_function(module: ir.Module) -> ir.Operation:
    """The function @main of a module."""
    from ..errors import VerificationError

    for operation in module.body.operations:
        if operation.operation.name == "func.func" and ir.StringAttr(operation.operation.attributes["sym_name"]).value == "main":
            return operation.operation
    raise VerificationError("the module has no function @main")


def _name(attributes, default: str) -> str:
    attributes = ir.DictAttr(attributes)
    return ir.StringAttr(attributes["om.name"]).value if "om.name" in attributes else default


def weight_type(array: np.ndarray) -> TensorType:
    return TensorType(tuple(array.shape), dtypes.dtype_of(array.dtype))
