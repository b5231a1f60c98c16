"""What the names of an ONNX graph stand for while it is read: tensors, integers known as sizes, sequences, empty optionals."""
from __future__ import annotations

from typing import Callable

import numpy as np

from ...dialect import dtypes
from ...dialect.symbolic import Dim
from ..dispatch import apply
from ..ops.declared import declared as om
from ..tensor import Tensor
from ...dialect.declare import REGISTRY

FOLDED = 4096  # elements up to which a constant is computed with when the model is read
KNOWN = 1024  # elements up to which an integer constant is looked at as sizes


class Value:
    """A tensor. `content`: an array of ints and symbolic sizes, where those are known; `depends`: the graph's inputs that it follows from;
    `narrow`: the ONNX element type, where the dialect does not have it and the tensor holds its bits."""

    narrow: int | None = None

    def __init__(self, tensor: Tensor | None = None, content: np.ndarray | None = None, dtype: np.dtype = dtypes.int64, depends: frozenset = frozenset()):
        self._tensor, self._content, self._dtype, self.depends = tensor, content, dtype, depends

    @staticmethod
    def sizes(content, dtype=dtypes.int64) -> "Value":
        """Integers, of which some may be symbolic; a plain constant when none is."""
        content = np.array(content, dtype=object)
        if any(isinstance(item, Dim) for item in content.flat):
            return Value(None, content, np.dtype(dtype))
        return Value(Tensor._wrap(content.astype(dtype)))

    @property
    def dtype(self) -> np.dtype:
        return self._dtype if self._tensor is None else self._tensor.dtype

    @property
    def shape(self) -> tuple:
        """Ints and symbolic sizes."""
        if self._tensor is None:
            return self._content.shape
        return self._tensor._node.shape if self._tensor.is_recorded else self._tensor._array.shape

    @property
    def array(self) -> np.ndarray | None:
        """The data of a constant."""
        return None if self._tensor is None or self._tensor.is_recorded else self._tensor._array

    @property
    def content(self) -> np.ndarray | None:
        """Ints and symbolic sizes, of a constant too when it is small and holds integers."""
        if self._content is None and self.array is not None and self.array.size <= KNOWN and self.array.dtype.kind in "iub":
            self._content = self.array.astype(object)
        return self._content

    @property
    def is_symbolic(self) -> bool:
        """Whether some of the integers are sizes of the inputs."""
        return self._tensor is None

    @property
    def tensor(self) -> Tensor:
        """The tensor; sizes become values of the graph where it is asked for."""
        return _materialized(self._content, self._dtype) if self._tensor is None else self._tensor


class Sequence(Value):
    """A sequence whose length is known when the model is read."""

    def __init__(self, items: list[Value]):
        super().__init__(depends=frozenset().union(*(i.depends for i in items)) if items else frozenset())
        self.items = items


class Missing(Value):
    """An optional without an element."""


def _materialized(content: np.ndarray, dtype: np.dtype) -> Tensor:
    parts = [om.reshape(_scalar(item), shape=(1,)) for item in content.flat]
    joined = parts[0] if len(parts) == 1 else om.concat(parts, axis=0)
    joined = joined if content.ndim == 1 else om.reshape(joined, shape=content.shape)
    return joined if joined.dtype == dtype else om.cast(joined, dtype=dtype)


def _scalar(item) -> Tensor:
    if isinstance(item, Dim):
        return apply(REGISTRY["om.cast"], [_Size(item)], {"dtype": np.dtype(np.int64)})
    return Tensor._wrap(np.asarray(item, np.int64))


def _Size(item: Dim):
    from ..dispatch import current_recorder
    from ..symbolic_int import SymbolicInt

    return SymbolicInt(item, current_recorder())


def as_value(result, depends: frozenset = frozenset()) -> Value:
    """What a reader returned, as a value."""
    if isinstance(result, Value):
        result.depends = result.depends | depends
        return result
    if isinstance(result, list):
        return Sequence([as_value(item, depends) for item in result])
    return Value(result if isinstance(result, Tensor) else Tensor(result), depends=depends)


ContentFunction = Callable[..., np.ndarray]
