"""A linalg op on memrefs as plain data: operands, indexing maps, iteration space, body. Adjacent axes that move alike are merged."""
from __future__ import annotations

from dataclasses import dataclass, replace

from mlir import ir
from mlir.dialects import memref


@dataclass
class Structured:
    """`maps[i]` holds, per axis of operand i, an affine expression of the loops; `kinds` says which loops are reductions.

    `epilogue`, when there is one, is an elementwise op that updates this op's one output, or reads it as argument `taken` of its body and
    writes another buffer; its maps are in terms of this op's loops.
    """

    operands: list[ir.Value]
    outputs: int  # how many of the operands, at the end, are written
    maps: list[list[ir.AffineExpr]]
    kinds: list[str]
    body: ir.Block
    kernel: ir.DictAttr | None = None
    epilogue: "Structured | None" = None
    taken: int | None = None

    @property
    def loops(self) -> int:
        return len(self.kinds)

    @property
    def inputs(self) -> int:
        return len(self.operands) - self.outputs

    def reads_index(self) -> bool:
        return any(op.operation.name == "linalg.index" for op in self.body.operations)


def structured(operation: ir.Operation) -> Structured:
    """Read a linalg.generic on memrefs."""
    maps = [list(ir.AffineMapAttr(a).value.results) for a in ir.ArrayAttr(operation.attributes["indexing_maps"])]
    kinds = ["reduction" if "reduction" in str(a) else "parallel" for a in ir.ArrayAttr(operation.attributes["iterator_types"])]
    segments = list(ir.DenseI32ArrayAttr(operation.attributes["operandSegmentSizes"]))
    kernel = ir.DictAttr(operation.attributes["om.kernel"]) if "om.kernel" in operation.attributes else None
    return Structured(list(operation.operands), segments[1], maps, kinds, operation.regions[0].blocks[0], kernel)


def with_epilogue(op: Structured, epilogue: Structured) -> Structured:
    """The op together with the elementwise op behind it that updates its output, or takes it."""
    count, inputs = op.loops, epilogue.operands[:-1]
    if op.operands[-1] in inputs:
        number = inputs.index(op.operands[-1])
        without = lambda values: [*values[:number], *values[number + 1:]]
        epilogue = replace(epilogue, operands=without(epilogue.operands), maps=without(epilogue.maps), taken=number)
    place = ir.AffineMap.get(count, 0, op.maps[-1])
    maps = [[_substitute(e, place) for e in results] for results in epilogue.maps]
    return replace(op, epilogue=replace(epilogue, maps=maps))


def _substitute(expression: ir.AffineExpr, loops: ir.AffineMap) -> ir.AffineExpr:
    """The expression in other loops. `compose` gives an untyped expression; a map gives it back as what it is."""
    return ir.AffineMap.get(loops.n_dims, 0, [expression.compose(loops)]).results[0]


def dimension(expression: ir.AffineExpr) -> int | None:
    """The loop that an expression is, or None when it is anything else."""
    return ir.AffineDimExpr(expression).position if isinstance(expression, ir.AffineDimExpr) else None


def is_contiguous(value: ir.Value) -> bool:
    """Whether a memref has the plain row-major layout."""
    return ir.MemRefType(value.type).layout == ir.AffineMapAttr.get(ir.AffineMap.get_identity(ir.MemRefType(value.type).rank))


def merge_loops(op: Structured) -> Structured:
    """Merge neighbouring loops that every operand walks as neighbouring axes, so that the innermost loop becomes long."""
    parts = [op] + ([op.epilogue] if op.epilogue else [])
    if any(part.reads_index() or not all(is_contiguous(v) for v in part.operands) for part in parts):
        return op
    groups = [[0]] if op.loops else []
    for loop in range(1, op.loops):
        if op.kinds[loop] == op.kinds[loop - 1] and all(_together(m, loop - 1, loop) for part in parts for m in part.maps):
            groups[-1].append(loop)
        else:
            groups.append([loop])
    if len(groups) == op.loops:
        return op
    merged = _merged(op, groups)
    return replace(merged, epilogue=_merged(op.epilogue, groups)) if op.epilogue else merged


def _merged(op: Structured, groups: list[list[int]]) -> Structured:
    number = {loop: i for i, group in enumerate(groups) for loop in group}
    first = {group[0] for group in groups}
    operands = [_collapse(v, m, number) for v, m in zip(op.operands, op.maps)]
    renumber = ir.AffineMap.get(len(groups), 0, [ir.AffineExpr.get_dim(number[loop]) for loop in sorted(number)])
    maps = [[_substitute(e, renumber) for e in m if dimension(e) is None or dimension(e) in first] for m in op.maps]
    return replace(op, operands=operands, maps=maps, kinds=[op.kinds[g[0]] for g in groups if g[0] < len(op.kinds)])


def _together(results: list[ir.AffineExpr], left: int, right: int) -> bool:
    """Whether an operand uses both loops as consecutive plain axes, or neither."""
    places = [dimension(e) for e in results]
    mixed = any(dimension(e) is None and _mentions(e, (left, right)) for e in results)
    if mixed or places.count(left) > 1 or places.count(right) > 1:
        return False
    if left not in places and right not in places:
        return True
    return left in places and right in places and places.index(right) == places.index(left) + 1


def _mentions(expression: ir.AffineExpr, loops) -> bool:
    return any(f"d{loop}" in str(expression) for loop in loops)


def _collapse(value: ir.Value, results: list[ir.AffineExpr], number: dict[int, int]) -> ir.Value:
    """The memref with the axes of merged loops joined."""
    axes: list[list[int]] = []
    last = None
    for axis, expression in enumerate(results):
        loop = dimension(expression)
        if loop is not None and last is not None and number[loop] == number[last]:
            axes[-1].append(axis)
        else:
            axes.append([axis])
        last = loop
    if len(axes) == len(results):
        return value
    type = ir.MemRefType(value.type)
    shape = [_product([None if type.is_dynamic_dim(a) else type.get_dim_size(a) for a in group]) for group in axes]
    i64 = ir.IntegerType.get_signless(64)
    reassociation = ir.ArrayAttr.get([ir.ArrayAttr.get([ir.IntegerAttr.get(i64, a) for a in group]) for group in axes])
    return memref.CollapseShapeOp(ir.MemRefType.get(shape, type.element_type), value, reassociation).result


def _product(sizes: list[int | None]) -> int:
    total = 1
    for size in sizes:
        if size is None:
            return ir.ShapedType.get_dynamic_size()
        total *= size
    return total
