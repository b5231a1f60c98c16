"""Kernels as functions: equal ops on buffers of equal types call one function, so that a kernel is emitted, and compiled, once.

    linalg.generic {om.kernel = ...} ins(%a, %b) outs(%c)    ->    func.call @om_kernel_0(%a, %b, %c)

Such a function holds the kernel's loops; `om-to-llvm` outlines their bodies and inlines what is left of the function.
"""
from __future__ import annotations

from typing import Callable, Sequence

from mlir import ir
from mlir.dialects import func

from ..kernels.build import EXPLICIT, shared_constants

KERNEL_FUNCTION = "om_kernel_"


class KernelFunctions:
    """The kernel functions of a module, by what they compute."""

    def __init__(self, module: ir.Module, emit: Callable[[ir.Operation], bool]):
        """`emit` replaces an op in a function by loops, and an op behind it that it takes as its epilogue; False where it declines."""
        self.module, self.emit = module, emit
        self.known: dict[tuple, tuple[str, int] | None] = {}

    def call(self, operations: Sequence[ir.Operation]) -> int:
        """Compute a kernel's op, and an epilogue behind it, by a call: how many of these ops the call stands for; 0 where none does."""
        values = _outside(operations)
        key = _key(operations, values)
        if key not in self.known:
            self.known[key] = self._define(operations, values)
        if self.known[key] is None:
            return 0
        name, count = self.known[key]
        with ir.InsertionPoint(operations[count - 1]), operations[0].location:
            func.CallOp([], name, [v for v in values if not _is_constant(v)])
        return count

    def _define(self, operations: Sequence[ir.Operation], values: list[ir.Value]) -> tuple[str, int] | None:
        name = f"{KERNEL_FUNCTION}{sum(found is not None for found in self.known.values())}"
        arguments = [v for v in values if not _is_constant(v)]
        with ir.InsertionPoint(self.module.body), operations[0].location:
            function = func.FuncOp(name, ([v.type for v in arguments], []), visibility="private")
            block = function.add_entry_block([operations[0].location] * len(arguments))
        with ir.InsertionPoint(block), operations[0].location:
            inside = dict(zip(arguments, block.arguments))
            inside.update({v: v.owner.operation.clone().results[0] for v in values if _is_constant(v)})
            copies = [_copy(op, inside) for op in operations]
            func.ReturnOp([])
        with shared_constants(block):
            done = self.emit(copies[0])
        if not done:
            function.operation.erase()
            return None
        emitted = [op.operation for op in block.operations]
        if any(EXPLICIT in op.attributes for op in emitted):
            function.attributes[EXPLICIT] = ir.UnitAttr.get()
        left = [op for op in emitted if op.name == "linalg.generic"]
        for op in left:
            op.erase()
        return name, len(operations) - len(left)


def _outside(operations: Sequence[ir.Operation]) -> list[ir.Value]:
    """The values that ops and their bodies take from outside, each once, in order."""
    found: dict[ir.Value, None] = {}
    for operation in operations:
        found.update(dict.fromkeys(operation.operands))
        inside = {value for block in _blocks(operation) for value in block.arguments}
        for nested in _nested(operation):
            found.update((v, None) for v in nested.operands if v not in inside)
            inside.update(nested.results)
            inside.update(value for block in _blocks(nested) for value in block.arguments)
    return list(found)


def _key(operations: Sequence[ir.Operation], values: list[ir.Value]) -> tuple:
    """Equal for ops that the same function computes: their text, the types of what they use, and which of it they use where."""
    number = {value: i for i, value in enumerate(values)}
    texts = tuple(_text(op) for op in operations)
    places = tuple(tuple(number.get(v, -1) for v in op.operands) for outer in operations for op in (outer, *_nested(outer)))
    kinds = tuple((str(v.type), str(v.owner.operation.attributes["value"]) if _is_constant(v) else "") for v in values)
    return texts, places, kinds


def _text(operation: ir.Operation) -> str:
    """Of the op alone: in its function, MLIR would name all of the function's values first."""
    alone = operation.operation.clone(ip=False)
    return alone.operation.get_asm(use_local_scope=True, print_generic_op_form=True)


def _copy(operation: ir.Operation, inside: dict[ir.Value, ir.Value]) -> ir.Operation:
    copy = operation.clone().operation
    for op in (copy, *_nested(copy)):
        for position, value in enumerate(op.operands):
            if value in inside:
                op.operands[position] = inside[value]
    return copy


def _blocks(operation: ir.Operation) -> list[ir.Block]:
    return [block for region in operation.regions for block in region.blocks]


def _nested(operation: ir.Operation) -> list[ir.Operation]:
    """All ops inside, each before those inside it."""
    found = []
    for block in _blocks(operation):
        for op in block.operations:
            found += [op.operation, *_nested(op.operation)]
    return found


def _is_constant(value: ir.Value) -> bool:
    return not isinstance(value.owner, ir.Block) and value.owner.operation.name == "arith.constant"
