"""The entry wrapper: `int32_t entry(int64_t *table)` loads the arguments of an entry function from the caller's table.

The table holds a pointer for each input, parameter and output, the pointer to the runtime context, the dynamic sizes (inputs and
parameters in argument and axis order, then outputs), then the status record {code, found, expected, index}.
"""
from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import partial
from typing import Callable

from mlir import ir

from ...errors import CompileError
from ..buffers.functions import argument_attributes, DATA_DEPENDENT, entry_block, result_attributes, ROLE, symbol
from .float_state import DECLARATIONS, RESTORE, SET

STATUS_WORDS = 4


@dataclass
class Signature:
    """What the wrapper needs to know of an entry function, taken before it is lowered."""

    name: str
    arguments: list[tuple[str, list[int]]]
    """Role and shape (-1 where dynamic) of each argument."""
    returned: list[list[int]] = field(default_factory=list)
    """Shapes of the results that compiled code allocates."""
    order: list[tuple[str, int]] = field(default_factory=list)
    """Each output of the model in order: ("argument", position) or ("result", position)."""
    kept: list[int] = field(default_factory=list)
    """Positions of the lowered arguments that the function still has."""

    @property
    def symbol(self) -> str:
        return "entry" if self.name == "main" else f"{self.name}_entry"

    @property
    def context_position(self) -> int:
        """Where the lowered function takes the context."""
        position = 0
        for role, shape in self.arguments:
            if role == "context":
                return position
            position += 3 + 2 * len(shape)
        raise ValueError(f"function {self.name} has no context argument; run bufferize first")


def signature_of(function: ir.Operation) -> Signature:
    arguments = []
    for attributes, value in zip(argument_attributes(function), entry_block(function).arguments):
        role = ir.StringAttr(attributes[ROLE]).value if ROLE in attributes else "input"
        shape = _shape(value.type) if role != "context" else []
        if role == "parameter" and -1 in shape:
            raise CompileError(f"parameter {len(arguments)} of @{symbol(function)} has a dynamic size: {value.type}")
        arguments.append((role, shape))
    results = ir.FunctionType(ir.TypeAttr(function.attributes["function_type"]).value).results
    signature = Signature(symbol(function), arguments, [_shape(t) for t in results])
    signature.order = _output_order(function, signature)
    return signature


def _shape(type: ir.Type) -> list[int]:
    memref = ir.MemRefType(type)
    return [-1 if memref.is_dynamic_dim(i) else memref.get_dim_size(i) for i in range(memref.rank)]


def _output_order(function: ir.Operation, signature: Signature) -> list[tuple[str, int]]:
    """Destinations in order, with the results at their places among them: `om.data_dependent` holds the place."""
    order = [("argument", i) for i, (role, _) in enumerate(signature.arguments) if role == "output"]
    for position, attributes in enumerate(result_attributes(function)):
        order.insert(ir.IntegerAttr(attributes[DATA_DEPENDENT]).value, ("result", position))
    return order


class Wrapper:
    """Builds the text of one wrapper."""

    def __init__(self, signature: Signature):
        self.signature = signature
        self.lines: list[str] = []
        self.count = 0
        shapes = {("argument", i): shape for i, (_, shape) in enumerate(signature.arguments)}
        shapes.update({("result", i): shape for i, shape in enumerate(signature.returned)})
        self.shapes = shapes
        self._layout()

    def _layout(self) -> None:
        arguments = self.signature.arguments
        given = [("argument", i) for role in ("input", "parameter") for i, (r, _) in enumerate(arguments) if r == role]
        pointers = given + self.signature.order
        self.slot = {key: number for number, key in enumerate(pointers)}
        self.context_slot = len(pointers)
        number = len(pointers) + 1
        self.size_slot: dict[tuple, int] = {}
        in_order = sorted(given, key=lambda key: key[1]) + self.signature.order
        for key in in_order:
            for axis, size in enumerate(self.shapes[key]):
                if size < 0:
                    self.size_slot[key, axis] = number
                    number += 1
        self.status_slot = number

    def emit(self, text: str) -> str:
        self.count += 1
        self.lines.append(f"  %t{self.count} = {text}")
        return f"%t{self.count}"

    def word(self, slot: int, type: str = "i64") -> str:
        return self.emit(f"llvm.load {self.address(slot)} : !llvm.ptr -> {type}")

    def address(self, slot: int) -> str:
        return self.emit(f"llvm.getelementptr %table[{slot}] : (!llvm.ptr) -> !llvm.ptr, i64")

    def constant(self, number: int) -> str:
        return self.emit(f"llvm.mlir.constant({number} : i64) : i64")

    def text(self, main_type: str) -> str:
        self.context = self.word(self.context_slot, "!llvm.ptr")
        self.status = self.address(self.status_slot)
        at = self.emit(f"llvm.getelementptr {self.context}[6] : (!llvm.ptr) -> !llvm.ptr, i64")
        self.lines.append(f"  llvm.store {self.status}, {at} : !llvm.ptr, !llvm.ptr")
        values = ", ".join(self._arguments())
        state = self.emit(f"llvm.call @{SET}() : () -> i64")
        parameters, result = main_type.split(" -> ") if " -> " in main_type else (main_type, "")
        self._call(values, parameters, result)
        self.lines.append(f"  llvm.call @om_sweep({self.context}) : (!llvm.ptr) -> ()")
        self.lines.append(f"  llvm.call @{RESTORE}({state}) : (i64) -> ()")
        code = self.emit(f"llvm.load {self.status} : !llvm.ptr -> i64")
        code = self.emit(f"llvm.trunc {code} : i64 to i32")
        body = "\n".join(self.lines)
        declarations = f"{DECLARATIONS}llvm.func @{self.signature.name}{main_type}\nllvm.func @om_sweep(!llvm.ptr)\nllvm.func @om_detach(!llvm.ptr)\n"
        return f"{declarations}llvm.func @{self.signature.symbol}(%table: !llvm.ptr) -> i32 {{\n{body}\n  llvm.return {code} : i32\n}}"

    def _arguments(self) -> list[str]:
        """Of each argument that is left: a buffer was lowered to its pointer, twice, its offset, sizes and strides."""
        pieces: list[Callable[[], str]] = []
        for position, (role, shape) in enumerate(self.signature.arguments):
            if role == "context":
                pieces.append(lambda: self.context)
                continue
            key = ("argument", position)
            sizes = [STATUS_WORDS] * len(shape) if role == "status" else shape
            axes = range(len(shape))
            pieces += [partial(self._pointer, key, role)] * 2 + [partial(self.constant, 0)]
            pieces += [partial(self._size, key, sizes, axis) for axis in axes] + [partial(self._stride, key, sizes, axis) for axis in axes]
        return [pieces[i]() for i in self.signature.kept]

    def _pointer(self, key: tuple, role: str) -> str:
        return self.status if role == "status" else self.word(self.slot[key], "!llvm.ptr")

    def _size(self, key: tuple, shape: list[int], axis: int) -> str:
        return self.word(self.size_slot[key, axis]) if shape[axis] < 0 else self.constant(shape[axis])

    def _stride(self, key: tuple, shape: list[int], axis: int) -> str:
        behind = range(axis + 1, len(shape))
        stride = self.constant(math.prod(shape[a] for a in behind if shape[a] >= 0))
        for a in behind:
            if shape[a] < 0:
                stride = self.emit(f"llvm.mul {stride}, {self._size(key, shape, a)} : i64")
        return stride

    def _call(self, values: str, parameters: str, result: str) -> None:
        call = f"llvm.call @{self.signature.name}({values}) : {parameters} -> {result or '()'}"
        if not result:
            self.lines.append("  " + call)
            return
        returned = self.emit(call)
        count = len(self.signature.returned)
        for position, shape in enumerate(self.signature.returned):
            where = "" if count == 1 else f"{position}, "
            pointer = self.emit(f"llvm.extractvalue {returned}[{where}1] : {result}")
            self.lines.append(f"  llvm.call @om_detach({pointer}) : (!llvm.ptr) -> ()")
            key = ("result", position)
            self.lines.append(f"  llvm.store {pointer}, {self.address(self.slot[key])} : !llvm.ptr, !llvm.ptr")
            for axis, size in enumerate(shape):
                if size < 0:
                    value = self.emit(f"llvm.extractvalue {returned}[{where}3, {axis}] : {result}")
                    self.lines.append(f"  llvm.store {value}, {self.address(self.size_slot[key, axis])} : i64, !llvm.ptr")


def add_entry(module: ir.Module, signature: Signature) -> None:
    """Append the wrapper of a lowered entry function."""
    main = next(op for op in module.body.operations if ir.StringAttr(op.attributes["sym_name"]).value == signature.name)
    parsed = ir.Module.parse(Wrapper(signature).text(_type_text(main.operation)), module.context)
    with ir.InsertionPoint(module.body):
        parsed.body.operations[len(parsed.body.operations) - 1].operation.clone()


def _type_text(function: ir.Operation) -> str:
    """`(i64, !llvm.ptr) -> !llvm.struct<...>`, the arrow only where there is a result."""
    arguments = ", ".join(str(a.type) for a in function.regions[0].blocks[0].arguments)
    found: list[str] = []

    def visit(op):
        if op.name == "llvm.return" and len(op.operands):
            found.append(str(op.operands[0].type))
        return ir.WalkResult.ADVANCE

    function.walk(visit)
    return f"({arguments})" + (f" -> {found[0]}" if found else "")
