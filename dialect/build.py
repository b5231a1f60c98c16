"""Making ops of the dialect in IR from declarations, and reading them back."""
from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import Any, Mapping, Sequence

from mlir import ir

from ..errors import VerificationError
from . import dtypes, ops  # noqa: F401  `ops` fills the registry, of which UPSTREAM is made
from .attributes import AttributeKind
from .declare import Op, REGISTRY
from .shapes import TensorType


def mlir_type(tensor: TensorType) -> ir.Type:
    """The builtin tensor type: symbolic sizes become ``?``. Needs a context."""
    shape = "".join(f"{size if isinstance(size, int) else '?'}x" for size in tensor.shape)
    return ir.Type.parse(f"tensor<{shape}{dtypes.MLIR_NAMES[tensor.dtype]}>")


@functools.cache
def variable_groups(op: type[Op]) -> int:
    """How many operand groups have no fixed length."""
    return sum(s.optional or s.variadic for s in op.operands) + op.has_sizes()


def create(
    op: type[Op],
    operands: Sequence[ir.Value | None],
    attributes: Mapping[str, Any],
    results: Sequence[ir.Type],
    sizes: Sequence[ir.Value] = (),
    location: ir.Location | None = None,
) -> ir.Operation:
    """An op at the current insertion point. `attributes` are checked values; `sizes` the index operands of symbolic entries."""
    renamed = op.upstream_attributes
    encoded = {renamed.get(s.name, s.name): s.kind.encode(attributes[s.name], ir) for s in op.attributes}
    values = [v for v in operands if v is not None] + list(sizes)
    if variable_groups(op) > 1:
        encoded["operandSegmentSizes"] = ir.DenseI32ArrayAttr.get(_segments(op, operands, sizes))
    name = op.upstream or op.qualified_name()
    return ir.Operation.create(name, results=list(results), operands=values, attributes=encoded, loc=location)


def _segments(op: type[Op], operands: Sequence, sizes: Sequence) -> list[int]:
    segments = [int(operands[i] is not None) if not s.variadic else len(operands) - i for i, s in enumerate(op.operands)]
    return segments + ([len(sizes)] if op.has_sizes() else [])


@dataclass
class OpView:
    """An op in IR seen through its declaration. Symbolic entries of attributes are still markers; `sizes` holds their operands."""

    operation: ir.Operation
    declaration: type[Op]
    operands: list[ir.Value | None]
    sizes: list[ir.Value]
    attributes: dict[str, Any]

    @property
    def results(self) -> list[ir.Value]:
        return list(self.operation.results)

    @property
    def location(self) -> ir.Location:
        return self.operation.location

    def operand(self, name: str) -> ir.Value | None:
        """The operand of this name."""
        return self.operands[[s.name for s in self.declaration.operands].index(name)]


def declaration_of(operation: ir.Operation) -> type[Op] | None:
    """The declaration of an op by its name, or None for ops of other dialects."""
    return REGISTRY.get(operation.name) or UPSTREAM.get(operation.name)


UPSTREAM = {op.upstream: op for op in REGISTRY.values() if op.upstream}


def view(operation) -> OpView | None:
    """An op seen through its declaration, or None for ops of other dialects."""
    operation = operation.operation
    op = declaration_of(operation)
    if op is None:
        return None
    operands, sizes = _split_operands(op, operation)
    renamed = op.upstream_attributes
    attributes = {s.name: _decoded(operation, renamed.get(s.name, s.name), s.kind) for s in op.attributes}
    return OpView(operation, op, operands, sizes, attributes)


def _decoded(operation: ir.Operation, name: str, kind: AttributeKind):
    """The Python value of an attribute. VerificationError where it is written in another form than its kind's."""
    try:
        return kind.decode(operation.attributes[name], ir)
    except (KeyError, TypeError, ValueError):
        raise VerificationError(f"attribute '{name}' must be {kind.written}") from None


def _split_operands(op: type[Op], operation: ir.Operation) -> tuple[list, list]:
    values = list(operation.operands)
    groups = len(op.operands) + op.has_sizes()
    if variable_groups(op) > 1:
        segments = list(ir.DenseI32ArrayAttr(operation.attributes["operandSegmentSizes"]))
    else:
        fixed = groups - variable_groups(op)
        lengths = [None if s.optional or s.variadic else 1 for s in op.operands] + ([None] if op.has_sizes() else [])
        segments = [len(values) - fixed if n is None else n for n in lengths]
    operands: list[ir.Value | None] = []
    for spec, count in zip(op.operands, segments):
        group, values = values[:count], values[count:]
        operands += group if spec.variadic else [group[0] if group else None]
    return operands, values
