"""Structured ops that multiply by weights of few bits."""
from __future__ import annotations

from mlir import ir

from ..kernels import MatmulShape
from ..kernels.dequantized_matmul import emit_dequantized_matmul, Numbers
from ..kernels.rounded_matmul import emit_rounded_matmul, RowScales
from .emit import kernel, static_sizes
from .kernels import epilogue_function, has_long_epilogue, has_unit_stride, permuted
from .structured import dimension, merge_loops, Structured


@kernel("dequantized_matmul", any_epilogue=True)
def dequantized_matmul(op: Structured) -> bool:
    """C = A B: loops (rows..., n, k) once merged; operands A and B's integers, their shifts, scales and perhaps zero points in panels."""
    op = merge_loops(op)
    *rows, n, k = range(op.loops)
    axes = [dimension(e) for e in op.maps[0]]
    if not rows or sorted(axes) != [*rows, k] or [dimension(e) for e in op.maps[-1]] != [*rows, n]:
        return False
    a, c = permuted(op.operands[0], [axes.index(loop) for loop in (*rows, k)]), op.operands[-1]
    if not has_unit_stride(c):
        return False
    words, _, scales, *zeros = op.operands[1:op.inputs]
    number = lambda name: ir.IntegerAttr(op.kernel[name]).value
    numbers = Numbers(words, scales, zeros[0] if zeros else None, number("block"), number("bits"), ir.BoolAttr(op.kernel["unsigned"]).value)
    sizes = static_sizes(op)
    shape = MatmulShape(sizes[n - 1], sizes[n], sizes[k], len(rows) - 1)
    epilogue = epilogue_function(op.epilogue, {loop: loop for loop in range(op.loops - 1)})
    emit_dequantized_matmul(a, numbers, c, shape, epilogue, rolled=has_long_epilogue(op))
    return True


@kernel("rounded_matmul", any_epilogue=True)
def rounded_matmul(op: Structured) -> bool:
    """C = A B: loops (m, n, k); operands A, its scales and scaled sums, B's words, scales and perhaps zero points in panels."""
    c = op.operands[-1]
    if op.loops != 3 or [dimension(e) for e in op.maps[0]] != [0, 2] or [dimension(e) for e in op.maps[-1]] != [0, 1]:
        return False
    if not has_unit_stride(op.operands[0]) or not has_unit_stride(c):
        return False
    a, row_scales, row_sums, words, scales, *zeros = op.operands[:op.inputs]
    number = lambda name: ir.IntegerAttr(op.kernel[name]).value
    numbers = Numbers(words, scales, zeros[0] if zeros else None, number("block"), number("bits"), True)
    shape = MatmulShape(*static_sizes(op))
    epilogue = epilogue_function(op.epilogue, {0: 0, 1: 1})
    emit_rounded_matmul(a, RowScales(row_scales, row_sums), numbers, c, shape, epilogue, rolled=has_long_epilogue(op))
    return True
