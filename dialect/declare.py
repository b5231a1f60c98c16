"""How an op is declared: one class whose annotated fields are its operands, attributes and results.

    class Softmax(Op):
        '''Softmax along one axis: exp(x - max(x)) / sum(exp(x - max(x))).'''

        x: Operand[Floating]
        axis: Attr[Axis] = -1
        y: Result["x"]

        def reference(x, axis):
            ...

From the class derive IRDL, IR builders and readers, the verifier, the eager function, stubs and reference pages. `infer` and
`reference` are called with the fields as keywords; both are static.

* `infer(**operand_types, **attributes)` gives the result's `TensorType`, or a tuple of them. Not needed where every result names
  the operand whose type it has. Runs on symbolic sizes (see `shapes`).
* `reference(**arrays, **attributes)` computes with numpy: the meaning of the op and its eager value.
* `canonical(attributes, operand_types)` may complete attributes before checking (for instance ``None`` for all axes).
* `verify(**operand_types, **attributes)` raises for what the field constraints cannot say.
"""
from __future__ import annotations

import functools
import inspect
import re
from dataclasses import dataclass
from typing import Any, Callable, Mapping, Sequence

import numpy as np

from ..errors import DTypeError, OnemlirError, VerificationError
from . import dtypes
from .attributes import AttributeKind, kind_of, Offsets, Optional, Shape
from .shapes import TensorType, broadcast_shapes
from .symbolic import Dim


@dataclass(frozen=True)
class DTypes:
    """A set of dtypes that an operand may have."""

    name: str
    members: tuple

    def __contains__(self, dtype) -> bool:
        return dtype in self.members


AnyDType = DTypes("any dtype", dtypes.ALL)
Numeric = DTypes("a numeric dtype", dtypes.NUMERIC)
Floating = DTypes("a floating dtype", dtypes.FLOATING)
Quotient = DTypes("a floating dtype or, of integers, f64", dtypes.FLOATING)  # how numpy divides; other functions of small integers are f16 or f32
Integer = DTypes("an integer dtype", dtypes.INTEGER)
IntegerOrBool = DTypes("an integer dtype or bool", dtypes.INTEGER + (dtypes.bool_,))
Boolean = DTypes("bool", (dtypes.bool_,))
Index = DTypes("i32 or i64", (dtypes.int32, dtypes.int64))
Signed = DTypes("a signed numeric dtype", dtypes.SIGNED + dtypes.FLOATING)


class _Field:
    """Base of the markers that stand in annotations; ``Marker[...]`` makes one with parameters."""

    def __init__(self, *parameters):
        self.parameters = parameters

    def __class_getitem__(cls, parameters):
        return cls(*(parameters if isinstance(parameters, tuple) else (parameters,)))


class Operand(_Field):
    """A tensor: ``Operand[Floating]``, or ``Operand[Numeric, "T"]`` where all operands marked T share, and promote to, one dtype."""


class OptionalOperand(Operand):
    """An operand that may be left out (None)."""


class Operands(Operand):
    """Any number of tensors of one dtype; the last operand field."""


class Attr(_Field):
    """An attribute: ``Attr[int]``, ``Attr[tuple[int, ...]]``, ``Attr[float | None]``, or a kind of `attributes`."""


class Result(_Field):
    """A result: ``Result["x"]`` has the type of operand x; plain ``Result`` is given by `infer`."""


@dataclass(frozen=True)
class OperandSpec:
    name: str
    dtypes: DTypes
    variable: str | None
    optional: bool
    variadic: bool


@dataclass(frozen=True)
class AttributeSpec:
    name: str
    kind: AttributeKind
    default: Any = inspect.Parameter.empty


@dataclass(frozen=True)
class ResultSpec:
    name: str
    like: str | None


class Trait:
    """A fact about an op that passes may rely on."""

    def __init__(self, name: str, doc: str):
        self.name, self.__doc__ = name, doc

    def __repr__(self) -> str:
        return self.name


Pure = Trait("Pure", "No effect but its results: may be removed, merged, moved.")
Elementwise = Trait("Elementwise", "Each element of the result depends on the elements at the same (broadcast) place alone.")
Commutative = Trait("Commutative", "The two operands may be swapped.")
Composite = Trait("Composite", "Defined by a decomposition into other ops; kept whole for exporters.")

REGISTRY: dict[str, type["Op"]] = {}


class Op:
    """Base of all declarations; see the module's documentation."""

    namespace = "om"
    traits: tuple[Trait, ...] = (Pure,)
    operands: tuple[OperandSpec, ...] = ()
    attributes: tuple[AttributeSpec, ...] = ()
    results: tuple[ResultSpec, ...] = ()
    abstract = True
    public = True  # whether onemlir.ops has a function for it
    opname = ""
    typed_by_ir = False  # the result's type is what is written, there is no rule for it
    result_base: str | None = None  # "index" where the result is a size
    index_operands: tuple[str, ...] = ()  # operands that are sizes and no attribute's
    upstream: str | None = None  # the op of another dialect that stands for this one in IR
    upstream_attributes: Mapping[str, str] = {}

    def __init_subclass__(cls, abstract: bool = False, public: bool = True, **_):
        cls.abstract, cls.public = abstract, public
        for hook in ("infer", "reference", "verify", "canonical"):
            function = cls.__dict__.get(hook)
            if inspect.isfunction(function):
                setattr(cls, hook, staticmethod(function))
        reference = getattr(cls.__dict__.get("reference"), "__func__", None)
        if isinstance(getattr(reference, "__wrapped__", reference), np.ufunc):
            cls.reference = staticmethod(_by_position(reference))
        _collect_fields(cls)
        cls.opname = cls.__dict__.get("opname") or re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", cls.__name__).lower()
        if not abstract:
            if REGISTRY.get(cls.qualified_name(), cls).__module__ != cls.__module__:
                raise OnemlirError(f"the op {cls.qualified_name()} is declared twice")
            REGISTRY[cls.qualified_name()] = cls

    @classmethod
    def qualified_name(cls) -> str:
        """The op's name in IR, such as ``om.softmax``."""
        return f"{cls.namespace}.{cls.opname}"

    @classmethod
    @functools.cache
    def has_sizes(cls) -> bool:
        """Whether symbolic entries of attributes are given as trailing `index` operands."""
        return any(isinstance(_plain_kind(a.kind), Shape) for a in cls.attributes)

    # Hooks with a default.
    @staticmethod
    def canonical(attributes: dict, operands: Sequence[TensorType | None]) -> dict:
        return attributes

    @staticmethod
    def verify(**_):
        return None

    infer = None
    reference = None

    @classmethod
    def result_types(cls, operands: Sequence[TensorType | None], attributes: Mapping[str, Any]) -> tuple[TensorType, ...]:
        """Types of the results, by `infer` or by the operands that the results name. Runs `verify` first."""
        named = cls.named_operands(operands)
        cls.verify(**named, **attributes)
        if cls.infer is not None:
            found = cls.infer(**named, **attributes)
            return found if isinstance(found, tuple) else (found,)
        return tuple(named[r.like] for r in cls.results)

    @classmethod
    def named_operands(cls, operands: Sequence) -> dict:
        if cls.operands and cls.operands[-1].variadic:
            fixed = len(cls.operands) - 1
            return {**{s.name: o for s, o in zip(cls.operands, operands[:fixed])}, cls.operands[-1].name: tuple(operands[fixed:])}
        return {s.name: o for s, o in zip(cls.operands, operands)}

    @classmethod
    def check_attributes(cls, given: Mapping[str, Any], operands: Sequence[TensorType | None]) -> dict[str, Any]:
        """Attributes completed with defaults and checked. Raises for unknown, missing or wrong ones."""
        known = {a.name for a in cls.attributes}
        for name in given:
            if name not in known:
                raise OnemlirError(f"{cls.opname} has no attribute '{name}'; it has {', '.join(sorted(known)) or 'none'}")
        values = {a.name: given.get(a.name, a.default) for a in cls.attributes}
        for name, value in values.items():
            if value is inspect.Parameter.empty:
                raise OnemlirError(f"{cls.opname} needs '{name}'")
        values = cls.canonical(values, operands)
        return {a.name: a.kind.check(values[a.name], a.name, operands) for a in cls.attributes}

    @classmethod
    def check_operands(cls, operands: Sequence[TensorType | None]) -> None:
        """Dtype constraints of the operands. Raises DTypeError naming the operand."""
        variables: dict[str, tuple[str, np.dtype]] = {}
        for spec, operand in cls.operand_specs(operands):
            if operand is None:
                if not spec.optional:
                    raise OnemlirError(f"{cls.opname} needs operand '{spec.name}'")
                continue
            if operand.dtype not in spec.dtypes:
                raise DTypeError(f"{cls.opname}: '{spec.name}' must have {spec.dtypes.name}, found {operand.dtype}")
            if spec.variable:
                first = variables.setdefault(spec.variable, (spec.name, operand.dtype))
                if first[1] != operand.dtype:
                    raise DTypeError(f"{cls.opname}: '{spec.name}' is {operand.dtype} but '{first[0]}' is {first[1]}")

    @classmethod
    def operand_specs(cls, operands: Sequence):
        """Pairs of specification and operand, the last specification repeated when it is variadic."""
        specs = list(cls.operands)
        if specs and specs[-1].variadic:
            specs += [specs[-1]] * (len(operands) - len(specs))
        return zip(specs, operands)


def _by_position(function: Callable) -> Callable:
    """A reference that is one of numpy's ufuncs, which take no keywords, called with the fields as keywords."""
    return lambda *args, **fields: function(*args, *fields.values())


def _plain_kind(kind: AttributeKind) -> AttributeKind:
    return kind.kind if isinstance(kind, Optional) else kind


def _collect_fields(cls: type[Op]) -> None:
    operands, attributes, results = list(cls.operands), list(cls.attributes), list(cls.results)
    for name, marker in inspect.get_annotations(cls, eval_str=True).items():
        marker = marker() if isinstance(marker, type) and issubclass(marker, _Field) else marker
        if isinstance(marker, Operand):
            allowed = marker.parameters[0] if marker.parameters else AnyDType
            variable = marker.parameters[1] if len(marker.parameters) > 1 else None
            _put(operands, OperandSpec(name, allowed, variable, isinstance(marker, OptionalOperand), isinstance(marker, Operands)))
        elif isinstance(marker, Attr):
            default = cls.__dict__.get(name, inspect.Parameter.empty)
            _put(attributes, AttributeSpec(name, kind_of(marker.parameters[0]), default))
        elif isinstance(marker, Result):
            _put(results, ResultSpec(name, marker.parameters[0] if marker.parameters else None))
    for spec in attributes:
        if spec.default is inspect.Parameter.empty and spec.name in cls.__dict__:
            _put(attributes, AttributeSpec(spec.name, spec.kind, cls.__dict__[spec.name]))
    cls.operands, cls.attributes, cls.results = tuple(operands), tuple(attributes), tuple(results)


def _put(specs: list, spec) -> None:
    """Add a field, or replace the one that a base class declared under this name."""
    for i, old in enumerate(specs):
        if old.name == spec.name:
            specs[i] = spec
            return
    specs.append(spec)


class ElementwiseOp(Op, abstract=True):
    """Base of ops that work element by element on operands which broadcast together. `result_dtype` None: the operands' dtype."""

    traits = (Pure, Elementwise)
    result_dtype: np.dtype | None = None

    @classmethod
    def infer(cls, **fields):
        types = [fields[s.name] for s in cls.operands if fields[s.name] is not None]
        shape = broadcast_shapes(*(t.shape for t in types), what=f"{cls.opname}: shapes")
        return TensorType(shape, cls.result_dtype or types[-1].dtype)


class UnaryOp(ElementwiseOp, abstract=True):
    """One operand, a result of the same type."""

    x: Operand[Numeric]
    result: Result


class FloatUnaryOp(ElementwiseOp, abstract=True):
    """One floating operand; integers are converted to the dtype numpy would use."""

    x: Operand[Floating]
    result: Result


class BinaryOp(ElementwiseOp, abstract=True):
    """Two operands that promote to one dtype and broadcast."""

    x: Operand[Numeric, "T"]
    y: Operand[Numeric, "T"]
    result: Result


def dynamic_sizes(op: type[Op], attributes: Mapping[str, Any]) -> list[Dim]:
    """The symbolic entries of an op's attributes, in the order of its trailing `index` operands."""
    return [size for spec in op.attributes if isinstance(_plain_kind(spec.kind), Shape) and attributes[spec.name] is not None
            for size in attributes[spec.name] if isinstance(size, Dim)]


def with_sizes(op: type[Op], attributes: dict[str, Any], sizes: Sequence) -> dict[str, Any]:
    """Attributes as read from IR, their markers replaced by `sizes` in order. VerificationError where there are more of one than of the other."""
    rest, wanted = list(sizes), 0
    for spec in op.attributes:
        kind = _plain_kind(spec.kind)
        if isinstance(kind, Shape) and attributes[spec.name] is not None:
            marker = kind.marker if isinstance(kind, Offsets) else -1
            wanted += attributes[spec.name].count(marker)
            attributes[spec.name] = tuple(rest.pop(0) if size == marker and rest else size for size in attributes[spec.name])
    if wanted != len(sizes) and not op.index_operands:
        raise VerificationError(f"its attributes name {wanted} sizes that are operands, but it has {len(sizes)} index operands")
    return attributes
