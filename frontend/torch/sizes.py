"""Symbolic sizes as torch programs see them: `torch.SymInt` around our own node, so that torch's argument parsers take them."""
from __future__ import annotations

import operator

import torch

from ..symbolic_int import SymbolicInt


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
        return SizeNode(float(self.value))

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


class ConditionNode(SizeNode):
    """The answer to a comparison of sizes: the comparison was decided by the recording's rule, so it is known."""

    def is_int(self) -> bool:
        return False

    def is_bool(self) -> bool:
        return True

    def bool_(self) -> bool:
        return self.value

    def guard_bool(self, file, line) -> bool:
        return self.value

    expect_true = guard_size_oblivious = guard_or_true = guard_or_false = guard_bool

    def sym_not(self) -> "ConditionNode":
        return ConditionNode(not self.value)

    def and_(self, other) -> "ConditionNode":
        return ConditionNode(self.value and other.value)

    def or_(self, other) -> "ConditionNode":
        return ConditionNode(self.value or other.value)


def str_of(value) -> str:
    return f"{value}"


def _arithmetic(function):
    return lambda self, other: SizeNode(function(self.value, other.value))


def _comparison(function):
    return lambda self, other: ConditionNode(bool(function(self.value, other.value)))


for _name, _function in {"add": operator.add, "sub": operator.sub, "mul": operator.mul, "mod": operator.mod, "floordiv": operator.floordiv,
                         "int_floordiv": operator.floordiv}.items():
    setattr(SizeNode, _name, _arithmetic(_function))
for _name in ("eq", "ne", "lt", "le", "gt", "ge"):
    setattr(SizeNode, _name, _comparison(getattr(operator, _name)))
SizeNode.neg = lambda self: SizeNode(-self.value)
SizeNode.pos = lambda self: self
SizeNode.truediv = SizeNode.int_truediv = lambda self, other: SizeNode(float(self.value) / float(other.value))


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
