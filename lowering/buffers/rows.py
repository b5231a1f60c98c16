"""`om-fuse-rows`: neighbours that work on the same rows become one loop over blocks of rows, which stay in the cache between them.

    linalg.generic max(x) -> m                scf.parallel (%block) = (0) to (blocks) {
    linalg.generic exp(x - m) -> e     ->       linalg.generic max(x[block]) -> m'; exp(x[block] - m') -> e'; sum(e') -> s'; e' / s' -> y[block]
    linalg.generic sum(e) -> s                }
    linalg.generic e / s -> y

A group has a reduction along memory among its ops. What only the group uses becomes a buffer of one block; two threads meet once, not once an op.
A block has several rows where they are short: the ends of their sums would wait for each other row by row.
"""
from __future__ import annotations

import math
from dataclasses import dataclass, field, replace

from mlir import ir
from mlir.dialects import arith, linalg, memref, scf

from .functions import entry_functions, walk
from .lifetimes import is_inside, THREADED
from .plan import STACK_BYTES, static_bytes

FEWEST_ROWS = 16
BLOCK_ROWS, BLOCK_ELEMENTS = 16, 2048  # of a block, at most
LEAST_WORK = 4096  # elements of all rows together
TRANSPARENT = {"memref.alloc", "memref.dim", "memref.get_global", "memref.cast", "memref.expand_shape", "memref.collapse_shape", "memref.subview",
               "memref.transpose", "memref.reinterpret_cast", "ub.poison"}  # fmt: skip
RESHAPES = {"memref.expand_shape", "memref.collapse_shape"}
VIEWS = RESHAPES | {"memref.cast", "memref.subview", "memref.transpose", "memref.reinterpret_cast", "memref.view"}


def fuse_rows(module: ir.Module) -> None:
    """Fuse in all entry functions of a module on memrefs, before its memory is planned: a group's buffers live at once."""
    with module.context, ir.Location.unknown():
        for function in entry_functions(module):
            blocks = {op.block: None for op in walk(function, "linalg.generic") if not is_inside(op, THREADED)}
            for block in blocks:
                for group in _groups(block):
                    group.emit()


class Op:
    """A linalg.generic on memrefs: `maps[i]` are the loops that the axes of operand i follow, None where the index is 0."""

    def __init__(self, operation: ir.Operation):
        self.operation = operation
        self.operands = list(operation.operands)
        self.inputs = list(ir.DenseI32ArrayAttr(operation.attributes["operandSegmentSizes"]))[0]
        self.kinds = ["reduction" in str(a) for a in ir.ArrayAttr(operation.attributes["iterator_types"])]
        self.body = operation.regions[0].blocks[0]
        maps = [ir.AffineMapAttr(a).value for a in ir.ArrayAttr(operation.attributes["indexing_maps"])]
        self.maps = [[_loop(e) for e in m.results] for m in maps]
        self.sizes = [self._size(loop) for loop in range(len(self.kinds))]

    def _size(self, loop: int) -> int | None:
        for value, axes in zip(self.operands, self.maps):
            if loop in axes and not ir.MemRefType(value.type).is_dynamic_dim(axes.index(loop)):
                return ir.MemRefType(value.type).shape[axes.index(loop)]
        return None

    def is_plain(self) -> bool:
        """Whether the op has static sizes, plain accesses, and a body that computes with elements alone."""
        if any("om." in (n.name if hasattr(n, "name") else n) for n in self.operation.attributes) or None in self.sizes:
            return False
        body = [op.operation for op in self.body.operations]
        return (all(OTHER not in axes for axes in self.maps)
                and not any(op.name in ("memref.load", "linalg.index") or len(op.regions) for op in body))

    def is_reduction(self) -> bool:
        """Whether one loop, the last one, reduces, along the last axis of all operands that it walks."""
        last = len(self.kinds) - 1
        return sum(self.kinds) == 1 and self.kinds[last] and last > 0 and all(
            last not in axes or axes.index(last) == len(axes) - 1 for axes in self.maps)

    def fits(self, rows: list[int]) -> bool:
        """Whether the first loops are those of the rows, of which each result has its own, and at most one loop is left."""
        count = len(rows)
        return (self.sizes[:count] == rows and not any(self.kinds[:count]) and len(self.kinds) - count in (0, 1)
                and all(self.follows(n, count) for n in range(self.inputs, len(self.operands))))

    def follows(self, number: int, count: int) -> bool:
        """Whether an operand's first axes are those of the rows, so that a row of it belongs to the op's row."""
        return self.maps[number][:count] == list(range(count)) and not any(a is not None and a < count for a in self.maps[number][count:])


OTHER = -1


def _loop(expression: ir.AffineExpr) -> int | None:
    if isinstance(expression, ir.AffineDimExpr):
        return ir.AffineDimExpr(expression).position
    return None if isinstance(expression, ir.AffineConstantExpr) and ir.AffineConstantExpr(expression).value == 0 else OTHER


def _root(value: ir.Value, rows: list[int] | None = None) -> ir.Value | None:
    """The buffer that a view is of. With `rows`: None where a row of the view may be another one than that of the buffer."""
    while not isinstance(value.owner, ir.Block) and value.owner.operation.name in VIEWS:
        if rows is not None and (value.owner.operation.name not in RESHAPES or _shape(value)[:len(rows)] != rows):
            return None
        value = value.owner.operation.operands[0]
    return None if rows is not None and _shape(value)[:len(rows)] != rows else value


def _is_known(root: ir.Value) -> bool:
    """Whether nothing else names the buffer: others may be one of several."""
    if isinstance(root.owner, ir.Block):
        return root.owner.owner.operation.name == "func.func"
    return root.owner.operation.name in ("memref.alloc", "memref.get_global")


def _shape(value: ir.Value) -> list[int]:
    return list(ir.MemRefType(value.type).shape)


@dataclass
class Group:
    """Ops on the same rows, in order."""

    rows: list[int]
    ops: list[Op] = field(default_factory=list)
    written: set[ir.Value] = field(default_factory=set)
    elsewhere: set[ir.Value] = field(default_factory=set)
    """Buffers of which a row of an op reads other rows, too."""

    def takes(self, op: Op) -> bool:
        """Add the op if it may run row by row with the others."""
        count = len(self.rows)
        if not op.is_plain() or not op.fits(self.rows):
            return False
        of_row = [_root(v, self.rows) if op.follows(n, count) else None for n, v in enumerate(op.operands)]
        roots = [_root(v) for v in op.operands]
        written = set(roots[op.inputs:])
        if any(row is None for row in of_row[op.inputs:]) or written & self.elsewhere or not all(map(_is_known, roots)):
            return False
        elsewhere = {root for root, row in zip(roots, of_row) if row is None}
        if elsewhere & (self.written | written):
            return False
        self.ops.append(op)
        self.written |= written
        self.elsewhere |= elsewhere
        return True

    def pays(self) -> bool:
        whole = [op for op in self.ops if len(op.kinds) > len(self.rows)]
        count = math.prod(self.rows)
        return any(any(op.kinds) for op in whole) and len(whole) > 1 and count >= FEWEST_ROWS and count * whole[0].sizes[-1] >= LEAST_WORK

    def emit(self) -> None:
        """One loop over blocks of rows in the place of the last op; a block lies along the last axis of the rows."""
        last = self.ops[-1].operation
        index, length = ir.IndexType.get(), self._block()
        blocks = [*self.rows[:-1], -(-self.rows[-1] // length)]
        with ir.InsertionPoint(last), self.ops[0].operation.location:
            zero, one, count = (arith.ConstantOp(index, n).result for n in (0, 1, math.prod(blocks)))
            loop = scf.ParallelOp([], [zero], [count], [one], [])
            body = loop.regions[0].blocks.append(index)
            with ir.InsertionPoint(body):
                place = _coordinates(body.arguments[0], blocks)
                place[-1] = _range(place[-1], length, self.rows[-1])
                scratch = self._scratch(length)
                for op in self.ops:
                    self._of_block(op, place, scratch)
                scf.ReduceOp([], 0)
        for op in reversed(self.ops):
            op.operation.erase()
        _erase_unused(scratch)

    def _block(self) -> int:
        """Rows of a block: a divisor of the last axis, if it has one of about the wanted size."""
        size, inner = self.rows[-1], max(op.sizes[-1] for op in self.ops if len(op.sizes) > len(self.rows))
        most = max(1, min(BLOCK_ROWS, BLOCK_ELEMENTS // inner, size))
        return next((n for n in range(most, most // 2, -1) if size % n == 0), most)

    def _scratch(self, length: int) -> dict[ir.Value, ir.Value]:
        """A buffer of one block for each that nobody else uses, by the buffer."""
        mine = {op.operation for op in self.ops}
        found = {}
        for root in {_root(v): None for op in self.ops for v in op.operands[op.inputs:]}:
            allocation = root.owner
            if isinstance(allocation, ir.Block) or allocation.name != "memref.alloc" or root in self.elsewhere or not _only_used_by(root, mine):
                continue
            type = ir.MemRefType.get([length, *_shape(root)[len(self.rows):]], ir.MemRefType(root.type).element_type)
            if static_bytes(allocation.operation) // math.prod(self.rows) * length <= STACK_BYTES:
                found[root] = memref.AllocOp(type, [], []).result
        return found

    def _of_block(self, op: Op, place: list, scratch: dict[ir.Value, ir.Value]) -> None:
        """The op on one block, whose rows are its first loop."""
        count, along = len(self.rows), len(self.rows) - 1
        operands, maps = [], []
        for value, axes in zip(op.operands, op.maps):
            root = _root(value)
            if root in scratch:
                value, axes = _reshaped(scratch[root], _shape(value)[count:]), axes[along:]
                value = _part(value, [place[along] and replace(place[along], first=0)] + [None] * (len(axes) - 1))
            else:
                value = _part(value, [place[a] if a is not None and a < count else None for a in axes])
                axes = [a for a in axes if a is None or a >= along]
            operands.append(value)
            results = [ir.AffineConstantExpr.get(0) if a is None else ir.AffineDimExpr.get(a - along) for a in axes]
            maps.append(ir.AffineMapAttr.get(ir.AffineMap.get(len(op.kinds) - along, 0, results)))
        kinds = ir.ArrayAttr.get(list(ir.ArrayAttr(op.operation.attributes["iterator_types"]))[along:])
        with op.operation.location:
            new = linalg.GenericOp([], operands[:op.inputs], operands[op.inputs:], ir.ArrayAttr.get(maps), kinds)
        op.body.append_to(new.regions[0])


@dataclass(frozen=True)
class Range:
    """Indices of an axis from `first` on, `count` of them."""

    first: ir.Value | int
    count: ir.Value | int


def _coordinates(number: ir.Value, sizes: list[int]) -> list[ir.Value | int]:
    """The place of a number in a grid."""
    place: list[ir.Value | int] = []
    for axis, size in enumerate(sizes):
        inner, value = math.prod(sizes[axis + 1:]), number
        if inner > 1:
            value = arith.DivUIOp(value, arith.ConstantOp(number.type, inner).result).result
        if math.prod(sizes[:axis]) > 1 and size > 1:
            value = arith.RemUIOp(value, arith.ConstantOp(number.type, size).result).result
        place.append(0 if size == 1 else value)
    return place


def _range(number: ir.Value | int, length: int, size: int) -> Range | None:
    """The rows of a block; None where it has all of them."""
    if length == size:
        return None
    first = arith.MulIOp(number, arith.ConstantOp(number.type, length).result).result
    if size % length == 0:
        return Range(first, length)
    rest = arith.SubIOp(arith.ConstantOp(number.type, size).result, first).result
    return Range(first, arith.MinSIOp(arith.ConstantOp(number.type, length).result, rest).result)


def _groups(block: ir.Block) -> list[Group]:
    """The groups of a block: neighbours, or with nothing between them that touches memory."""
    found: list[Group] = []
    waiting: list[Op] = []  # since the last op that nothing may move over
    group: Group | None = None

    def close():
        nonlocal group
        if group is not None and group.pays():
            found.append(group)
        group = None
        waiting.clear()

    for operation in [op.operation for op in block.operations]:
        if operation.name in TRANSPARENT or operation.name.startswith("arith."):
            continue
        if operation.name != "linalg.generic":
            close()
            continue
        op = Op(operation)
        if _fills_for_kernel(op):
            if group is not None and _root(op.operands[0]) in group.written | group.elsewhere:
                close()
            continue
        if group is None or not group.takes(op):
            if group is not None:
                close()
            waiting.append(op)
            group = _started(waiting)
            if not op.is_plain():
                waiting.clear()
    close()
    return found


def _started(waiting: list[Op]) -> Group | None:
    """A group that begins among these ops, of which the last is a reduction: as many of those before it as take part."""
    anchor = waiting[-1]
    if not anchor.is_plain() or not anchor.is_reduction():
        return None
    for first in range(len(waiting)):
        group = Group(anchor.sizes[:-1])
        if all(group.takes(op) for op in waiting[first:]):
            return group
    return None


def _fills_for_kernel(op: Op) -> bool:
    """Whether an op fills the output of a kernel, which needs no fill."""
    users = [use.owner.operation for use in op.operands[0].uses] if len(op.operands) == 1 else []
    return any("om.kernel" in user.attributes for user in users)


def _only_used_by(value: ir.Value, operations: set[ir.Operation]) -> bool:
    """Whether a buffer and its reshapes are used by these alone."""
    for use in value.uses:
        user = use.owner.operation
        if user.name in RESHAPES:
            if not _only_used_by(user.results[0], operations):
                return False
        elif user not in operations:
            return False
    return True


def _reshaped(block: ir.Value, shape: list[int]) -> ir.Value:
    """A block's buffer with rows of another shape: axes of size 1 more or less."""
    shape = [_shape(block)[0], *shape]
    if _shape(block) == shape:
        return block
    type = ir.MemRefType.get(shape, ir.MemRefType(block.type).element_type)
    strides = [math.prod(shape[axis + 1:]) for axis in range(len(shape))]
    return memref.ReinterpretCastOp(type, block, [], [], [], [0], shape, strides).result


def _part(value: ir.Value, place: list[Range | ir.Value | int | None]) -> ir.Value:
    """The view at these indices and ranges of them, None for a whole axis; axes with one index are dropped."""
    source = ir.MemRefType(value.type)
    if all(at is None or isinstance(at, Range) and at.count == source.shape[axis] for axis, at in enumerate(place)):
        return value
    firsts = [0 if at is None else at.first if isinstance(at, Range) else at for at in place]
    counts = [source.shape[axis] if at is None else at.count if isinstance(at, Range) else 1 for axis, at in enumerate(place)]
    kept = [axis for axis, at in enumerate(place) if at is None or isinstance(at, Range)]
    strides, offset = source.get_strides_and_offset()
    dynamic = [first for first in firsts if isinstance(first, ir.Value)]
    offset = ir.ShapedType.get_dynamic_stride_or_offset() if dynamic else offset + sum(map(math.prod, zip(firsts, strides)))
    shape = [ir.ShapedType.get_dynamic_size() if isinstance(counts[axis], ir.Value) else counts[axis] for axis in kept]
    type = ir.MemRefType.get(shape, source.element_type, ir.StridedLayoutAttr.get(offset, [strides[axis] for axis in kept]))
    static = lambda values: [ir.ShapedType.get_dynamic_size() if isinstance(v, ir.Value) else v for v in values]
    sizes = [count for count in counts if isinstance(count, ir.Value)]
    return memref.SubViewOp(type, value, dynamic, sizes, [], static(firsts), static(counts), [1] * len(place)).result


def _erase_unused(roots) -> None:
    """Allocations that rows stand for now, and their reshapes."""
    for root in roots:
        for use in list(root.uses):
            _erase_unused([use.owner.operation.results[0]])
        root.owner.operation.erase()
