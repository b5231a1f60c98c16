"""`om-propagate-layouts` through slices, insertions and reshapes."""
from __future__ import annotations

import itertools
from typing import Sequence

from mlir import ir
from mlir.dialects import tensor

from .propagate_layouts import moves_through, reordered_init, replace_with_transposed, transposed, transposition


@moves_through("tensor.insert_slice")
def through_insert(operation: ir.Operation) -> None:
    found = transposition(operation.operands[0]) or transposition(operation.operands[1])
    if found is None or len(found.axes) != ir.RankedTensorType(operation.results[0].type).rank:
        return
    if ir.RankedTensorType(operation.operands[0].type).rank != len(found.axes):
        return
    source = reordered_init(operation.operands[0], found.inverse)
    target = reordered_init(operation.operands[1], found.inverse)
    dynamic, static = _slice_of(operation, 2, found.inverse)
    new = tensor.InsertSliceOp(source, target, *dynamic, *static).result
    replace_with_transposed(operation, new, found.axes)


@moves_through("tensor.extract_slice")
def through_extract(operation: ir.Operation) -> None:
    found = transposition(operation.operands[0])
    result = ir.RankedTensorType(operation.results[0].type)
    if found is None or result.rank != len(found.axes):
        return
    dynamic, static = _slice_of(operation, 1, found.inverse)
    type = ir.RankedTensorType.get([result.shape[i] for i in found.inverse], result.element_type)
    replace_with_transposed(operation, tensor.ExtractSliceOp(type, found.source, *dynamic, *static).result, found.axes)


def _slice_of(operation: ir.Operation, fixed: int, order: list[int]) -> tuple[list, list]:
    """Offsets, sizes and strides with their axes in another order: the dynamic operands of each, then the static entries of each."""
    dynamic, static, place = [], [], fixed
    operands = list(operation.operands)
    for name in ("static_offsets", "static_sizes", "static_strides"):
        entries = list(ir.DenseI64ArrayAttr(operation.attributes[name]))
        values = {}
        for axis, entry in enumerate(entries):
            if entry == ir.ShapedType.get_dynamic_size():
                values[axis] = operands[place]
                place += 1
        dynamic.append([values[axis] for axis in order if axis in values])
        static.append([entries[axis] for axis in order])
    return dynamic, static


@moves_through("tensor.cast")
def through_cast(operation: ir.Operation) -> None:
    found = transposition(operation.operands[0])
    if found is None:
        return
    result = ir.RankedTensorType(operation.results[0].type)
    type = ir.RankedTensorType.get([result.shape[i] for i in found.inverse], result.element_type)
    replace_with_transposed(operation, tensor.CastOp(type, found.source).result, found.axes)


def _groups(operation: ir.Operation) -> list[list[int]]:
    return [[ir.IntegerAttr(i).value for i in ir.ArrayAttr(group)] for group in ir.ArrayAttr(operation.attributes["reassociation"])]


def _attribute(groups: Sequence[Sequence[int]]) -> ir.Attribute:
    i64 = ir.IntegerType.get_signless(64)
    return ir.ArrayAttr.get([ir.ArrayAttr.get([ir.IntegerAttr.get(i64, axis) for axis in group]) for group in groups])


@moves_through("tensor.expand_shape")
def through_expand(operation: ir.Operation) -> None:
    found, groups = transposition(operation.operands[0]), _groups(operation)
    if found is None:
        return
    result, new_groups, place = ir.RankedTensorType(operation.results[0].type), {}, 0
    for axis in found.inverse:
        new_groups[axis] = list(range(place, place + len(groups[axis])))
        place += len(groups[axis])
    order = [old for axis in found.inverse for old in groups[axis]]
    dynamic = [axis for axis in range(result.rank) if result.is_dynamic_dim(axis)]
    sizes = dict(zip(dynamic, list(operation.operands)[1:]))
    type = ir.RankedTensorType.get([result.shape[old] for old in order], result.element_type)
    new = tensor.ExpandShapeOp(type, found.source, _attribute([new_groups[axis] for axis in found.inverse]), [sizes[o] for o in order if o in sizes],
                               [result.shape[old] for old in order]).result
    replace_with_transposed(operation, new, [axis for number in range(len(groups)) for axis in new_groups[number]])


@moves_through("tensor.collapse_shape")
def through_collapse(operation: ir.Operation) -> None:
    """Each group has to be a run of the source's axes; the source's axes are moved, as little as that takes, where it is none."""
    found = transposition(operation.operands[0])
    if found is None:
        return
    source, result = ir.RankedTensorType(found.source.type), ir.RankedTensorType(operation.results[0].type)
    groups = [[found.axes[axis] for axis in group] for group in _groups(operation)]
    order = sorted(range(len(groups)), key=lambda number: min(groups[number]))
    together = all(_is_run(group, source.shape) for group in groups)
    value = found.source if together else transposed(found.source, [axis for number in order for axis in groups[number]])
    ends = list(itertools.accumulate(len(groups[number]) for number in order))
    runs = [list(range(end - len(groups[number]), end)) for number, end in zip(order, ends)]
    type = ir.RankedTensorType.get([result.shape[number] for number in order], result.element_type)
    new = tensor.CollapseShapeOp(type, value, _attribute(runs)).result
    replace_with_transposed(operation, new, [order.index(number) for number in range(len(groups))])


def _is_run(axes: Sequence[int], shape: Sequence[int]) -> bool:
    long = [axis for axis in axes if shape[axis] != 1]
    return sorted(axes) == list(range(min(axes), max(axes) + 1)) and long == sorted(long)
