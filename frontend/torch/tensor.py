"""`RecordedTensor`: what stands for a torch tensor while a torch program is recorded. Views and in-place changes become pure ops.

Each storage holds the value of one tensor. A view knows how to read itself from the value of its base (`get`) and how to give the base a
new value when it is written (`put`); it reads itself again after the base has changed.
"""
from __future__ import annotations

import contextlib
import contextvars
from dataclasses import dataclass
from typing import Callable

import torch

from ...errors import TraceError, UnsupportedOpError
from ..dispatch import current_recorder
from ..locations import user_line
from ..tensor import Tensor
from .dtypes import to_torch_dtype


_DISPATCHING: contextvars.ContextVar = contextvars.ContextVar("recording that takes ATen ops", default=None)


@contextlib.contextmanager
def dispatching(recording):
    """ATen ops that C++ calls on recorded tensors go to the recording."""
    token = _DISPATCHING.set(recording)
    try:
        yield
    finally:
        _DISPATCHING.reset(token)


class Storage:
    """The value that views share, and how often it was changed."""

    __slots__ = ("value", "version", "owner")

    def __init__(self, value: Tensor, owner: str | None = None):
        self.value, self.version, self.owner = value, 0, owner


@dataclass
class View:
    """The result of a view op: its value, and `put(base value, new value)` that gives the changed base; None where elements share memory."""

    value: Tensor
    get: Callable[[Tensor], Tensor]
    put: Callable[[Tensor, Tensor], Tensor] | None


@dataclass
class Call:
    """A torch function with its arguments; `number` of the result, None where it is the only one."""

    function: Callable
    args: tuple
    kwargs: dict
    number: int | None


class Place:
    """What a tensor shows of a storage: all of it, or a view of what another place shows. A change of a tensor's shape in place gives it another.

    shares: where a view may be a copy (`reshape`, `contiguous`), what says whether it is a view; it is asked once something is written.
    """

    __slots__ = ("_cell", "base", "how", "shares", "_value", "_seen")

    def __init__(self, cell: Storage, value: Tensor, base: "Place | None" = None, how: View | None = None, shares: Callable[[], bool] | None = None):
        self._cell, self.base, self.how, self.shares, self._value, self._seen = cell, base, how, shares, value, cell.version

    @property
    def cell(self) -> Storage:
        """The storage that the place shows."""
        return self._cell if self.base is None else self.base.cell

    @property
    def value(self) -> Tensor:
        """The present value."""
        if self._seen != self.cell.version:
            self.settle()
            self._value = self._cell.value if self.base is None else self.how.get(self.base.value)
            self._seen = self.cell.version
        return self._value

    def settle(self) -> None:
        """Find out which of this place and those it is a view of are copies; a copy gets a storage of its own, with the value from before the change."""
        place = self
        while place.base is not None:
            if place.shares is not None:
                shares, place.shares = place.shares(), None
                if not shares:
                    place._cell = Storage(place._value)
                    place._cell.version = place._seen
                    place.base = place.how = None
                    return
            place = place.base

    def write(self, value: Tensor) -> None:
        """Give the storage the value that it has once this place shows `value`."""
        if self.base is None:
            self._cell.value = value
        elif self.how.put is None:
            raise TraceError(f"a change in place of a tensor whose elements may share memory (expand, unfold) cannot be recorded, at {user_line()}\n"
                             "  make it a copy with clone(), or write with an index")
        else:
            self.base.write(self.how.put(self.base.value, value))

    def written(self, value: Tensor) -> None:
        """Note that this place shows a new value, which it has written."""
        self.cell.version += 1
        self._value, self._seen = value, self.cell.version


class RecordedTensor(torch.Tensor):
    """A torch tensor without data. Every torch function of it is caught by the recording's function mode.

    _call: the torch function that made it, with its arguments; None for inputs and what is there before. _layout: see `layouts`.
    """

    _call: "Call | None" = None
    _layout: torch.Tensor | None = None
    __torch_function__ = torch._C._disabled_torch_function_impl

    @staticmethod
    def __new__(cls, value: Tensor, storage: Storage | None = None, place: Place | None = None):
        sizes = tuple(s if isinstance(s, int) else 1 for s in value.shape)
        self = torch.Tensor._make_wrapper_subclass(cls, sizes, dtype=to_torch_dtype(value.dtype))
        self._place = place or Place(storage or Storage(value), value)
        return self

    # What torch calls on the quotient of a size and a float.
    def __float_truediv__(self, other):
        return self / other

    def __rfloat_truediv__(self, other):
        return other / self

    @property
    def node(self):
        """What torch's arithmetic of sizes asks of a number that follows from a size."""
        from .sizes import NumberNode

        return NumberNode(value_of(self))

    @classmethod
    def __torch_dispatch__(cls, function, types, args=(), kwargs=None):
        return dispatched(function, args, kwargs or {})


def dispatched(function, args, kwargs):
    """The result of an ATen op that C++ calls on a recorded tensor."""
    recording = _DISPATCHING.get()
    if recording is not None:
        return recording.part(function, args, kwargs)
    if current_recorder() is not None:
        raise UnsupportedOpError(f"{function} is called from C++ on a recorded tensor, at {user_line()}\n"
                                 "  torch.vmap, torch.func's transforms and nested tensors cannot be recorded: write the batch axis out")
    raise TraceError(f"{function} got a recorded torch tensor outside of its recording, at {user_line()}\n"
                     "  return what the recording should give; do not keep tensors of it elsewhere")


def value_of(tensor: RecordedTensor) -> Tensor:
    """The present value of a recorded tensor."""
    return tensor._place.value


def viewed_place(place: Place, view: View) -> Place:
    """A place that shows a view of another."""
    return Place(place.cell, view.value, place, view)


def view_of(base: RecordedTensor, view: View) -> RecordedTensor:
    """A tensor that shares the storage of `base`."""
    return RecordedTensor(view.value, place=viewed_place(base._place, view))


def reshape_in_place(tensor: RecordedTensor, view: View) -> RecordedTensor:
    """The tensor itself, which shows from now on a view of what it showed. Its elements count as in order from then on."""
    refuse_owned(tensor._place.cell)
    tensor._place = viewed_place(tensor._place, view)
    tensor._call = tensor._layout = None
    return tensor


def as_it_is(tensor: RecordedTensor) -> RecordedTensor:
    """The tensor; where its shape was changed in place, another of the same place, whose sizes torch's own code sees as they are."""
    value = value_of(tensor)
    with torch._C.DisableTorchFunction():
        same = tuple(tensor.shape) == tuple(s if isinstance(s, int) else 1 for s in value.shape)
    return tensor if same else RecordedTensor(value, place=tensor._place)


def compacted(base: RecordedTensor, view: View, shares: Callable[[], bool]) -> RecordedTensor:
    """What ``contiguous()`` or ``reshape`` give: the same memory where they can, as `shares` says, a copy where they must."""
    return RecordedTensor(view.value, place=Place(base._place.cell, view.value, base._place, view, shares))


def write(tensor: RecordedTensor, value: Tensor) -> None:
    """Give a recorded tensor, and all that share its storage, a new value of the same shape and dtype."""
    place = tensor._place
    place.settle()
    refuse_owned(place.cell)
    place.write(value)
    place.written(value)


def refuse_owned(cell: Storage) -> None:
    """TraceError for a change of what belongs to the program outside the recording."""
    if cell.owner is not None:
        raise TraceError(f"a change in place of {cell.owner} cannot be recorded, at {user_line()}\n"
                         "  a recording has no state: return the new value as an output, or change a copy (x.clone())")
