"""A recorded value as the user would write it: ``sum(input) > 0``."""
from __future__ import annotations

from mlir import ir

from ..dialect.build import view

INFIX = {"add": "+", "subtract": "-", "multiply": "*", "divide": "/", "floor_divide": "//", "remainder": "%", "pow": "**", "matmul": "@",
         "less": "<", "less_equal": "<=", "greater": ">", "greater_equal": ">=", "equal": "==", "not_equal": "!=",
         "bitwise_and": "&", "bitwise_or": "|", "bitwise_xor": "^"}  # fmt: skip
TRANSPARENT = ("cast", "reshape", "broadcast_to")
DEPTH = 4


def expression(recorder, value: ir.Value, depth: int = DEPTH) -> str:
    """What a value was computed from, a few ops deep; further down an ellipsis."""
    if isinstance(value.owner, ir.Block):
        return _argument(recorder, value)
    op = view(value.owner)
    if op is None:
        return value.owner.operation.name
    name = op.declaration.opname
    if name in ("parameter", "constant"):
        return op.attributes["name"] if name == "parameter" else _literal(op.attributes["value"])
    if name == "from_size":
        return _size(recorder, op.operation.operands[0])
    if name in TRANSPARENT:
        return expression(recorder, op.operands[0], depth)
    if name == "slice":
        return f"{expression(recorder, op.operands[0], depth)}[{', '.join(_taken(op, axis) for axis in range(len(op.attributes['starts'])))}]"
    operands = [expression(recorder, v, depth - 1) if depth else "..." for v in op.operands if v is not None]
    if name in INFIX and len(operands) == 2:
        text = f"{operands[0]} {INFIX[name]} {operands[1]}"
        return text if depth == DEPTH else f"({text})"
    return f"{name}({', '.join(operands)})"


def _taken(op, axis: int) -> str:
    """What a slice takes of one axis, as an index."""
    start, count, step = (op.attributes[name][axis] for name in ("starts", "shape", "steps"))
    if (start, step) == (0, 1) and count != 1:
        return ":" if count < 0 else f":{count}"
    if start < 0 or count < 0:
        return "..."
    return str(start) if count == 1 else f"{start}:{start + count * step}:{step}"


def _argument(recorder, value: ir.Value) -> str:
    for argument, (name, *_) in zip(recorder.block.arguments, recorder.inputs):
        if argument == value:
            return name
    return "..."


def _size(recorder, value: ir.Value) -> str:
    """The axis that a size was read from."""
    return next((symbol for symbol, (origin, axis) in recorder.origins.items() if _reads(value, origin, axis)), "size")


def _reads(value: ir.Value, origin: ir.Value, axis: int | None) -> bool:
    if axis is None:
        return value == origin
    op = None if isinstance(value.owner, ir.Block) else view(value.owner)
    return op is not None and op.declaration.opname == "dim" and op.operands[0] == origin and op.attributes["axis"] == axis


def _literal(array) -> str:
    return repr(array.item()) if array.size == 1 else "[...]"
