"""Arithmetic on MLIR values with Python's operators.

`Expr` wraps a scalar or vector value; `x * 2 + y` appends `arith` operations at the current insertion point with the
current location. A Python number becomes a constant of the other operand's type. What has a machine instruction of its
own (`math.fma`, `math.absf`, `math.floor`, ...) is a method. Everything is straight-line code: `select` instead of `if`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from mlir.dialects import arith, math
from mlir.ir import (
    BF16Type,
    DenseElementsAttr,
    F16Type,
    F32Type,
    F64Type,
    FloatAttr,
    IntegerAttr,
    IntegerType,
    Type,
    Value,
    VectorType,
)


@dataclass(frozen=True)
class Format:
    """An IEEE binary format: its width, the bits of its fraction and the bias of its exponent."""

    bits: int
    fraction: int
    bias: int

    @property
    def magic(self) -> float:
        """Adding it to |x| < 2**(fraction - 1) rounds x to an integer, which is then in the low bits of the sum."""
        return 1.5 * 2.0**self.fraction

    @property
    def exponent_mask(self) -> int:
        return ((1 << (self.bits - 1 - self.fraction)) - 1) << self.fraction

    @property
    def smallest_normal(self) -> float:
        return 2.0 ** (1 - self.bias)

    def power_of_two(self, exponent: int) -> int:
        """The bits of 2**exponent."""
        return (self.bias + exponent) << self.fraction


F32 = Format(bits=32, fraction=23, bias=127)
F64 = Format(bits=64, fraction=52, bias=1023)


def element_type(type_: Type) -> Type:
    return type_.element_type if isinstance(type_, VectorType) else type_


def with_element(type_: Type, element: Type) -> Type:
    """The type of the same shape with another element type."""
    if not isinstance(type_, VectorType):
        return element
    return VectorType.get(type_.shape, element, scalable=type_.scalable_dims if type_.scalable else None)


class Expr:
    """A floating-point, integer or boolean value; see the module's text."""

    __slots__ = ("value", "_constants")
    __hash__ = None

    def __init__(self, value: Value, constants: dict | None = None):
        self.value = value
        self._constants = {} if constants is None else constants

    @property
    def type(self) -> Type:
        return self.value.type

    @property
    def is_float(self) -> bool:
        return isinstance(element_type(self.type), (F16Type, BF16Type, F32Type, F64Type))

    @property
    def format(self) -> Format:
        return {32: F32, 64: F64}[element_type(self.type).width]

    def constant(self, number: float, like: Type | None = None) -> Expr:
        """The number as a constant of this value's type (or of `like`), made once per expansion."""
        type_ = self.type if like is None else like
        key = (str(type_), repr(number))
        if key not in self._constants:
            self._constants[key] = arith.constant(type_, _attribute(type_, number))
        return self._new(self._constants[key])

    def _new(self, value: Value) -> Expr:
        return Expr(value, self._constants)

    def _lift(self, other: Expr | float) -> Value:
        return other.value if isinstance(other, Expr) else self.constant(other).value

    def _binary(self, on_floats, on_integers, other) -> Expr:
        operation = on_floats if self.is_float else on_integers
        return self._new(operation(self.value, self._lift(other)))

    def __add__(self, other):
        return self._binary(arith.addf, arith.addi, other)

    def __sub__(self, other):
        return self._binary(arith.subf, arith.subi, other)

    def __mul__(self, other):
        return self._binary(arith.mulf, arith.muli, other)

    def __rsub__(self, other):
        return self.constant(other) - self

    def __truediv__(self, other):
        return self._binary(arith.divf, None, other)

    def __rtruediv__(self, other):
        return self.constant(other) / self

    __radd__ = __add__
    __rmul__ = __mul__

    def __neg__(self):
        return self._new(arith.negf(self.value)) if self.is_float else 0 - self

    # Bits and booleans (i1).

    def __and__(self, other):
        return self._new(arith.andi(self.value, self._lift(other)))

    def __or__(self, other):
        return self._new(arith.ori(self.value, self._lift(other)))

    def __xor__(self, other):
        return self._new(arith.xori(self.value, self._lift(other)))

    def __invert__(self):
        return self ^ -1

    def __lshift__(self, other):
        return self._new(arith.shli(self.value, self._lift(other)))

    def __rshift__(self, other):
        """The logical shift: AVX2 has no arithmetic one for 64 bits."""
        return self._new(arith.shrui(self.value, self._lift(other)))

    def divided_by(self, other):
        """Unsigned integer division."""
        return self._new(arith.divui(self.value, self._lift(other)))

    # Comparisons are false where an operand is NaN, except `!=`; integers compare as signed.

    def _compare(self, on_floats, on_integers, other) -> Expr:
        if self.is_float:
            return self._new(arith.cmpf(on_floats, self.value, self._lift(other)))
        return self._new(arith.cmpi(on_integers, self.value, self._lift(other)))

    def __lt__(self, other):
        return self._compare(arith.CmpFPredicate.OLT, arith.CmpIPredicate.slt, other)

    def __le__(self, other):
        return self._compare(arith.CmpFPredicate.OLE, arith.CmpIPredicate.sle, other)

    def __gt__(self, other):
        return self._compare(arith.CmpFPredicate.OGT, arith.CmpIPredicate.sgt, other)

    def __ge__(self, other):
        return self._compare(arith.CmpFPredicate.OGE, arith.CmpIPredicate.sge, other)

    def __eq__(self, other):
        return self._compare(arith.CmpFPredicate.OEQ, arith.CmpIPredicate.eq, other)

    def __ne__(self, other):
        return self._compare(arith.CmpFPredicate.UNE, arith.CmpIPredicate.ne, other)

    def is_nan(self):
        return self != self

    # Instructions of their own.

    def fma(self, factor, term):
        """self * factor + term with one rounding."""
        return self._new(math.fma(self.value, self._lift(factor), self._lift(term)))

    def __abs__(self):
        return self._new(math.absf(self.value))

    def floor(self):
        return self._new(math.floor(self.value))

    def round_even(self):
        return self._new(math.roundeven(self.value))

    def sqrt(self):
        return self._new(math.sqrt(self.value))

    def copysign(self, sign):
        return self._new(math.copysign(self.value, self._lift(sign)))

    # Changes of type.

    def as_bits(self) -> Expr:
        integer = IntegerType.get_signless(self.format.bits)
        return self._new(arith.bitcast(with_element(self.type, integer), self.value))

    def as_float(self) -> Expr:
        """The float with these bits."""
        return self._new(arith.bitcast(with_element(self.type, self._float_type(self.format.bits)), self.value))

    def converted(self, bits: int) -> Expr:
        """A float in the format of 32 or 64 bits; a signed integer as a float of that format."""
        type_ = with_element(self.type, self._float_type(bits))
        if not self.is_float:
            return self._new(arith.sitofp(type_, self.value))
        width = element_type(self.type).width
        if width == bits:
            return self
        return self._new((arith.extf if width < bits else arith.truncf)(type_, self.value))

    @staticmethod
    def _float_type(bits: int) -> Type:
        return F32Type.get() if bits == 32 else F64Type.get()


def _attribute(type_: Type, number: float):
    element = element_type(type_)
    scalar = IntegerAttr if isinstance(element, IntegerType) else FloatAttr
    attribute = scalar.get(element, number)
    return DenseElementsAttr.get_splat(type_, attribute) if isinstance(type_, VectorType) else attribute


def select(condition: Expr, yes: Expr | float, no: Expr | float) -> Expr:
    """`yes` where the condition holds, else `no`; at least one of them is an expression."""
    like = yes if isinstance(yes, Expr) else no
    return like._new(arith.select(condition.value, like._lift(yes), like._lift(no)))


def choose(condition: Expr, yes: float, no: float, like: Expr) -> Expr:
    """`select` between two numbers of the type of `like`."""
    return select(condition, like.constant(yes), no)


def at_most(x: Expr, bound: Expr | float) -> Expr:
    """The smaller one; x where x is NaN. One instruction on x86."""
    return select(x > bound, bound, x)


def at_least(x: Expr, bound: Expr | float) -> Expr:
    """The larger one; x where x is NaN."""
    return select(x < bound, bound, x)


def polynomial(x: Expr, coefficients: Sequence[float]) -> Expr:
    """Horner's rule with fused multiply-adds; the lowest coefficient comes first."""
    result = x.constant(coefficients[-1])
    for coefficient in reversed(coefficients[:-1]):
        result = result.fma(x, coefficient)
    return result


def rounded_product(x: Expr, y: Expr | float) -> tuple[Expr, Expr]:
    """x * y as the rounded product and its exact error."""
    product = x * y
    return product, x.fma(y, -product)
