"""Tensor types with symbolic sizes, and the rules that ops of many families share: broadcasting, axes, windows.

What a rule cannot decide about symbolic sizes it states with `require_equal`; whoever runs the rule answers through `SizePolicy`.
"""
from __future__ import annotations

import itertools
import re
import threading
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Sequence

import numpy as np

from ..errors import ShapeError
from . import symbolic
from .dtypes import MLIR_NAMES
from .symbolic import Dim, Size


@dataclass(frozen=True)
class TensorType:
    """Shape (ints and symbolic sizes) and dtype of a tensor."""

    shape: tuple[Size, ...]
    dtype: np.dtype

    @property
    def rank(self) -> int:
        return len(self.shape)

    def with_shape(self, shape: Sequence[Size]) -> "TensorType":
        return TensorType(tuple(shape), self.dtype)

    def with_dtype(self, dtype) -> "TensorType":
        return TensorType(self.shape, np.dtype(dtype))

    def __str__(self) -> str:
        return f"{MLIR_NAMES[self.dtype]}[{', '.join(map(str, self.shape))}]"


FRESH = re.compile(r"(\?[a-z]+)(\d+)")  # the names that `SizePolicy.fresh` gives


class SizePolicy:
    """How the sizes that a shape rule cannot decide are treated. This one takes on trust what may hold."""

    _counter = itertools.count()

    def require_equal(self, left: Size, right: Size, why: str) -> None:
        if symbolic.equal(left, right) is False:
            raise ShapeError(why)

    def require(self, holds: bool | None, condition: tuple, why: str) -> None:
        """`holds` is True, False or None (undecided); `condition` is ("le", left, right) or the like."""
        if holds is False:
            raise ShapeError(why)

    def fresh(self, name: str) -> Dim:
        """A size that depends on data; its axis has a name that no input has."""
        return Dim.symbol(f"?{name}{next(self._counter)}", anonymous=True)


_current = threading.local()


def policy() -> SizePolicy:
    return getattr(_current, "policy", None) or _DEFAULT


_DEFAULT = SizePolicy()


@contextmanager
def size_policy(new: SizePolicy):
    """Run shape rules under another policy, in this thread."""
    before = getattr(_current, "policy", None)
    _current.policy = new
    try:
        yield new
    finally:
        _current.policy = before


def require_equal(left: Size, right: Size, why: str) -> None:
    if left != right:
        policy().require_equal(left, right, why)


def require_less_equal(left: Size, right: Size, why: str) -> None:
    holds = symbolic.less_equal(left, right)
    if holds is not True:
        policy().require(holds, ("le", left, right), why)


def show(shape: Sequence[Size]) -> str:
    return "(" + ", ".join(map(str, shape)) + ("," if len(shape) == 1 else "") + ")"


def broadcast_shapes(*shapes: Sequence[Size], what: str = "shapes") -> tuple[Size, ...]:
    """numpy's broadcasting. A symbolic size meets 1 or itself; meeting another size is stated as a requirement."""
    rank = max((len(s) for s in shapes), default=0)
    result: list[Size] = [1] * rank
    for shape in shapes:
        for i, size in enumerate(shape, rank - len(shape)):
            result[i] = _broadcast_size(result[i], size, what, shapes)
    return tuple(result)


def _broadcast_size(left: Size, right: Size, what: str, shapes) -> Size:
    if left == right or right == 1:
        return left
    if left == 1:
        return right
    why = f"{what} {' and '.join(show(s) for s in shapes)} do not broadcast: {left} against {right}"
    if isinstance(left, int) and isinstance(right, int):
        raise ShapeError(why)
    policy().require_equal(left, right, why)
    return symbolic.broadcast(left, right)


def normalize_axis(axis: int, rank: int, what: str = "axis") -> int:
    """A non-negative axis. Raises ShapeError when it is out of range."""
    if not -rank <= axis < rank:
        raise ShapeError(f"{what} {axis} is out of range for a tensor of rank {rank}")
    return axis % rank if rank else 0


def normalize_axes(axes, rank: int) -> tuple[int, ...]:
    """Sorted non-negative axes; None means all. Raises ShapeError for a repeated or missing axis."""
    if axes is None:
        return tuple(range(rank))
    axes = (axes,) if isinstance(axes, (int, np.integer)) else axes
    result = tuple(sorted(normalize_axis(int(a), rank) for a in axes))
    if len(set(result)) != len(result):
        raise ShapeError(f"axes {tuple(axes)} name an axis twice")
    return result


def window_output(size: Size, kernel: int, stride: int, low: Size, high: Size, dilation: int, ceil_mode: bool = False) -> Size:
    """Number of windows along an axis: floor((size + low + high - dilation*(kernel-1) - 1) / stride) + 1.

    With ceil_mode a last partial window counts when it starts inside the input or the low padding (torch, ONNX).
    """
    span = size + low + high - (dilation * (kernel - 1) + 1)
    if isinstance(span, int) and span < (1 - stride if ceil_mode else 0):
        raise ShapeError(f"a window of {kernel} (dilation {dilation}) does not fit into size {size} with padding {low} and {high}")
    if not isinstance(span, int):
        require_less_equal(0, span, f"a window of {kernel} (dilation {dilation}) needs size {size} with padding {low} and {high} to be at least {dilation * (kernel - 1) + 1}")
    if not ceil_mode:
        return span // stride + 1 if isinstance(span, int) else symbolic.floordiv(span, stride) + 1
    count = symbolic.floordiv(span + (stride - 1), stride) + 1
    limit = symbolic.floordiv(size + low + (stride - 1), stride)  # the last window starts before size + low
    return symbolic.minimum(count, limit)
