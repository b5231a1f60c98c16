"""`om-propagate-layouts`: transpositions between layouts move down through what does not mind, until they meet their inverse.

    %1 = transpose(%0) {om.layout}              %1 = relu(%0)
    %2 = relu(%1)                        ->     %3 = conv2d_nhwc(%1)
    %3 = conv2d_nhwc(transpose(%2))

They move through elementwise ops and windows (which then run in the other order of axes), slices, insertions into a larger tensor, reshapes
that keep the moved axes apart, and other transpositions. What reads single elements reads them where they are. Where a transposition can
move no further it stays, and `om-fuse-elementwise` lets whatever reads it read through it.
"""
from __future__ import annotations

from typing import Callable, Sequence

from mlir import ir
from mlir.dialects import arith, linalg, tensor

from .fuse import Generic
from .layouts import LAYOUT

RULES: dict[str, Callable[[ir.Operation], None]] = {}


def moves_through(*names: str) -> Callable:
    """Register the rule for ops of these names."""
    def register(rule: Callable) -> Callable:
        for name in names:
            RULES[name] = rule
        return rule
    return register


def propagate_layouts(module: ir.Module) -> None:
    """Move the layout transpositions in all functions of a module."""
    with module.context, ir.Location.unknown():
        _visit(module.operation)
        _forget(module)


def _visit(operation: ir.Operation) -> None:
    for region in operation.regions:
        for block in region.blocks:
            for inner in [op.operation for op in block.operations]:
                if inner.name in RULES:
                    with ir.InsertionPoint(inner), inner.location:
                        RULES[inner.name](inner)
                else:
                    _visit(inner)


def _forget(module: ir.Module) -> None:
    """Remove the marks, and transpositions that nobody reads any more."""
    marked: list[ir.Operation] = []

    def visit(operation):
        if LAYOUT in operation.attributes:
            marked.append(operation)
        return ir.WalkResult.ADVANCE

    module.operation.walk(visit)
    for operation in reversed(marked):
        del operation.attributes[LAYOUT]
        if not list(operation.results[0].uses):
            operation.erase()


class Transposition:
    """A value that is a marked transposition of `source`: its axis i is the source's axis axes[i]."""

    def __init__(self, source: ir.Value, axes: Sequence[int]):
        self.source, self.axes = source, list(axes)

    @property
    def inverse(self) -> list[int]:
        """The result's axis for each axis of the source."""
        return [self.axes.index(i) for i in range(len(self.axes))]


def transposition(value: ir.Value) -> Transposition | None:
    """What a value is a layout transposition of."""
    if isinstance(value.owner, ir.Block) or LAYOUT not in value.owner.operation.attributes:
        return None
    op = Generic(value.owner.operation)
    return Transposition(op.inputs[0], _axes_of(op))


def _axes_of(mover: Generic) -> list[int]:
    """For each axis of the result, the axis of the source."""
    places = [ir.AffineDimExpr(e).position for e in mover.maps[0].results]
    return [places.index(i) for i in range(len(places))]


def transposed(source: ir.Value, axes: Sequence[int]) -> ir.Value:
    """A marked transposition, at the insertion point; the source itself where nothing moves."""
    rank = len(axes)
    if list(axes) == list(range(rank)):
        return source
    result = moved(source, ir.AffineMap.get(rank, 0, [ir.AffineExpr.get_dim(list(axes).index(i)) for i in range(rank)]), axes)
    result.owner.operation.attributes[LAYOUT] = ir.UnitAttr.get()
    return result


def moved(source: ir.Value, access: ir.AffineMap, axes: Sequence[int]) -> ir.Value:
    """A copy whose axis i is the source's axis axes[i]; `access` says the same as a map."""
    init, rank = _empty_like(source, axes), len(axes)
    maps = [access, ir.AffineMap.get_identity(rank)]
    kinds = ir.ArrayAttr.get([ir.Attribute.parse("#linalg.iterator_type<parallel>")] * rank)
    new = linalg.GenericOp([init.type], [source], [init], ir.ArrayAttr.get([ir.AffineMapAttr.get(m) for m in maps]), kinds)
    element = ir.RankedTensorType(source.type).element_type
    block = new.regions[0].blocks.append(element, element)
    with ir.InsertionPoint(block):
        linalg.YieldOp([block.arguments[0]])
    return new.operation.results[0]


def _empty_like(source: ir.Value, axes: Sequence[int]) -> ir.Value:
    return tensor.EmptyOp([_size(source, axis) for axis in axes], ir.RankedTensorType(source.type).element_type).result


def _size(value: ir.Value, axis: int) -> int | ir.Value:
    """The size of an axis, from where the destination was made: one more reader of the value itself would keep it from being fused."""
    type = ir.RankedTensorType(value.type)
    if not type.is_dynamic_dim(axis):
        return type.shape[axis]
    owner = None if isinstance(value.owner, ir.Block) else value.owner.operation
    if owner is not None and owner.name == "linalg.generic":
        results = list(owner.results)
        return _size(owner.operands[len(owner.operands) - len(results) + results.index(value)], axis)
    if owner is not None and owner.name == "tensor.insert_slice":
        return _size(owner.operands[1], axis)
    if owner is not None and owner.name == "tensor.empty":
        return owner.operands[sum(type.is_dynamic_dim(i) for i in range(axis))]
    return tensor.DimOp(value, _index(axis)).result


def _index(value: int) -> ir.Value:
    return arith.ConstantOp(ir.IndexType.get(), value).result


def replace_with_transposed(operation: ir.Operation, value: ir.Value, axes: Sequence[int]) -> None:
    """Let a transposition of `value`, made at the insertion point, stand for an op's result."""
    operation.results[0].replace_all_uses_with(transposed(value, axes))
    operation.erase()


# --- linalg.generic -------------------------------------------------------------------------------------------------------------------


@moves_through("linalg.generic")
def through_generic(operation: ir.Operation) -> None:
    op = Generic(operation)
    if op.has_kernel:
        _copy_slices(op)
        return
    if op.is_elementwise() and op.only_moves():
        _compose(op)
        return
    axes = _axes_to_take(op, _read_sources(op))
    if axes is not None:
        _reorder(op, axes)


def _copy_slices(op: Generic) -> None:
    """A kernel reads a slice of the last axis where it lies; of another slice it gets a copy, which is contiguous."""
    for inner in [o.operation for o in op.body.operations if o.operation.name == "tensor.extract"]:
        value = inner.operands[0]
        owner = None if isinstance(value.owner, ir.Block) else value.owner.operation
        if owner is None or owner.name != "tensor.extract_slice" or _only_last_axis(owner):
            continue
        rank = ir.RankedTensorType(value.type).rank
        identity = ir.AffineMap.get_identity(rank)
        inner.operands[0] = moved(value, identity, list(range(rank)))


def _only_last_axis(operation: ir.Operation) -> bool:
    """Whether a slice takes all of each axis but the last, and neighbours of that."""
    offsets, sizes, strides = (list(ir.DenseI64ArrayAttr(operation.attributes[f"static_{name}"])) for name in ("offsets", "sizes", "strides"))
    source = ir.RankedTensorType(operation.operands[0].type)
    return set(strides) == {1} and set(offsets[:-1]) == {0} and sizes[:-1] == list(source.shape)[:-1]


def _read_sources(op: Generic) -> list[Transposition]:
    """Single elements that the body reads from a transposition are read from its source; gives these transpositions."""
    read = []
    for inner in _operations(op.body):
        if inner.name != "tensor.extract" or (found := transposition(inner.operands[0])) is None:
            continue
        indices = list(inner.operands)[1:]
        with ir.InsertionPoint(inner):
            new = tensor.ExtractOp(found.source, [indices[i] for i in found.inverse]).result
        inner.results[0].replace_all_uses_with(new)
        inner.erase()
        read.append(found)
    return read


def _operations(block: ir.Block) -> list[ir.Operation]:
    """The operations of a block and of the regions in it: an element may be read where a size is not zero."""
    found = []
    for inner in [op.operation for op in block.operations]:
        found += [inner, *(nested for region in inner.regions for block in region.blocks for nested in _operations(block))]
    return found


def _compose(op: Generic) -> None:
    """A transposition of a transposition is one, or none."""
    found = transposition(op.inputs[0])
    if found is None:
        return
    replace_with_transposed(op.operation, found.source, [found.axes[i] for i in _axes_of(op)])


def _axes_to_take(op: Generic, read: list[Transposition]) -> list[int] | None:
    """The order of axes in which an op's input lies, if most of its large inputs lie so; None to leave the op as it is."""
    rank = ir.RankedTensorType(op.inits[0].type).rank if len(op.inits) == 1 else 0
    count = op.kinds.count("parallel")
    if rank < 3 or count != rank or op.kinds[:rank] != ["parallel"] * rank or not _is_prefix(op.maps[-1]):
        return None
    if len(op.kinds) == rank and not op.is_elementwise():
        return None
    large = [v for v, m in zip(op.inputs, op.maps) if len(m.results) == rank and _walks(m, rank)]
    found = [t for t in map(transposition, large) if t is not None] + ([] if large else read)
    found = [t for t in found if len(t.axes) == rank]
    if not found or 2 * len(found) < len(large):
        return None
    return found[0].axes


def _is_prefix(access: ir.AffineMap) -> bool:
    return access == ir.AffineMap.get(access.n_dims, 0, [ir.AffineExpr.get_dim(i) for i in range(len(access.results))])


def _walks(access: ir.AffineMap, rank: int) -> bool:
    """Whether axis i of an operand moves with loop i, and perhaps others."""
    return all(f"d{i}" in str(e) for i, e in enumerate(list(access.results)[:rank]))


def _reorder(op: Generic, axes: list[int]) -> None:
    """The op with its parallel loops, and its result, in the order of the source: loop axes[i] is what loop i was."""
    rank, loops = len(axes), len(op.kinds)
    operands = []
    for value, access in zip(op.inputs, op.maps):
        found = transposition(value)
        if found is not None:
            value, access = found.source, ir.AffineMap.get(loops, 0, [access.results[i] for i in found.inverse])
        operands.append((value, access))
    inverse = [axes.index(i) for i in range(rank)]
    renumber = ir.AffineMap.get(loops, 0, [ir.AffineExpr.get_dim(axes[i] if i < rank else i) for i in range(loops)])
    maps = [ir.AffineMap.get(loops, 0, [_renumbered(e, renumber) for e in m.results]) for _, m in operands]
    init = reordered_init(op.inits[0], inverse)
    kinds = op.operation.attributes["iterator_types"]
    output = ir.AffineMap.get(loops, 0, [ir.AffineExpr.get_dim(i) for i in range(rank)])
    new = linalg.GenericOp([init.type], [v for v, _ in operands], [init], ir.ArrayAttr.get([ir.AffineMapAttr.get(m) for m in [*maps, output]]), kinds)
    block = new.regions[0].blocks.append(*[a.type for a in op.body.arguments])
    _renumber_indices(op, axes)
    yielded = op.move_body(block, list(block.arguments), None)
    with ir.InsertionPoint(block):
        linalg.YieldOp(yielded)
    replace_with_transposed(op.operation, new.operation.results[0], axes)


def _renumbered(expression: ir.AffineExpr, renumber: ir.AffineMap) -> ir.AffineExpr:
    """`compose` gives an untyped expression; a map gives it back as what it is."""
    return ir.AffineMap.get(renumber.n_dims, 0, [expression.compose(renumber)]).results[0]


def _renumber_indices(op: Generic, axes: list[int]) -> None:
    def visit(inner):
        if inner.name == "linalg.index":
            loop = ir.IntegerAttr(inner.attributes["dim"]).value
            if loop < len(axes):
                inner.attributes["dim"] = ir.IntegerAttr.get(ir.IntegerType.get_signless(64), axes[loop])
        return ir.WalkResult.ADVANCE

    for inner in op.body.operations:
        inner.operation.walk(visit)


def reordered_init(init: ir.Value, order: list[int]) -> ir.Value:
    """A destination with its axes in another order: axis i is what axis order[i] was."""
    owner = None if isinstance(init.owner, ir.Block) else init.owner.operation
    if owner is not None and owner.name == "tensor.empty":
        return _empty_like(init, order)
    if owner is not None and owner.name == "linalg.generic" and len(owner.operands) == 1 and len(owner.regions[0].blocks[0].operations) == 1:
        return _filled(owner, _empty_like(init, order))
    found = transposition(init)
    if found is not None and found.inverse == list(order):
        return found.source
    return transposed(init, order)


def _filled(fill: ir.Operation, init: ir.Value) -> ir.Value:
    """A destination filled as `fill` fills another."""
    scalar = fill.regions[0].blocks[0].operations[0].operands[0]
    new = linalg.GenericOp([init.type], [], [init], fill.attributes["indexing_maps"], fill.attributes["iterator_types"])
    block = new.regions[0].blocks.append(ir.RankedTensorType(init.type).element_type)
    with ir.InsertionPoint(block):
        linalg.YieldOp([scalar])
    return new.operation.results[0]
