"""Symbolic sizes as torch programs see them: `torch.SymInt` around our own node, so that torch's argument parsers take them."""
from __future__ import annotations

import operator

import torch
from torch.fx.experimental.sym_node import SymNode

from ..symbolic_int import SymbolicInt
from ..tensor import Tensor


class SizeNode:
    """The node in a torch.SymInt: computes with `SymbolicInt`, whose rule for reads holds."""

    def __init__(self, value):
        self.value = value

    def is_int(self) -> bool:
        return True

    def is_float(self) -> bool:
        return False

    is_bool = is_nested_int = is_constant = is_float

    def is_symbolic(self) -> bool:
        return True

    def has_hint(self) -> bool:
        return True

    def maybe_as_int(self):
        return None

    def wrap_int(self, value: int) -> "SizeNode":
        return SizeNode(value)

    def wrap_float(self, value: float) -> "SizeNode":
        return SizeNode(value)

    wrap_bool = wrap_int

    def int_(self) -> int:
        return self.value.__index__()

    def guard_int(self, file, line) -> int:
        return self.int_()

    def guard_float(self, file, line) -> float:
        return float(self.value)

    def sym_float(self):
        return as_tensor_node(self.value / 1)

    def pow_by_natural(self, other: "SizeNode") -> "SizeNode":
        result = 1
        for _ in range(other.value):
            result = self.value * result
        return SizeNode(result)

    def sym_max(self, other: "SizeNode") -> "SizeNode":
        return self if self.value >= other.value else other

    def sym_min(self, other: "SizeNode") -> "SizeNode":
        return self if self.value <= other.value else other

    def clone(self) -> "SizeNode":
        return self

    def str(self) -> str:
        return str_of(self.value)

    def _graph_repr(self) -> str:
        return str_of(self.value)

    __repr__ = __str__ = _graph_repr


def known_node(value):
    """A node that torch's arithmetic of sizes unwraps at once to `value`: a decided comparison, or a tensor that follows from a size."""
    node = SymNode.__new__(SymNode)
    node.constant = value
    return node


def as_tensor_node(value):
    """A number that follows from a size and is no size: a rank-0 tensor, known when the model runs."""
    from .tensor import RecordedTensor

    return known_node(RecordedTensor(value) if isinstance(value, Tensor) else value)


class NumberNode:
    """The node of a number that follows from a size, a rank-0 tensor: torch computes ``size * 0.5`` with it."""

    def __init__(self, value):
        self.value = value

    def is_int(self) -> bool:
        return False

    def is_float(self) -> bool:
        return True

    is_bool = is_nested_int = is_constant = is_int

    def wrap_float(self, value: float) -> "NumberNode":
        return NumberNode(value)

    wrap_int = wrap_float

    def sym_float(self):
        return as_tensor_node(self.value)


def str_of(value) -> str:
    return f"{value}"


def _arithmetic(function):
    return lambda self, other: SizeNode(function(self.value, other.value))


def _comparison(function):
    return lambda self, other: known_node(bool(function(self.value, other.value)))


for _name, _function in {"add": operator.add, "sub": operator.sub, "mul": operator.mul, "mod": operator.mod, "floordiv": operator.floordiv,
                         "int_floordiv": operator.floordiv}.items():
    setattr(SizeNode, _name, _arithmetic(_function))
for _name in ("eq", "ne", "lt", "le", "gt", "ge"):
    setattr(SizeNode, _name, _comparison(getattr(operator, _name)))
for _name, _function in {"add": operator.add, "sub": operator.sub, "mul": operator.mul, "mod": operator.mod, "pow": operator.pow,
                         "float_pow": operator.pow, "truediv": operator.truediv, "float_truediv": operator.truediv}.items():
    setattr(NumberNode, _name, lambda self, other, f=_function: as_tensor_node(f(self.value, other.value)))
SizeNode.neg = lambda self: SizeNode(-self.value)
SizeNode.pos = lambda self: self
SizeNode.truediv = SizeNode.int_truediv = lambda self, other: as_tensor_node(self.value / other.value)


def to_sym_int(size):
    """A size of a recorded tensor as torch programs take it."""
    return torch.SymInt(SizeNode(size)) if isinstance(size, SymbolicInt) else size


def from_sym_int(size):
    """The SymbolicInt in a torch.SymInt of a recording; anything else as it is."""
    if type(size) is torch.SymInt and isinstance(size.node, SizeNode):
        return size.node.value
    return size


def torch_size(shape) -> torch.Size:
    """A shape with symbolic sizes as a torch.Size."""
    return torch.Size([to_sym_int(s) for s in shape])
