"""The pass `om-expand-math`: replaces the operations of the `math` dialect that no instruction computes.

    %1 = math.exp %0 : vector<8xf32>      becomes about 20 operations of `arith` and `math.fma`, no call, no branch.

f16 and bf16 are extended to f32 and the result is rounded. Operations with an instruction of their own (`math.sqrt`,
`math.floor`, `math.fma`, ...), tensors and other float types stay as they are. Fused multiply-add is taken for granted.
1 / (e**x + 1) is expanded as a whole (`sigmoid`), which takes fewer operations than its parts.
"""

from __future__ import annotations

from collections.abc import Collection

from mlir.dialects import arith
from mlir.ir import (
    Block,
    DenseElementsAttr,
    FloatAttr,
    InsertionPoint,
    IntegerAttr,
    Module,
    Operation,
    ShapedType,
    Value,
    VectorType,
    WalkResult,
)

from . import error_function, exponential, hyperbolic, inverse_trigonometric, logarithm, power, trigonometric
from .expansion import EXPANSIONS, compute_element, resized
from .expression import Expr, element_type, with_element

FAMILIES = (error_function, exponential, hyperbolic, inverse_trigonometric, logarithm, power, trigonometric)
# The stated errors in units in the last place: by name of the operation (or of a function without one), then by bits.
ULP = {name: expansion.ulp for name, expansion in sorted(EXPANSIONS.items())}


def expand_math(module: Module | Operation) -> None:
    """Replaces every such operation inside `module` in place; locations are kept."""
    for op in _found(module, {"arith.divf"}):
        _expand_sigmoid(op)
    for op in _found(module, EXPANSIONS.keys() | SPECIAL.keys()):
        with InsertionPoint(op), op.location:
            results = _expanded(op)
        if results is None:
            continue
        for old, new in zip(op.results, results):
            old.replace_all_uses_with(new)
        op.operation.erase()


def _found(module: Module | Operation, names: Collection[str]) -> list[Operation]:
    found: list[Operation] = []

    def collect(op: Operation) -> WalkResult:
        if op.name in names:
            found.append(op)
        return WalkResult.ADVANCE

    module.operation.walk(collect)
    return found


def _expand_sigmoid(division: Operation) -> None:
    """Replace 1 / (e**x + 1), and remove what nobody else uses of it."""
    added = _owner(division.operands[1], "arith.addf")
    if constant_value(division.operands[0]) != 1 or added is None or not exponential.sigmoid.supports(division.results[0].type):
        return
    for number, constant in ((0, 1), (1, 0)):
        exp = _owner(added.operands[number], "math.exp")
        if exp is None or constant_value(added.operands[constant]) != 1:
            continue
        with InsertionPoint(division), division.location:
            opposite = _owner(exp.operands[0], "arith.negf")
            x = arith.negf(exp.operands[0]) if opposite is None else opposite.operands[0]
            division.results[0].replace_all_uses_with(exponential.sigmoid(x))
        for op in (division, added, exp, opposite):
            if op is not None and not list(op.results[0].uses):
                op.erase()
        return


def _owner(value: Value, name: str) -> Operation | None:
    """The operation of that name that makes the value."""
    return None if isinstance(value.owner, Block) or value.owner.name != name else value.owner.operation


def _expanded(op: Operation) -> list[Value] | None:
    """The values that replace the results, or None where the operation stays."""
    if isinstance(op.results[0].type, ShapedType) and not isinstance(op.results[0].type, VectorType):
        return None
    if op.name in SPECIAL:
        return SPECIAL[op.name](op)
    expansion = EXPANSIONS[op.name]
    return [expansion(*op.operands)] if expansion.supports(op.results[0].type) else None


def _sincos(op: Operation) -> list[Value] | None:
    type_ = op.results[0].type
    if not trigonometric.sincos.supports(type_):
        return None
    x = Expr(resized(op.operands[0], with_element(type_, compute_element(type_, wide=False))))
    return [resized(result.value, type_) for result in trigonometric.sincos.on(x)]


def _powf(op: Operation) -> list[Value] | None:
    type_, exponent = op.results[0].type, constant_value(op.operands[1])
    if not power.powf.supports(type_):
        return None
    return _constant_power(op.operands[0], exponent) or [power.powf(*op.operands)]


def _fpowi(op: Operation) -> list[Value] | None:
    """The exponent as a float: exact for up to 53 bits."""
    type_, exponent = op.results[0].type, constant_value(op.operands[1])
    if not power.powf.supports(type_):
        return None
    simple = _constant_power(op.operands[0], exponent)
    if simple:
        return simple
    base = Expr(resized(op.operands[0], with_element(type_, compute_element(type_, wide=False))))
    result = power.power(base, Expr(op.operands[1]).converted(64))
    return [resized(result.value, type_)]


def _constant_power(base: Value, exponent: float | None) -> list[Value] | None:
    if exponent is None:
        return None
    compute = with_element(base.type, compute_element(base.type, wide=False))
    result = power.power_of_constant(Expr(resized(base, compute)), float(exponent))
    return None if result is None else [resized(result.value, base.type)]


def _ipowi(op: Operation) -> list[Value]:
    base, exponent = map(Expr, op.operands)
    width = element_type(base.type).width
    return [power.integer_power(base, exponent, width, constant_value(op.operands[1])).value]


def constant_value(value: Value) -> float | int | None:
    """The number that an `arith.constant` (one of its elements, if they are equal) holds."""
    owner = value.owner
    if isinstance(owner, Block) or owner.name != "arith.constant":
        return None
    attribute = owner.attributes["value"]
    if isinstance(attribute, DenseElementsAttr):
        attribute = attribute.get_splat_value() if attribute.is_splat else None
    return attribute.value if isinstance(attribute, (FloatAttr, IntegerAttr)) else None


SPECIAL = {"math.sincos": _sincos, "math.powf": _powf, "math.fpowi": _fpowi, "math.ipowi": _ipowi}
