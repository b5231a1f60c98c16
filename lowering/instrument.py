"""Timers around the operations of a module, for `onemlir profile`: labels before loops are made, ticks after.

Each structured op gets a location `om.profile.<number>`, which its loops inherit. After each outermost loop of @main the processor's
time-stamp counter is read, and what has passed since the last reading is added to the cell of its number. A loop that runs kernels step by
step (layers, sample by sample) is not timed as one: its operations are, over all steps.
"""
from __future__ import annotations

import ctypes
import math
import re
from dataclasses import dataclass, replace

from mlir import ir

from .buffers.sizes import number_of
from .loops.structured import dimension, structured

LABEL = "om.profile."
MEASURED = ("linalg.generic", "memref.copy", "scf.parallel", "scf.for", "scf.while", "scf.if")


@dataclass(frozen=True)
class Labelled:
    """An operation that is timed: what it is, where it comes from, and its work (None where sizes are known only at run time)."""

    what: str
    where: str
    operations: int | None
    bytes: int | None


class Instrument:
    """`observe` goes to the lowering; `counts()` gives, after a run, clock ticks per labelled operation since the last call."""

    def __init__(self):
        self.labelled: list[Labelled] = [Labelled("other", "", None, None)]
        self.cells = (ctypes.c_int64 * 1)()

    def observe(self, stage: str, module: ir.Module) -> None:
        if stage not in ("buffers", "loops"):
            return
        with module.context, ir.Location.unknown():
            block = _main(module).regions[0].blocks[0]
            if stage == "buffers":
                self._label(block)
            else:
                self.cells = (ctypes.c_int64 * (len(self.labelled) + 1))()
                self._insert_ticks(block)

    def counts(self) -> list[int]:
        values = list(self.cells)[1:]
        ctypes.memset(self.cells, 0, ctypes.sizeof(self.cells))
        return values

    def _label(self, block: ir.Block, times: int | None = 1) -> None:
        """times: how often the block runs."""
        for operation in [op.operation for op in block.operations]:
            if operation.name == "scf.for" and any(_is_kernel(inner.operation) for inner in operation.regions[0].blocks[0].operations):
                self._label(operation.regions[0].blocks[0], _product(times, _step_count(operation)))
            elif operation.name in MEASURED:
                name = f"{LABEL}{len(self.labelled)}"
                found = describe(operation)
                self.labelled.append(replace(found, operations=_product(times, found.operations), bytes=_product(times, found.bytes)))
                operation.location = ir.Location.name(name, operation.location)

    def _insert_ticks(self, block: ir.Block) -> None:
        with ir.InsertionPoint(block.operations[0]):
            _write(_clock(), self._address(0))
        self._ticks_after(block)

    def _ticks_after(self, block: ir.Block) -> None:
        operations = [op.operation for op in block.operations]
        for operation, following in zip(operations, operations[1:]):
            if operation.name == "scf.for" and not _number(operation.location) and _labelled_inside(operation):
                self._ticks_after(operation.regions[0].blocks[0])
            elif len(operation.regions) or operation.name in ("memref.copy", "func.call"):
                with ir.InsertionPoint(following):
                    self._tick(1 + _number(operation.location))

    def _address(self, cell: int) -> ir.Value:
        return _pointer(ctypes.addressof(self.cells) + 8 * cell)

    def _tick(self, cell: int) -> None:
        now, last, total = _clock(), self._address(0), self._address(cell)
        passed = _binary("llvm.sub", now, _read(last))
        _write(_binary("llvm.add", _read(total), passed), total)
        _write(now, last)


def _main(module: ir.Module) -> ir.Operation:
    named = [f.operation for f in module.body.operations if "sym_name" in f.attributes]
    return next(f for f in named if ir.StringAttr(f.attributes["sym_name"]).value == "main")


def _number(location: ir.Location) -> int:
    found = re.search(re.escape(LABEL) + r"(\d+)", str(location))
    return int(found.group(1)) if found else 0


def _labelled_inside(loop: ir.Operation) -> bool:
    return any(_number(inner.operation.location) for inner in loop.regions[0].blocks[0].operations)


def _is_kernel(operation: ir.Operation) -> bool:
    return operation.name == "linalg.generic" and "om.kernel" in operation.attributes


def _step_count(loop: ir.Operation) -> int | None:
    """The steps of a loop of constant bounds."""
    low, high, step = map(number_of, list(loop.operands)[:3])
    return None if None in (low, high, step) else max(0, -(-(high - low) // step))


def _product(*numbers: int | None) -> int | None:
    return None if None in numbers else math.prod(numbers)


def describe(operation: ir.Operation) -> Labelled:
    """What an operation at the buffer stage is and how much work it has."""
    where = str(operation.location).removeprefix("loc(").removesuffix(")").replace('"', "")
    if operation.name != "linalg.generic":
        return Labelled("rows" if operation.name == "scf.parallel" else operation.name, where, None, None)
    op = structured(operation)
    shapes = " ".join(_shape(v.type) for v in op.operands)
    what = ir.StringAttr(op.kernel["name"]).value if op.kernel else "reduction" if "reduction" in op.kinds else "elementwise"
    read = list(op.operands) + [o.operands[0] for o in (o.operation for o in op.body.operations) if o.name == "memref.load"]
    sizes = [_bytes(v.type) for v in read]
    steps = _steps(op)
    each = 2 if op.kernel else sum(o.operation.name.startswith(("arith.", "math.")) for o in op.body.operations)
    return Labelled(f"{what} {shapes}", where, None if steps is None else steps * each, None if None in sizes else sum(sizes))


def _shape(type: ir.MemRefType) -> str:
    return "x".join("?" if s == ir.ShapedType.get_dynamic_size() else str(s) for s in type.shape) or "scalar"


def _bytes(type: ir.MemRefType) -> int | None:
    if ir.ShapedType.get_dynamic_size() in type.shape:
        return None
    width = 64 if isinstance(type.element_type, ir.IndexType) else type.element_type.width
    return math.prod(type.shape) * max(1, width // 8)


def _steps(op) -> int | None:
    sizes: list[int | None] = [None] * op.loops
    for operand, results in zip(op.operands, op.maps):
        for axis, expression in enumerate(results):
            if dimension(expression) is not None and not operand.type.is_dynamic_dim(axis):
                sizes[dimension(expression)] = operand.type.get_dim_size(axis)
    return None if None in sizes else math.prod(sizes)


def _create(name: str, results, operands, attributes=None) -> list[ir.Value]:
    return list(ir.Operation.create(name, results, operands, attributes or {}).results)


def _i64() -> ir.Type:
    return ir.IntegerType.get_signless(64)


def _pointer(address: int) -> ir.Value:
    number = _create("llvm.mlir.constant", [_i64()], [], {"value": ir.IntegerAttr.get(_i64(), address)})
    return _create("llvm.inttoptr", [ir.Type.parse("!llvm.ptr")], number)[0]


def _clock() -> ir.Value:
    none = {"operandSegmentSizes": ir.DenseI32ArrayAttr.get([0, 0]), "op_bundle_sizes": ir.DenseI32ArrayAttr.get([])}
    return _create("llvm.call_intrinsic", [_i64()], [], {"intrin": ir.StringAttr.get("llvm.readcyclecounter"), **none})[0]


def _read(pointer: ir.Value) -> ir.Value:
    return _create("llvm.load", [_i64()], [pointer])[0]


def _write(value: ir.Value, pointer: ir.Value) -> None:
    _create("llvm.store", [], [value, pointer])


def _binary(name: str, a: ir.Value, b: ir.Value) -> ir.Value:
    return _create(name, [_i64()], [a, b])[0]
