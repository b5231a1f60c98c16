"""Tensors that were made of sizes, as sizes again: ``torch.tensor(x.shape[0]) - 1`` as a bound of a slice, or as a size of a shape."""
from __future__ import annotations

from typing import Callable

from mlir import ir

from ..dialect import symbolic
from ..dialect.dtypes import INTEGER
from ..dialect.symbolic import Size
from .symbolic_int import wrap
from .tensor import Tensor

def _towards_zero(a: Size, b: Size) -> Size | None:
    """The quotient of sizes that are known not to be negative, where rounding towards zero is rounding down."""
    return symbolic.floordiv(a, b) if symbolic.less_equal(0, a) and symbolic.less_equal(1, b) else None


ARITHMETIC: dict[str, Callable] = {
    "om.add": symbolic.add, "om.subtract": lambda a, b: symbolic.add(a, symbolic.mul(b, -1)), "om.multiply": symbolic.mul,
    "om.floor_divide": symbolic.floordiv, "om.trunc_divide": _towards_zero, "om.minimum": symbolic.minimum, "om.maximum": symbolic.maximum, "om.negative": lambda a: symbolic.mul(a, -1),
}  # fmt: skip
SAME = ("om.cast", "om.reshape")


def size_in(tensor: Tensor):
    """The size, as Python sees it, that a tensor of one integer holds, where it follows from sizes and literals alone; else None."""
    if tensor.dtype not in INTEGER or any(not isinstance(s, int) or s != 1 for s in tensor.shape):
        return None
    if not tensor.is_recorded:
        return int(tensor._array.reshape(()))
    recorder = tensor._node.builder
    found = _of_value(recorder, tensor._node.value)
    return None if found is None else wrap(found, recorder)


def _of_value(recorder, value) -> Size | None:
    operation = getattr(value.owner, "operation", None)
    element = value.type.element_type
    if operation is None or not isinstance(element, ir.IntegerType) or element.width == 1:
        return None
    if operation.name == "om.from_size":
        return recorder.size_values.get(value)
    if operation.name == "om.constant":
        return int(recorder.interpreter().value(value).reshape(()))
    operands = [_of_value(recorder, operand) for operand in operation.operands] if operation.name in SAME or operation.name in ARITHMETIC else [None]
    if None in operands:
        return None
    return operands[0] if operation.name in SAME else ARITHMETIC[operation.name](*operands)
