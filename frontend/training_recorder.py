"""The recorder of functions for training: what they find elsewhere and random numbers become inputs, changes of statistics outputs."""
from __future__ import annotations

from typing import Any, Callable, Mapping, Sequence

import numpy as np

from ..dialect.graph import Node
from . import random
from .recording import Recorder
from .tensor import Tensor


class TrainingRecorder(Recorder):
    """Records a function that is run again and again while what it found outside changes."""

    training = True

    def __init__(self):
        super().__init__("error")
        self.captured: list[Tensor] = []
        self.draws: list[Callable] = []
        self.order: list[str] = []  # of the further inputs: "captured" or "draw"
        self.written: dict[int, tuple[Tensor, Tensor]] = {}
        self._found: dict[int, Tensor] = {}

    def takes(self, operands: Sequence, attributes: Mapping[str, Any]) -> bool:
        """Also what is computed from tensors outside alone: they may be others at the next call."""
        return super().takes(operands, attributes) or any(map(_is_outside, _flat(operands)))

    def lift(self, tensor: Tensor) -> Node:
        """A tensor from outside as an input; one that was made in the recording as a constant."""
        if id(tensor) in self.written:
            return self._as_node(self.written[id(tensor)][1])
        if not _is_outside(tensor):
            return super().lift(tensor)
        found = self._found.get(id(tensor))
        if found is None:
            found = self._found[id(tensor)] = self._further("captured", tensor._array)
            self.captured.append(tensor)
        return found._node

    def drawn(self, make: Callable[[np.random.Generator], np.ndarray]) -> Tensor:
        """Random numbers as an input; the generator stays where it is while recording."""
        state = random.get_state()
        example = make(random.generator())
        random.set_state(state)
        self.draws.append(make)
        return self._further("draw", example)

    def write_back(self, tensor: Tensor, value: Tensor) -> None:
        """Give a tensor from outside this value after each call."""
        self.written[id(tensor)] = tensor, value

    def _further(self, kind: str, example: np.ndarray) -> Tensor:
        self.order.append(kind)
        return self.add_input(f"{kind}_{len(self.order)}", example, None)


def _flat(operands: Sequence):
    for value in operands:
        yield from value if isinstance(value, (tuple, list)) else (value,)


def _is_outside(value) -> bool:
    return isinstance(value, Tensor) and value._node is None and value._scope is None
