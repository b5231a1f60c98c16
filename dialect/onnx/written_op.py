"""An op as its writer sees it: operands as values of the ONNX graph, attributes by name, result types."""
from __future__ import annotations

from typing import Any, Mapping, Sequence

from ..declare import Op
from ..shapes import TensorType


class WrittenOp:
    """Operands and attributes are attributes of the object: ``op.x``, ``op.axis``. Operands that are left out are None.

    Sizes that are computed are values of shape (1,), others ints.
    """

    def __init__(self, declaration: type[Op], operands: Sequence, attributes: Mapping[str, Any], results: Sequence[TensorType]):
        self.declaration = declaration
        self.results = list(results)
        self.fields = {**declaration.named_operands(operands), **attributes}

    def __getattr__(self, name: str):
        try:
            return self.__dict__["fields"][name]
        except KeyError:
            raise AttributeError(f"{self.declaration.opname} has no '{name}'") from None

    @property
    def type(self) -> TensorType:
        """The type of the first result."""
        return self.results[0]

    @property
    def dtype(self):
        return self.results[0].dtype
