"""Running a function of the dialect op by op with the declarations' numpy `reference`: the meaning of a module."""
from __future__ import annotations

from typing import Callable, Mapping, Sequence

import numpy as np
from mlir import ir

from .. import errors
from ..errors import UnsupportedOpError
from . import symbolic
from .build import view
from .declare import with_sizes
from .status import StatusWord

_ARITH: dict[str, Callable[[int, int], int]] = {
    "arith.addi": lambda a, b: a + b, "arith.subi": lambda a, b: a - b, "arith.muli": lambda a, b: a * b,
    "arith.floordivsi": symbolic.FUNCTIONS["floordiv"], "arith.divsi": symbolic.FUNCTIONS["floordiv"],
    "arith.minsi": min, "arith.maxsi": max, "om.size_mod": symbolic.FUNCTIONS["mod"], "om.size_broadcast": symbolic.FUNCTIONS["broadcast"],
}


class Interpreter:
    """Evaluates values of one function. `on_result(operation, arrays)` is called after each op, for comparisons layer by layer."""

    def __init__(self, weights: Mapping[str, np.ndarray], on_result: Callable | None = None):
        self.weights = weights
        self.values: dict[ir.Value, object] = {}
        self.on_result = on_result

    def run(self, function: ir.Operation, inputs: Sequence[np.ndarray]) -> list[np.ndarray]:
        """The function's results for inputs in argument order."""
        block = function.regions[0].blocks[0]
        for argument, array in zip(block.arguments, inputs):
            self.values[argument] = array
        return self.block(block)

    def block(self, block: ir.Block) -> list:
        """Run a block whose arguments are bound; the operands of its terminator."""
        for operation in block.operations:
            operation = operation.operation
            if operation.name in ("func.return", "scf.yield", "scf.condition"):
                return [self.values[v] for v in operation.operands]
            self.operation(operation)
        return []

    def value(self, value: ir.Value):
        """The array or size of a value, computed on demand from what it depends on."""
        if value not in self.values:
            owner = value.owner.operation
            for operand in owner.operands:
                self.value(operand)
            for region in owner.regions:
                for block in region.blocks:
                    self._captured(block)
            self.operation(owner)
        return self.values[value]

    def _captured(self, block: ir.Block) -> None:
        inside: set = set(block.arguments)
        for operation in block.operations:
            for operand in operation.operands:
                if operand not in inside and operand not in self.values:
                    self.value(operand)
            inside.update(operation.results)
            for region in operation.regions:
                for nested in region.blocks:
                    self._captured(nested)

    def operation(self, operation: ir.Operation) -> None:
        """Run one op whose operands are known."""
        name = operation.name
        values = [self.values[v] for v in operation.operands]
        if name in _ARITH:
            results = [_ARITH[name](*values)]
        elif name == "arith.constant":
            results = [ir.IntegerAttr(operation.attributes["value"]).value]
        elif name == "tensor.extract":
            results = [values[0][tuple(values[1:])]]
        elif name == "tensor.cast":
            results = values
        elif name == "scf.if":
            results = self.block(operation.regions[0 if values[0] else 1].blocks[0])
        elif name == "scf.for":
            results = self._for(operation, values)
        elif name == "scf.while":
            results = self._while(operation, values)
        else:
            results = self._declared(operation, values)
        for result, value in zip(operation.results, results):
            self.values[result] = value
        if self.on_result:
            self.on_result(operation, results)

    def _for(self, operation, values) -> list:
        body = operation.regions[0].blocks[0]
        low, high, step, *carried = values
        for index in range(low, high, step):
            self._bind(body.arguments, [index, *carried])
            carried = self.block(body)
        return carried

    def _while(self, operation, carried) -> list:
        before, after = (region.blocks[0] for region in operation.regions)
        while True:
            self._bind(before.arguments, carried)
            condition, *passed = self.block(before)
            if not condition:
                return passed
            self._bind(after.arguments, passed)
            carried = self.block(after)

    def _bind(self, arguments, values) -> None:
        for argument, value in zip(arguments, values):
            self.values[argument] = value

    def _declared(self, operation, values) -> list:
        op = view(operation)
        if op is None:
            raise UnsupportedOpError(f"the reference interpreter does not know '{operation.name}'")
        name, attributes = op.declaration.opname, op.attributes
        if name == "dim":
            return [values[0].shape[attributes["axis"]]]
        if name == "from_size":
            return [np.asarray(values[0], np.int64)]
        if name == "to_size":
            return [max(0, int(values[0]))]
        if name == "parameter":
            return [np.asarray(self.weights[attributes["name"]])]
        if name == "guard":
            if not values[0]:
                raise failed_guard(attributes, *[None if v is None else self.values[v] for v in op.operands[1:]])
            return []
        attributes = with_sizes(op.declaration, attributes, [self.values[v] for v in op.sizes])
        operands = [None if v is None else self.values[v] for v in op.operands]
        results = op.declaration.reference(**op.declaration.named_operands(operands), **attributes)
        return list(results) if isinstance(results, tuple) else [results]


def failed_guard(attributes: Mapping, found, expected) -> Exception:
    """The error of a guard whose predicate is false."""
    words = [0 if v is None else StatusWord.of(np.asarray(v)) for v in (found, expected)]
    return getattr(errors, attributes["kind"])(attributes["message"].format(found=words[0], expected=words[1], index=0))
