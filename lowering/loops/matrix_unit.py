"""Structured ops that the matrix unit computes."""
from __future__ import annotations

from mlir import ir

from ..kernels import build as b
from ..kernels import emit_matmul, MatmulShape
from ..kernels.parts import emit_split_left, emit_split_right
from ..kernels.split_matmul import emit_split_matmul
from .emit import kernel, static_sizes
from .kernels import captured_memref, epilogue_function, has_long_epilogue, has_unit_stride
from .structured import dimension, merge_loops, Structured


@kernel("split_left")
def split_left(op: Structured) -> bool:
    """Parts of a matrix that the body reads element by element."""
    source = captured_memref(op)
    if source is None or not has_unit_stride(source):
        return False
    emit_split_left(source, op.operands[-1])
    return True


@kernel("split_right")
def split_right(op: Structured) -> bool:
    """Parts of a weight that the body reads element by element."""
    source = captured_memref(op)
    if source is None:
        return False
    emit_split_right(source, op.operands[-1], transposed=ir.BoolAttr(op.kernel["transposed"]).value)
    return True


@kernel("split_matmul", any_epilogue=True)
def split_matmul(op: Structured) -> bool:
    """C = A B: loops (rows..., n, k); operands A, B, their parts, and B in panels for runs with few rows, where their number is not known."""
    op = merge_loops(op)
    rows, n, k = list(range(op.loops - 2)), op.loops - 2, op.loops - 1
    if not rows or [dimension(e) for e in op.maps[0]] != [*rows, k] or [dimension(e) for e in op.maps[-1]] != [*rows, n]:
        return False
    a, left, right, c = op.operands[0], op.operands[2], op.operands[3], op.operands[-1]
    epilogue = epilogue_function(op.epilogue, {loop: loop for loop in range(op.loops - 1)})
    whole = lambda: emit_split_matmul(a, left, right, c, epilogue)
    if op.inputs < 5:
        whole()
        return True
    sizes = static_sizes(op)
    shape = MatmulShape(sizes[n - 1], sizes[n], sizes[k], len(rows) - 1)
    few = b.less(b.mul(b.dim(left, 0), 16), 17)
    b.when(few, lambda: emit_matmul(a, op.operands[4], c, shape, epilogue, rolled=has_long_epilogue(op)), whole)
    return True
