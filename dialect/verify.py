"""The dialect's own verifier: dtype and shape rules of the declarations, reported at the op's location."""
from __future__ import annotations

from itertools import zip_longest

import numpy as np
from mlir import ir

from ..errors import OnemlirError, VerificationError
from .analysis import ShapeAnalysis
from .bindings import collect_diagnostics, Diagnostic, location_text
from .build import OpView, view
from .declare import REGISTRY
from .shapes import TensorType


def verify(module: ir.Module) -> list[Diagnostic]:
    """All violations of a module, first upstream's and IRDL's, then those of our declarations. Empty when it is valid."""
    found: list[Diagnostic] = []
    with module.context, collect_diagnostics(module.context, found):
        try:
            valid = module.operation.verify()
        except ir.MLIRError as error:
            valid = False
            found += [Diagnostic(location_text(d.location), d.message) for d in error.error_diagnostics]
    if not valid or found:
        return found or [Diagnostic("", "the module is invalid")]
    with module.context:
        for function in module.body.operations:
            if function.operation.name == "func.func" and _is_ours(function.operation):
                _verify_function(function.operation, found)
    return found


def _is_ours(function: ir.Operation) -> bool:
    """Whether a function holds an op of ours or says something of ours about its arguments; others may hold whatever upstream knows."""
    ours = "om." in str(function.attributes["arg_attrs"]) if "arg_attrs" in function.attributes else False

    def visit(operation: ir.Operation) -> ir.WalkResult:
        nonlocal ours
        ours = ours or operation.name in REGISTRY
        return ir.WalkResult.INTERRUPT if ours else ir.WalkResult.ADVANCE

    if len(function.regions[0].blocks):
        function.walk(visit, ir.WalkOrder.PRE_ORDER)
        return ours
    return False


def _verify_function(function: ir.Operation, found: list[Diagnostic]) -> None:
    problems = _argument_problems(function)
    found += problems
    if problems:
        return
    try:
        _Verifier(function, found)
    except OnemlirError as error:
        found.append(Diagnostic(location_text(function.location), f"'func.func' op {error}"))


def _argument_problems(function: ir.Operation) -> list[Diagnostic]:
    """What `om.name`, `om.dims` and the types of the arguments break."""
    given = list(function.attributes["arg_attrs"]) if "arg_attrs" in function.attributes else []
    found = []
    for number, (argument, attributes) in enumerate(zip_longest(function.regions[0].blocks[0].arguments, given)):
        problem = _argument_problem(argument.type, ir.DictAttr(attributes) if attributes is not None else {})
        if problem:
            found.append(Diagnostic(location_text(argument.location), f"'func.func' op argument {number}: {problem}"))
    return found


def _argument_problem(type: ir.Type, attributes) -> str:
    if "om.name" in attributes and not isinstance(attributes["om.name"], ir.StringAttr):
        return f"om.name must be a string, found {attributes['om.name']}"
    rank = type.rank if isinstance(type, ir.RankedTensorType) else 0
    if "om.ranges" in attributes and not (isinstance(attributes["om.ranges"], ir.DenseI64ArrayAttr) and len(attributes["om.ranges"]) == 3 * rank):
        return f"om.ranges must be an array<i64> of three numbers an axis, found {attributes['om.ranges']}"
    if "om.dims" not in attributes:
        return ""
    dims = attributes["om.dims"]
    if not isinstance(dims, ir.ArrayAttr) or not all(isinstance(name, ir.StringAttr) for name in dims):
        return f"om.dims must be an array of strings, found {dims}"
    return f"om.dims names {len(dims)} axes, but {type} has {rank}" if rank != len(dims) else ""


def check(module: ir.Module) -> None:
    """Raises VerificationError with all violations, one a line."""
    found = verify(module)
    if found:
        raise VerificationError("\n".join(map(str, found)))


class _Verifier(ShapeAnalysis):
    """The shape analysis, which on the way compares what is written with what the rules say."""

    def __init__(self, function, found: list[Diagnostic]):
        self.found = found
        super().__init__(function)

    def _operation(self, operation: ir.Operation) -> None:
        try:
            super()._operation(operation)
        except OnemlirError as error:
            self.found.append(Diagnostic(location_text(operation.location), f"'{operation.name}' op {error}"))

    def _declared(self, operation: ir.Operation) -> None:
        op = view(operation)
        if op is not None:
            self._check(op)
        super()._declared(operation)

    def _check(self, op: OpView) -> None:
        declaration = op.declaration
        _refuse_unknown_attributes(op)
        operands = self.operand_types(op)
        declaration.check_operands(operands)
        if declaration.typed_by_ir:
            return
        written = self.attributes_of(op)
        attributes = declaration.check_attributes(written, operands)
        for name, value in attributes.items():
            if not isinstance(value, np.ndarray) and repr(value) != repr(written[name]):
                raise VerificationError(f"attribute '{name}' must be written as {value!r}, found {written[name]!r}")
        inferred = declaration.result_types(operands, attributes)
        for spec, expected, value in zip(declaration.results, inferred, op.results):
            if not fits(expected, value.type):
                raise VerificationError(f"result '{spec.name}' must be {expected} but is written as {value.type}")


def _refuse_unknown_attributes(op: OpView) -> None:
    renamed = op.declaration.upstream_attributes
    known = {renamed.get(a.name, a.name) for a in op.declaration.attributes} | {"operandSegmentSizes"}
    for name in op.operation.attributes:
        key = name.name if hasattr(name, "name") else name
        if key not in known and "." not in key:
            raise VerificationError(f"has no attribute '{key}'; it has {', '.join(sorted(known - {'operandSegmentSizes'})) or 'none'}")


def fits(expected: TensorType, written: ir.Type) -> bool:
    """Whether a written tensor type agrees with an inferred one: equal dtype and rank, no two different fixed sizes."""
    from . import dtypes

    if not isinstance(written, ir.RankedTensorType):
        return False
    shaped = ir.RankedTensorType(written)
    if shaped.rank != expected.rank or str(shaped.element_type) != dtypes.MLIR_NAMES[expected.dtype]:
        return False
    return all(shaped.is_dynamic_dim(i) or not isinstance(size, int) or size == shaped.get_dim_size(i) for i, size in enumerate(expected.shape))
