"""`to_llvm`: from scf, memref, arith, math, vector to the LLVM dialect, with the wrapper that the runtime calls."""
from __future__ import annotations

from mlir import ir

from ..buffers.bufferize import run_unverified
from ..buffers.functions import entry_functions, walk
from ..kernels.standalone import carry_loop_annotations
from ..targets import host, Target
from .arguments import drop_unused_arguments
from .attributes import annotate, NoAlias
from .bfloat import bf16_as_words, integers_through_f32
from .bits import buffer_elements, widen_bits
from .copies import copies_to_loops
from .dispatch import dispatch
from .entry import add_entry, Signature, signature_of
from .extremes import native_extremes
from .failures import return_on_failure
from .float_state import add_float_state, architecture_of
from .outline import outline_parallel
from .support import add_support

# Named steps of upstream's; ours (outlining before, dispatch and the wrapper after) stand in `to_llvm`. What can work on a function by
# itself is nested in it: passes then stay with a function while it is in the cache.
PASSES = (
    ("loops", "func.func(lower-affine,expand-strided-metadata,lower-affine,cse,canonicalize,loop-invariant-code-motion,"
              "arith-expand{include-bf16=true},math-uplift-to-fma,convert-scf-to-cf,convert-vector-to-llvm,convert-math-to-llvm)"),
    ("memory", "convert-math-to-libm,finalize-memref-to-llvm"),
    ("scalars", "func.func(convert-arith-to-llvm,convert-index-to-llvm,convert-ub-to-llvm)"),
    ("functions", "convert-func-to-llvm,convert-cf-to-llvm,reconcile-unrealized-casts"),
    ("clean", "llvm.func(cse,canonicalize)"),
)  # fmt: skip


def to_llvm(module: ir.Module, target: Target | None = None) -> list[Signature]:
    """Lower in place, for a target (the host's unless given). Returns the signature of each entry function; `symbol` is its wrapper's."""
    with module.context, ir.Location.unknown():
        elements = buffer_elements(module)
        signatures = [signature_of(function) for function in entry_functions(module)]
        copies_to_loops(module)
        if "i1" in elements:
            widen_bits(module)
        if "bf16" in elements:
            integers_through_f32(module)
            run_unverified(module, "func.func(arith-expand{include-bf16=true})")  # before what would make one op of both again
        native_extremes(module)
        outline_parallel(module)
        merge_equal_bodies(module)
        no_alias = NoAlias(module)
        module.operation.verify()
        for _, passes in PASSES:
            run_unverified(module, passes)
        if "bf16" in elements:
            bf16_as_words(module)
        carry_loop_annotations(module.operation)
        kept = drop_unused_arguments(module, {s.name: s.context_position for s in signatures})
        no_alias.keep(kept)
        for signature in signatures:
            signature.kept = kept[signature.name]
        add_support(module)
        add_float_state(module, architecture_of(target or host()))
        dispatch(module, {s.name: s.kept.index(s.context_position) for s in signatures})
        return_on_failure(module, no_alias.kernels)
        rename_deallocation(module, no_alias.kernels)
        for signature in signatures:
            add_entry(module, signature)
        annotate(module, [s.symbol for s in signatures], no_alias, target or host())
        module.operation.verify()
        return signatures


def merge_equal_bodies(module: ir.Module) -> None:
    """Layers of the same shape have the same code: keep one function for equal loop bodies."""
    run_unverified(module, "duplicate-function-elimination,func.func(cse,canonicalize)")


def rename_deallocation(module: ir.Module, kernels: set[str]) -> None:
    """`memref.dealloc` was lowered to `free`; what it frees came from `om_alloc`. Kernels allocate nothing."""
    for function in module.body.operations:
        name = ir.StringAttr(function.attributes["sym_name"]).value
        if name.startswith("om_") and not name.startswith("om_body_") or name.startswith("onemlir_") or name in kernels:
            continue
        for call in walk(function.operation, "llvm.call"):
            if "callee" in call.attributes and ir.FlatSymbolRefAttr(call.attributes["callee"]).value == "free":
                call.attributes["callee"] = ir.FlatSymbolRefAttr.get("om_free")
