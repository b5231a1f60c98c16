"""`om-native-extremes`: floating-point minimum and maximum become LLVM's intrinsics, whose reductions LLVM vectorizes.

    arith.maximumf %a, %b    ->    llvm.intr.maximum(%a, %b)        (a comparison and two selects, if left to upstream's expansion)
"""
from __future__ import annotations

from mlir import ir

from ..buffers.functions import walk

INTRINSICS = {"arith.maximumf": "llvm.intr.maximum", "arith.minimumf": "llvm.intr.minimum"}
NATIVE = ("f32", "f64")


def native_extremes(module: ir.Module) -> None:
    """Replace those on f32 and f64, scalars and vectors."""
    with module.context, ir.Location.unknown():
        for operation in walk(module.operation, *INTRINSICS):
            type = operation.results[0].type
            element = type.element_type if isinstance(type, ir.VectorType) else type
            if str(element) not in NATIVE:
                continue
            with ir.InsertionPoint(operation), operation.location:
                new = ir.Operation.create(INTRINSICS[operation.name], [type], list(operation.operands))
            operation.results[0].replace_all_uses_with(new.results[0])
            operation.erase()
