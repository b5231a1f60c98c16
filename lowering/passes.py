"""The built-in passes by name: documentation, options, what each accepts. The work is done in the folders `om`, `linalg`, `buffers`, `loops`,
`math` and `llvm`, which are imported when a pass runs."""
from __future__ import annotations

from mlir import ir

from .contracts import entry_roles, no_buffers, no_om_ops, no_tensors, recorded_entry
from .registry import register_pass


@register_pass("om-simplify", builtin=True)
def om_simplify(module: ir.Module) -> None:
    """Remove ops that do nothing or undo each other, and apply the rewrite patterns of extensions."""
    from .om import quantized_moves, simplify  # noqa: F401  register the patterns
    from .om.patterns import apply_patterns

    apply_patterns(module)


@register_pass("om-fold", builtin=True)
def om_fold(module: ir.Module, max_elements: int = 1024) -> None:
    """Compute ops on literals alone, where the result is small."""
    from .om.fold import fold_constants

    fold_constants(module, max_elements)


@register_pass("om-cse", builtin=True)
def om_cse(module: ir.Module) -> None:
    """Keep one of equal pure ops."""
    from .om.cse import merge_equal

    merge_equal(module)


@register_pass("om-sink-transposes", builtin=True)
def om_sink_transposes(module: ir.Module) -> None:
    """Compute products of transposed rows in the order in which the rows lie, and transpose afterwards."""
    from .om.sink import sink_transposes

    sink_transposes(module)


@register_pass("om-multiply-quantized", builtin=True)
def om_multiply_quantized(module: ir.Module) -> None:
    """Multiply the integers of quantized tensors by those of weights and filters, where the processor has products of bytes."""
    from .om.quantized_products import multiply_quantized

    multiply_quantized(module)


@register_pass("om-keep-quantized-weights", builtin=True)
def om_keep_quantized_weights(module: ir.Module) -> None:
    """Multiply by the integers of large dequantized weights and take rows of integers of tables, which then stay integers when the model runs."""
    from .om.quantized_weights import keep_quantized_weights

    keep_quantized_weights(module)


@register_pass("om-split-batch", builtin=True)
def om_split_batch(module: ir.Module, cache: int = 4 << 20) -> None:
    """Compute layers of images whose batch does not fit the cache (in bytes) one sample after the other."""
    from .om.split_batch import split_batch

    split_batch(module, cache)


@register_pass("om-dce", builtin=True)
def om_dce(module: ir.Module) -> None:
    """Remove pure ops whose results nobody uses."""
    from .om.dce import remove_dead

    remove_dead(module)


@register_pass("om-decompose", builtin=True)
def om_decompose(module: ir.Module) -> None:
    """Replace composite ops by ops that have a lowering."""
    from .linalg import LOWERINGS
    from .om.decompose import decompose
    from .om.effects import functions

    for function in functions(module):
        decompose(function, keep=LOWERINGS)


@register_pass("om-to-linalg", requires=(recorded_entry,), builtin=True)
def om_to_linalg(module: ir.Module) -> None:
    """Convert the entry function to linalg on tensors."""
    from .linalg.convert import to_linalg

    om_decompose(module)
    to_linalg(module)


@register_pass("om-propagate-layouts", requires=(no_om_ops, no_buffers), builtin=True)
def om_propagate_layouts(module: ir.Module) -> None:
    """Move transpositions between layouts to where they vanish."""
    from .linalg import propagate_slices  # noqa: F401  registers its rules
    from .linalg.propagate_layouts import propagate_layouts

    propagate_layouts(module)


@register_pass("om-fuse-elementwise", requires=(no_om_ops, no_buffers), builtin=True)
def om_fuse_elementwise(module: ir.Module) -> None:
    """Move elementwise producers into their one consumer."""
    from .linalg.fuse import fuse_elementwise

    fuse_elementwise(module)


@register_pass("om-attach-epilogues", requires=(no_om_ops, no_buffers), builtin=True)
def om_attach_epilogues(module: ir.Module) -> None:
    """Let elementwise ops update the result of the matrix product or convolution before them in place."""
    from .linalg.epilogues import attach_epilogues

    attach_epilogues(module)


@register_pass("om-split-prepare", requires=(no_om_ops, no_buffers, entry_roles), builtin=True)
def om_split_prepare(module: ir.Module) -> None:
    """Move what depends on weights alone to @prepare, which runs once."""
    from .linalg.prepare import split_prepare

    split_prepare(module)


@register_pass("om-bufferize", requires=(no_om_ops,), builtin=True)
def om_bufferize(module: ir.Module) -> None:
    """Tensors become buffers; results are written into destination arguments."""
    from .buffers import bufferize

    bufferize(module)


@register_pass("om-fuse-rows", requires=(no_om_ops, no_tensors), builtin=True)
def om_fuse_rows(module: ir.Module) -> None:
    """Join neighbours that work on the same rows, as of softmax and normalization, in one loop over the rows."""
    from .buffers.rows import fuse_rows

    fuse_rows(module)


@register_pass("om-plan-memory", requires=(no_om_ops, no_tensors), builtin=True)
def om_plan_memory(module: ir.Module) -> None:
    """Place allocations in one arena by lifetime."""
    from .buffers import plan_memory

    plan_memory(module)


@register_pass("om-linalg-to-loops", requires=(no_om_ops, no_tensors), builtin=True)
def om_linalg_to_loops(module: ir.Module) -> None:
    """Structured ops on buffers become loops; the outermost are marked parallel."""
    from .loops import linalg_to_loops

    linalg_to_loops(module)


@register_pass("om-expand-math", requires=(no_om_ops,), builtin=True)
def om_expand_math(module: ir.Module) -> None:
    """Replace transcendental functions by polynomials."""
    from .math import expand_math

    expand_math(module)


@register_pass("om-to-llvm", requires=(no_om_ops, no_tensors), builtin=True)
def om_to_llvm(module: ir.Module) -> None:
    """Outline parallel loops and convert everything to the LLVM dialect."""
    from .llvm import to_llvm

    to_llvm(module)
