"""Structured ops that multiply bytes."""
from __future__ import annotations

from ..kernels import MatmulShape
from ..kernels.byte_matmul import emit_byte_matmul
from .emit import kernel, static_sizes
from .kernels import epilogue_function, has_long_epilogue, has_unit_stride, permuted
from .structured import dimension, merge_loops, Structured


@kernel("byte_matmul", any_epilogue=True)
def byte_matmul(op: Structured) -> bool:
    """Bits of C = A B: loops (batch..., m, n, k) once merged; operands A, B and B's words."""
    op = merge_loops(op)
    *rows, n, k = range(op.loops)
    axes = [dimension(e) for e in op.maps[0]]
    if not rows or sorted(axes) != [*rows, k] or [dimension(e) for e in op.maps[-1]] != [*rows, n]:
        return False
    a, words, c = permuted(op.operands[0], [axes.index(loop) for loop in (*rows, k)]), op.operands[2], op.operands[-1]
    if not has_unit_stride(a) or not has_unit_stride(c):
        return False
    sizes = static_sizes(op)
    shape = MatmulShape(sizes[n - 1], sizes[n], sizes[k], len(rows) - 1)
    epilogue = epilogue_function(op.epilogue, {loop: loop for loop in range(op.loops - 1)})
    emit_byte_matmul(a, words, c, shape, epilogue, rolled=has_long_epilogue(op))
    return True
