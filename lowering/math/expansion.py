"""The table of expansions: which function replaces which operation, and how narrow types are widened.

`@expansion("math.exp", ulp={32: 1.0, 64: 1.0})` makes of a function on `Expr` an `Expansion`: called with MLIR values it
appends the code at the current insertion point and returns the result's value. Inside another expansion use `.on(expr)`.

f16 and bf16 are computed in f32 and rounded. With `wide=True` f32 is computed in f64: for functions whose f32 algorithm
would have to carry two words anyway.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from mlir.dialects import arith
from mlir.ir import F32Type, F64Type, FloatType, Type, Value

from .expression import Expr, element_type, with_element

EXPANSIONS: dict[str, Expansion] = {}


@dataclass
class Expansion:
    """A function on `Expr` with its stated error (in units in the last place, by number of bits)."""

    name: str
    on: Callable
    ulp: dict[int, float]
    wide: bool = False
    __doc__: str = field(default="", repr=False)

    def __call__(self, *operands: Value) -> Value:
        """The code for these operands, which are floats of one type (of 16, 32 or 64 bits) or vectors of them."""
        type_ = operands[0].type
        compute = with_element(type_, compute_element(type_, self.wide))
        constants: dict = {}
        result = self.on(*(Expr(resized(value, compute), constants) for value in operands))
        return resized(result.value, type_)

    def supports(self, type_: Type) -> bool:
        element = element_type(type_)
        return isinstance(element, FloatType) and element.width in (16, 32, 64)


def expansion(name: str, *, ulp: dict[int, float], wide: bool = False) -> Callable[[Callable], Expansion]:
    """Registers the decorated function as the expansion of the operation `name` (or, without a dot, of no operation)."""
    def register(function: Callable) -> Expansion:
        EXPANSIONS[name] = Expansion(name, function, ulp, wide, function.__doc__)
        return EXPANSIONS[name]
    return register


def compute_element(type_: Type, wide: bool) -> Type:
    """The element type in which an expansion computes."""
    width = element_type(type_).width
    return F64Type.get() if width == 64 or (wide and width == 32) else F32Type.get()


def resized(value: Value, type_: Type) -> Value:
    width, wanted = element_type(value.type).width, element_type(type_).width
    if width == wanted:
        return value
    return (arith.extf if width < wanted else arith.truncf)(type_, value)
