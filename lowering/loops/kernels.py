"""Structured ops that a kernel computes: matching the op to the kernel's shape, and its epilogue to vector code."""
from __future__ import annotations

from dataclasses import replace
from typing import Callable

from mlir import ir
from mlir.dialects import arith, memref, vector

from ..kernels import can_read, ConvShape, emit_conv, emit_matmul, emit_pack_b, emit_pack_filter, MatmulShape, Place, rolls_epilogue
from ..kernels import build as b
from ..kernels.pair_matmul import emit_pair_matmul
from ..kernels.pool import emit_pool, PoolShape
from .emit import is_short, kernel, static_sizes
from .structured import dimension, is_contiguous, merge_loops, Structured


@kernel("matmul", any_epilogue=True)
def matmul(op: Structured, emit: Callable = emit_matmul) -> bool:
    """C = A B: loops (batch..., m, n, k) once merged; B packed when there is a packed operand, else rows or columns."""
    op = merge_loops(without_unit_axes(op))
    place = dimension_places(op)
    if place is None or not isinstance(ir.MemRefType(op.operands[-1].type).element_type, (ir.F32Type, ir.F64Type)):
        return False
    batch, a_shared, a_transposed, layout = place
    if a_transposed and emit is emit_pair_matmul:
        return False
    orders = _orders(op, batch, a_transposed, layout)
    packed = [v for v, results in zip(op.operands[2:op.inputs], op.maps[2:op.inputs]) if all(dimension(e) is None for e in results)]
    operands = [*op.operands[:-1], destination(op)]
    lies = [(operands[i], order) for i, order in orders.items()]
    if not all(is_contiguous(v) or has_unit_stride(v) for v, _ in lies) or not all(_ends_alike(order) for i, (_, order) in zip(orders, lies) if i):
        return False
    a, bm, c = (permuted(value, order) for value, order in lies)
    sizes = static_sizes(op)
    m, n, k = sizes[batch:batch + 3]
    own = tuple(loop for loop in range(batch) if loop in map(dimension, op.maps[1]))
    axes = None if packed or len(own) == batch else own
    shape = MatmulShape(m, n, k, batch, "packed" if packed else layout, a_transposed, a_shared, b_axes=axes)
    epilogue = epilogue_function(op.epilogue, {loop: loop for loop in range(batch + 2)})
    emit(a, packed[0] if packed else bm, c, shape, epilogue, rolled=has_long_epilogue(op))
    return True


@kernel("pair_matmul", any_epilogue=True)
def pair_matmul(op: Structured) -> bool:
    """The same of bf16, B as words of two steps."""
    return matmul(op, emit_pair_matmul)


def without_unit_axes(op: Structured) -> Structured:
    """The op with views of A and B that lack the axes at which it stays, where their other axes follow loops."""
    operands, maps = list(op.operands), list(op.maps)
    for i in range(2):
        fixed = [axis for axis, e in enumerate(maps[i]) if isinstance(e, ir.AffineConstantExpr) and ir.MemRefType(operands[i].type).shape[axis] == 1]
        if fixed and len(fixed) < len(maps[i]):
            operands[i] = without_axes(operands[i], fixed)
            maps[i] = [e for axis, e in enumerate(maps[i]) if axis not in fixed]
    return replace(op, operands=operands, maps=maps)


def without_axes(value: ir.Value, axes: list[int]) -> ir.Value:
    """A view of a memref without some axes of size 1."""
    type = ir.MemRefType(value.type)
    strides, offset = type.get_strides_and_offset()
    kept = [axis for axis in range(type.rank) if axis not in axes]
    layout = ir.StridedLayoutAttr.get(offset, [strides[axis] for axis in kept])
    result = ir.MemRefType.get([type.shape[axis] for axis in kept], type.element_type, layout)
    dynamic = ir.ShapedType.get_dynamic_size()
    sizes = [memref.DimOp(value, arith.ConstantOp.create_index(axis)).result for axis in range(type.rank) if type.shape[axis] == dynamic]
    return memref.SubViewOp(result, value, [], sizes, [], [0] * type.rank, list(type.shape), [1] * type.rank).result


def has_long_epilogue(op: Structured) -> bool:
    return op.epilogue is not None and not is_short(op.epilogue.body)


def dimension_places(op: Structured) -> tuple[int, bool, bool, str] | None:
    """Number of batch loops, whether A has none of them, whether A is [k, m], and how B lies; None for another structure.

    The batch axes may lie anywhere: kernels read through strides, as long as the last axis is one that a vector runs along.
    """
    batch = op.loops - 3
    if batch < 0 or op.kinds != ["parallel"] * (op.loops - 1) + ["reduction"]:
        return None
    m, n, k = batch, batch + 1, batch + 2
    lead = list(range(batch))
    a, bm, c = ([dimension(e) for e in op.maps[i]] for i in (0, 1, -1))
    if any(None in axes for axes in (a, bm, c)) or sorted(c) != [*lead, m, n]:
        return None
    if sorted(a) not in ([*lead, m, k], [m, k]) or not {n, k} <= set(bm) <= {*lead, n, k} or len(set(bm)) < len(bm):
        return None
    return batch, bool(batch) and len(a) == 2, a.index(k) < a.index(m), "rows" if bm[-1] == n else "columns"


def _orders(op: Structured, batch: int, a_transposed: bool, layout: str) -> dict[int, list[int]]:
    """For A, B and C, the axes in the order (batch..., matrix) that the kernel wants."""
    m, n, k = batch, batch + 1, batch + 2
    wanted = {0: (k, m) if a_transposed else (m, k), 1: (k, n) if layout == "rows" else (n, k), len(op.operands) - 1: (m, n)}
    orders = {}
    for number, last in wanted.items():
        axes = [dimension(e) for e in op.maps[number if number < 2 else -1]]
        orders[number] = [axes.index(loop) for loop in (*range(batch), *last) if loop in axes]
    return orders


def _ends_alike(order: list[int]) -> bool:
    """Whether the last axis stays the last one, so that vectors are contiguous."""
    return order[-1] == len(order) - 1


def has_unit_stride(value: ir.Value) -> bool:
    """Whether neighbours along the last axis are neighbours in memory."""
    strides, _ = ir.MemRefType(value.type).get_strides_and_offset()
    return bool(strides) and strides[-1] == 1


def permuted(value: ir.Value, order: list[int]) -> ir.Value:
    """The memref with its axes in another order."""
    if order == list(range(len(order))):
        return value
    type = ir.MemRefType(value.type)
    strides, offset = type.get_strides_and_offset()
    layout = ir.StridedLayoutAttr.get(offset, [strides[axis] for axis in order])
    permutation = ir.AffineMapAttr.get(ir.AffineMap.get_permutation(order))
    return memref.TransposeOp(ir.MemRefType.get([type.shape[axis] for axis in order], type.element_type, layout), value, permutation).result


def _is_packed(op: Structured) -> bool:
    return any(all(dimension(e) is None for e in results) for results in op.maps[2:op.inputs])


@kernel("pack_b")
def pack_b(op: Structured) -> bool:
    """Packing of a matrix that the body reads element by element."""
    source = captured_memref(op)
    if source is None:
        return False
    emit_pack_b(source, op.operands[-1], transposed=ir.BoolAttr(op.kernel["transposed"]).value)
    return True


def captured_memref(op: Structured) -> ir.Value | None:
    """The buffer from outside that the body reads."""
    for operation in op.body.operations:
        if operation.operation.name == "memref.load":
            return operation.operation.operands[0]
    return None


def destination(op: Structured) -> ir.Value:
    """What the kernel writes: the output, or that of an epilogue which takes it."""
    return op.operands[-1] if op.epilogue is None or op.epilogue.taken is None else op.epilogue.operands[-1]


def epilogue_function(op: Structured | None, axes: dict[int, int] | None = None) -> Callable | None:
    """The epilogue as a function of a vector of results and its place, for the kernels; one that takes the sums has them among the inputs
    of its body. `axes`: the kernel's output axis of a loop."""
    if op is None:
        return None
    axes = axes or {loop: axis for axis, loop in enumerate(dimension(e) for e in op.maps[-1])}

    def apply(vec: ir.Value, place: Place) -> ir.Value:
        inputs = [place.operand(buffer, [axes.get(dimension(e)) for e in results]) for buffer, results in zip(op.operands[:-1], op.maps[:-1])]
        if op.taken is not None:
            inputs.insert(op.taken, vec)
        return vectorize(op.body, [*inputs, vec], place.lanes)
    return apply


def vectorize(body: ir.Block, arguments: list[ir.Value], lanes: int) -> ir.Value:
    """The elementwise body computed on vectors."""
    values: dict[ir.Value, ir.Value] = dict(zip(body.arguments, arguments))

    def lookup(value: ir.Value) -> ir.Value:
        return values[value] if value in values else vector.BroadcastOp(ir.VectorType.get([lanes], value.type), value).result

    for operation in body.operations:
        operation = operation.operation
        if operation.name == "linalg.yield":
            return lookup(operation.operands[0])
        if operation.name == "arith.constant":
            values[operation.results[0]] = b.broadcast(operation.clone().operation.results[0], lanes)
            continue
        results = [ir.VectorType.get([lanes], r.type) for r in operation.results]
        attributes = {(n.name if hasattr(n, "name") else n): operation.attributes[n.name if hasattr(n, "name") else n] for n in operation.attributes}
        new = ir.Operation.create(operation.name, results=results, operands=[lookup(v) for v in operation.operands], attributes=attributes)
        values.update(zip(operation.results, new.results))
    raise AssertionError("a linalg body ends with linalg.yield")


@kernel("conv", any_epilogue=True)
def conv(op: Structured) -> bool:
    """A convolution whose body reads x; operands are the extents of the window, the filter and perhaps a scratch buffer."""
    x, y = captured_memref(op), destination(op)
    if x is None or not is_contiguous(y):
        return False
    shape = conv_shape(op, ir.MemRefType(x.type))
    rolled = has_long_epilogue(op)
    if not can_read(x, shape) or (rolled and not rolls_epilogue(shape)):
        return False
    scratch = op.operands[2] if op.inputs > 2 else None
    emit_conv(x, op.operands[1], y, shape, epilogue_function(op.epilogue), scratch=scratch, rolled=rolled)
    return True


def conv_shape(op: Structured, x: ir.MemRefType) -> ConvShape:
    """The kernel's description of a convolution."""
    ints = lambda name: tuple(ir.DenseI64ArrayAttr(op.kernel[name]))
    layout_in, layout_out = (ir.StringAttr(op.kernel[name]).value for name in ("layout_in", "layout_out"))
    y = ir.MemRefType(op.operands[-1].type)
    channel = {"nchw": 1, "nhwc": x.rank - 1}
    size = [None if x.is_dynamic_dim(a) else x.get_dim_size(a) for a in range(x.rank)]
    channels = size[channel[layout_in]]
    size = size[1:-1] if layout_in == "nhwc" else size[2:]
    filters = y.get_dim_size(channel[layout_out])
    return ConvShape.of(channels, filters, tuple(size), ints("kernel"), ints("strides"), ints("pads"), ints("dilations"),
                        groups=ir.IntegerAttr(op.kernel["groups"]).value, layout_in=layout_in, layout_out=layout_out,
                        winograd=ir.IntegerAttr(op.kernel["winograd"]).value, transposed=ir.BoolAttr(op.kernel["transposed"]).value,
                        bits=ir.MemRefType(op.operands[-1].type).element_type.width, pairs=isinstance(x.element_type, ir.BF16Type))


@kernel("pack_filter")
def pack_filter(op: Structured) -> bool:
    """Packing of a filter that the body reads element by element."""
    source = captured_memref(op)
    if source is None:
        return False
    emit_pack_filter(source, op.operands[-1], ir.StringAttr(op.kernel["strategy"]).value, ir.BoolAttr(op.kernel["transposed"]).value)
    return True


@kernel("pool")
def pool(op: Structured) -> bool:
    """The maximum or mean over windows of x, which the body reads; whatever follows runs on its own."""
    x, y = captured_memref(op), op.operands[-1]
    if x is None or op.epilogue is not None or not has_unit_stride(x) or not has_unit_stride(y):
        return False
    ints = lambda name: tuple(ir.DenseI64ArrayAttr(op.kernel[name]))
    layout = ir.StringAttr(op.kernel["layout"]).value
    sizes = [None if size == b.DYNAMIC else size for size in ir.MemRefType(x.type).shape]
    divisor, inside = ir.IntegerAttr(op.kernel["divisor"]).value, ir.BoolAttr(op.kernel["inside"]).value
    size = tuple(sizes[1:-1] if layout == "nhwc" else sizes[2:])
    emit_pool(x, y, PoolShape(size, ints("kernel"), ints("strides"), ints("pads"), divisor or None, inside), layout=layout)
    return True
