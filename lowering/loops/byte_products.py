"""Structured ops that multiply bytes."""
from __future__ import annotations

from mlir import ir

from ..kernels import ConvShape, MatmulShape
from ..kernels import build as b
from ..kernels.byte_conv import emit_byte_conv
from ..kernels.byte_matmul import emit_byte_matmul
from .emit import kernel, static_sizes
from .kernels import captured_memref, destination, epilogue_function, has_unit_stride, permuted
from .structured import dimension, is_contiguous, merge_loops, Structured


@kernel("byte_matmul", any_epilogue=True)
def byte_matmul(op: Structured) -> bool:
    """Bits of C = A B: loops (batch..., m, n, k) once merged; operands A, B and B's words."""
    op = merge_loops(op)
    *rows, n, k = range(op.loops)
    axes = [dimension(e) for e in op.maps[0]]
    if not rows or sorted(axes) != [*rows, k] or [dimension(e) for e in op.maps[-1]] != [*rows, n]:
        return False
    a, words, c = permuted(op.operands[0], [axes.index(loop) for loop in (*rows, k)]), op.operands[2], destination(op)
    if not has_unit_stride(a) or not has_unit_stride(c):
        return False
    sizes = static_sizes(op)
    shape = MatmulShape(sizes[n - 1], sizes[n], sizes[k], len(rows) - 1)
    epilogue = epilogue_function(op.epilogue, {loop: loop for loop in range(op.loops - 1)})
    emit_byte_matmul(a, words, c, shape, epilogue, rolled=op.epilogue is not None)
    return True


@kernel("byte_conv2d", any_epilogue=True)
def byte_conv2d(op: Structured) -> bool:
    """A convolution whose body reads x; operands are the extents of the window and the filters' words."""
    x, y = captured_memref(op), destination(op)
    if x is None or not is_contiguous(x) or not is_contiguous(y):
        return False
    ints = lambda name: tuple(ir.DenseI64ArrayAttr(op.kernel[name]))
    _, height, width, channels = (b.dim(x, axis) for axis in range(4))
    known = lambda size: size if b.known(size) else None
    shape = ConvShape(channels, b.dim(y, 3), known(height), known(width), ints("kernel"), ints("strides"), ints("pads"), ints("dilations"),
                      ir.IntegerAttr(op.kernel["groups"]).value, "nhwc", "nhwc")
    emit_byte_conv(x, op.operands[1], y, shape, epilogue_function(op.epilogue), rolled=op.epilogue is not None)
    return True

