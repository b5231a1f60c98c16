"""Tensors become buffers: in place where that is allowed, and never in an input."""
from __future__ import annotations

from mlir import ir
from mlir.passmanager import PassManager

from .carried import carry_in_place, copies_of_carried
from .destinations import add_destinations
from .fills import separate_fills
from .functions import entry_functions, walk
from .outputs import separate_empties, write_to_outputs
from .returned import return_where_computed

CLEAN = ("func.func(resolve-shaped-type-result-dims)", "canonicalize", "cse")
BUFFERIZE = (
    "func.func(empty-tensor-to-alloc-tensor),one-shot-bufferize{bufferize-function-boundaries=true function-boundary-type-conversion=identity-layout-map "
    "unknown-type-conversion=identity-layout-map allow-return-allocs-from-loops=true buffer-alignment=64}"
)
AFTER = ("canonicalize", "cse", "func.func(resolve-shaped-type-result-dims)", "canonicalize", "cse")


def bufferize(module: ir.Module) -> None:
    """Rewrite all functions from tensors to memrefs in place; entry functions get destinations and a context.

    Contract before: tensors, and memrefs only inside the function and as the status argument. Contract after: no tensors.
    """
    with module.context, ir.Location.unknown():
        for function in entry_functions(module):
            add_destinations(function)
        run_passes(module, *CLEAN)
        separate_fills(module)
        separate_empties(module)
        for function in entry_functions(module):
            write_to_outputs(function)
            carry_in_place(function)
        run_passes(module, BUFFERIZE)
        copies_of_carried(module)
        drop_self_copies(module)
        run_passes(module, *AFTER)
        for function in entry_functions(module):
            return_where_computed(function)


def run_passes(module: ir.Module, *passes: str) -> None:
    """Run upstream passes; the module is verified first, as a pass that meets invalid IR ends the process."""
    module.operation.verify()
    run_unverified(module, ",".join(passes))


def run_unverified(module: ir.Module, passes: str) -> None:
    """Run upstream passes on a module that is known to be valid, without the verifier, which takes half of the time, after each."""
    with module.context:
        manager = PassManager.parse(f"builtin.module({passes})")
        manager.enable_verifier(False)
        manager.run(module.operation)


def drop_self_copies(module: ir.Module) -> None:
    """`memref.copy %a, %a` is left by an output that was computed in place."""
    for copy in walk(module.operation, "memref.copy"):
        if copy.operands[0] == copy.operands[1]:
            copy.erase()
