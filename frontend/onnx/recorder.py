"""The recorder for models that come without example values: sizes that must agree are guards, reading data is refused."""
from __future__ import annotations

import math
from typing import Any, Mapping, Sequence

from mlir import ir

from ...dialect import symbolic
from ...dialect.build import mlir_type
from ...dialect.shapes import TensorType
from ...dialect.symbolic import Dim
from ...errors import OnemlirError, UnsupportedOpError
from ..recording import Recorder
from ..tensor import Tensor


LARGE = 1 << 20  # elements from which on a constant is computed when the model runs


class ModelRecorder(Recorder):
    """Records a foreign graph. `where` says which node is being read; `choices`: branches that are read in place of an If."""

    def __init__(self, choices: "Choices | None" = None):
        super().__init__()
        self.where = ""
        self.choices = choices
        self._place: tuple[str, ir.Location] | None = None

    def _location(self) -> ir.Location:
        if self._place is None or self._place[0] != self.where:
            self._place = self.where, ir.Location.name(self.where or "model", self.unknown, context=self.context)
        return self._place[1]

    def add_typed_input(self, name: str, type: TensorType) -> Tensor:
        """An argument of the function."""
        with self.context, self.unknown:
            value = self.block.add_argument(mlir_type(type), self.unknown)
        self.inputs.append((name, None, [_axis_name(size) for size in type.shape]))
        return Tensor._recorded(self.node(value, type))

    def takes(self, operands: Sequence, attributes: Mapping[str, Any]) -> bool:
        """Constants too, where an attribute gives the result so many elements that it is no constant to keep."""
        return super().takes(operands, attributes) or any(_elements(v) >= LARGE for v in attributes.values())

    def apply(self, op, operands, attributes):
        from ..recording import _plain_attribute

        nodes = [self._as_node(o) for o in operands]
        outputs = self.emit(op, nodes, {k: _plain_attribute(v) for k, v in attributes.items()})
        if outputs is None:
            return None
        return tuple(map(Tensor._recorded, outputs)) if isinstance(outputs, tuple) else Tensor._recorded(outputs)

    def refuse(self, what: str, advice: str):
        raise UnsupportedOpError(f"{what} cannot be recorded: {advice}")

    def read(self, tensor: Tensor, what: str):
        raise UnsupportedOpError(f"the value of a tensor of {tensor._node.type} must be known when the model is read")

    def example_size(self, size) -> int:
        return symbolic.evaluate(size, lambda symbol: 7)

    def read_size(self, what: str, answer, condition):
        raise UnsupportedOpError(f"the size {condition(True)[1]} must be known when the model is read: give the axis a fixed size")

    def require_size(self, kind: str, left, right, why: str) -> None:
        self.guard_size(kind, left, right, f"{why} (in {self.where})", "ShapeError")

    def assume(self, kind: str, name: str, text: str) -> None:
        self.assumptions.append({"kind": kind, "name": name, "text": text, "line": self.where})

    def size_of_tensor(self, x: Tensor) -> Dim:
        """A rank-0 integer tensor as a size; negative values count as 0."""
        from ...dialect.shapes import policy

        return self.to_size(self._as_node(x), policy().fresh("value"))


def _elements(attribute) -> int:
    """How many elements a shape, or what else gives sizes, asks for."""
    if not isinstance(attribute, (tuple, list)) or not all(isinstance(v, int) for v in attribute):
        return 0
    return math.prod(max(abs(v), 1) for v in attribute)


def _axis_name(size) -> str:
    if isinstance(size, int) or any(s.anonymous for s in size.symbols()):
        return ""
    return str(size)


def anonymous_axis(number: int, axis: int) -> Dim:
    """The size of an axis without a name, as the dialect calls it."""
    return Dim.symbol(f"?arg{number}_{axis}", anonymous=True)


class Choices:
    """Which branch is read of each If whose branches give values of different ranks, in the order in which they are met: at first
    the `then_branch`; `following` gives the next combination to try."""

    def __init__(self, taken: Sequence[bool] = ()):
        self.taken, self.met = list(taken), 0

    def next(self) -> bool:
        """The choice for the If that is met now."""
        if self.met == len(self.taken):
            self.taken.append(True)
        self.met += 1
        return self.taken[self.met - 1]

    def following(self) -> "Choices | None":
        """The combination that differs in the last choice that was not changed before; None when all were tried."""
        taken = list(self.taken)
        while taken and not taken[-1]:
            taken.pop()
        return Choices([*taken[:-1], False]) if taken else None


class NeedsConstant(UnsupportedOpError):
    """A value that decides about the structure of the graph is an input, or with `symbolic` a size of one. `inputs` names those inputs."""

    def __init__(self, message: str, inputs: frozenset, symbolic: bool = False):
        super().__init__(message)
        self.inputs, self.symbolic = inputs, symbolic


__all__ = ["Choices", "ModelRecorder", "NeedsConstant", "anonymous_axis", "OnemlirError"]
