"""Kinds of attributes of an op: how a Python value is checked, and which MLIR attribute it is written as.

A kind knows nothing about MLIR's bindings; `encode` and `decode` are given the `ir` module by whoever writes or reads IR.
"""
from __future__ import annotations

import math
import types
import typing
from typing import Any, Sequence

import numpy as np

from ..errors import DTypeError, OnemlirError, ShapeError
from . import dtypes
from .shapes import TensorType, normalize_axes, normalize_axis
from .symbolic import Dim

LARGEST = 2**60  # elements of a tensor
DYNAMIC = -1  # stands in a printed shape for a size that is an operand


class AttributeKind:
    """A kind of attribute. `irdl` is the IRDL base it is constrained to, `annotation` what a signature shows, `written` its form in IR."""

    irdl = "#builtin.string"
    annotation: Any = str
    written = "a string"

    def check(self, value, name: str, operands: Sequence[TensorType]):
        """The canonical value, or an error that names the attribute and what was expected."""
        raise NotImplementedError

    def encode(self, value, ir):
        raise NotImplementedError

    def decode(self, attribute, ir):
        return attribute.value

    def refuse(self, value, name: str, expected: str):
        raise OnemlirError(f"'{name}' must be {expected}, found {value!r}")


class Int(AttributeKind):
    irdl, annotation, written = "#builtin.integer", int, "an integer, as in 1 : i64"

    def check(self, value, name, operands):
        if isinstance(value, (bool, float, str)) or not hasattr(value, "__index__"):
            self.refuse(value, name, "an int")
        return value.__index__()

    def encode(self, value, ir):
        return ir.IntegerAttr.get(ir.IntegerType.get_signless(64), value)

    def decode(self, attribute, ir):
        return ir.IntegerAttr(attribute).value


class Axis(Int):
    """An axis of the first operand; written non-negative."""

    def check(self, value, name, operands):
        return normalize_axis(super().check(value, name, operands), operands[0].rank, name)


class Float(AttributeKind):
    irdl, annotation, written = "#builtin.float", float, "a number, as in 1.0 : f64"

    def check(self, value, name, operands):
        if isinstance(value, (bool, str)) or not (hasattr(value, "__float__") or hasattr(value, "__index__")):
            self.refuse(value, name, "a number")
        return float(value)

    def encode(self, value, ir):
        return ir.FloatAttr.get(ir.F64Type.get(), value)

    def decode(self, attribute, ir):
        return ir.FloatAttr(attribute).value


class Bool(AttributeKind):
    irdl, annotation, written = "#builtin.integer", bool, "true or false"

    def check(self, value, name, operands):
        if not isinstance(value, (bool, np.bool_)) and value not in (0, 1):
            self.refuse(value, name, "True or False")
        return bool(value)

    def encode(self, value, ir):
        return ir.BoolAttr.get(value)

    def decode(self, attribute, ir):
        return bool(ir.IntegerAttr(attribute).value)


class Str(AttributeKind):
    def check(self, value, name, operands):
        if not isinstance(value, str):
            self.refuse(value, name, "a string")
        return value

    def encode(self, value, ir):
        return ir.StringAttr.get(value)

    def decode(self, attribute, ir):
        return ir.StringAttr(attribute).value


class Choice(Str):
    """One of a few words."""

    def __init__(self, *words: str):
        self.words = words

    def check(self, value, name, operands):
        if value not in self.words:
            self.refuse(value, name, "one of " + ", ".join(map(repr, self.words)))
        return value


class Ints(AttributeKind):
    irdl, annotation, written = "#builtin.dense_array", "tuple[int, ...]", "array<i64: ...>"

    def check(self, value, name, operands):
        if isinstance(value, str) or not hasattr(value, "__iter__"):
            self.refuse(value, name, "a sequence of ints")
        return tuple(Int().check(item, name, operands) for item in value)

    def encode(self, value, ir):
        return ir.DenseI64ArrayAttr.get(list(value))

    def decode(self, attribute, ir):
        return tuple(ir.DenseI64ArrayAttr(attribute))


class Floats(AttributeKind):
    irdl, annotation, written = "#builtin.dense_array", "tuple[float, ...]", "array<f64: ...>"

    def check(self, value, name, operands):
        if isinstance(value, str) or not hasattr(value, "__iter__"):
            self.refuse(value, name, "a sequence of numbers")
        return tuple(Float().check(item, name, operands) for item in value)

    def encode(self, value, ir):
        return ir.DenseF64ArrayAttr.get(list(value))

    def decode(self, attribute, ir):
        return tuple(ir.DenseF64ArrayAttr(attribute))


class Axes(Ints):
    """Axes of the first operand, None for all; written sorted and non-negative."""

    annotation = "int | tuple[int, ...] | None"

    def check(self, value, name, operands):
        return normalize_axes(value, operands[0].rank)


class Permutation(Ints):
    """An order of the axes of the first operand, None for the reverse."""

    annotation = "tuple[int, ...] | None"

    def check(self, value, name, operands):
        rank = operands[0].rank
        axes = tuple(reversed(range(rank))) if value is None else tuple(normalize_axis(int(a), rank, name) for a in value)
        if sorted(axes) != list(range(rank)):
            raise ShapeError(f"'{name}' must order each of the {rank} axes once, found {tuple(value)}")
        return axes


class Shape(AttributeKind):
    """Sizes, of which some may be symbolic: those are written as -1 and given as trailing `index` operands."""

    irdl, annotation, written = "#builtin.dense_array", "tuple[int, ...]", "array<i64: ...>"
    minimum: int | None = 0

    def check(self, value, name, operands):
        value = (value,) if hasattr(value, "__index__") or isinstance(value, Dim) else value
        if isinstance(value, str) or not hasattr(value, "__iter__"):
            self.refuse(value, name, "a sequence of sizes")
        sizes = tuple(self._size(item, name) for item in value)
        for size in sizes:
            if self.minimum is not None and isinstance(size, int) and size < self.minimum:
                raise ShapeError(f"'{name}' has the negative size {size}: {sizes}")
        if self.minimum == 0 and math.prod(s for s in sizes if isinstance(s, int)) > LARGEST:
            raise ShapeError(f"'{name}' {sizes} is larger than any memory")
        return sizes

    def _size(self, item, name):
        return item if isinstance(item, Dim) else Int().check(item, name, ())

    def encode(self, value, ir):
        return ir.DenseI64ArrayAttr.get([DYNAMIC if isinstance(size, Dim) else size for size in value])

    def decode(self, attribute, ir):
        return tuple(ir.DenseI64ArrayAttr(attribute))


class Offsets(Shape):
    """Like Shape, where negative constants are allowed; a constant -1 cannot be told from a size that is an operand, so the
    constants are written plus the marker's own range: a symbolic entry is the smallest 64-bit integer."""

    minimum = None
    marker = -(2**63)

    def encode(self, value, ir):
        return ir.DenseI64ArrayAttr.get([self.marker if isinstance(size, Dim) else size for size in value])


class DType(AttributeKind):
    irdl, annotation, written = "#builtin.type", "DTypeLike", f"one of {', '.join(dtypes.FROM_MLIR_NAME)}"

    def check(self, value, name, operands):
        return dtypes.dtype_of(value)

    def encode(self, value, ir):
        return ir.TypeAttr.get(ir.Type.parse(dtypes.MLIR_NAMES[value]))

    def decode(self, attribute, ir):
        return dtypes.FROM_MLIR_NAME[str(ir.TypeAttr(attribute).value)]


class Array(AttributeKind):
    """A small literal array."""

    irdl, annotation, written = None, "ArrayLike", "dense<...> : tensor<...>"

    def check(self, value, name, operands):
        array = np.asarray(value)
        if array.dtype.newbyteorder("=") not in dtypes.MLIR_NAMES:
            raise DTypeError(f"'{name}' has dtype {array.dtype}, which the dialect does not have")
        return np.ascontiguousarray(array, array.dtype.newbyteorder("=")).reshape(array.shape)

    def encode(self, value, ir):
        from .literals import dense_attribute

        return dense_attribute(value, ir)

    def decode(self, attribute, ir):
        from .literals import array_of

        return array_of(attribute, ir)


class Optional(AttributeKind):
    """A kind whose value may be None; None is written as `unit`."""

    irdl = None

    def __init__(self, kind: AttributeKind):
        self.kind = kind
        self.annotation = f"{getattr(kind.annotation, '__name__', kind.annotation)} | None"
        self.written = f"{kind.written}, or unit"

    def check(self, value, name, operands):
        return None if value is None else self.kind.check(value, name, operands)

    def encode(self, value, ir):
        return ir.UnitAttr.get() if value is None else self.kind.encode(value, ir)

    def decode(self, attribute, ir):
        return None if isinstance(attribute, ir.UnitAttr) else self.kind.decode(attribute, ir)


_PLAIN = {int: Int, float: Float, bool: Bool, str: Str}


def kind_of(annotation) -> AttributeKind:
    """The kind for what stands in ``Attr[...]``: a Python type, ``tuple[int, ...]``, ``X | None``, or a kind."""
    if isinstance(annotation, AttributeKind):
        return annotation
    if isinstance(annotation, type) and issubclass(annotation, AttributeKind):
        return annotation()
    if annotation in _PLAIN:
        return _PLAIN[annotation]()
    if typing.get_origin(annotation) is tuple:
        return Ints()
    if isinstance(annotation, types.UnionType) or typing.get_origin(annotation) is typing.Union:
        inner = [a for a in typing.get_args(annotation) if a is not type(None)]
        return Optional(kind_of(inner[0]))
    raise TypeError(f"no attribute kind for {annotation!r}")
