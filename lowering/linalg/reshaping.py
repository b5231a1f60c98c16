"""Reshapes: axes are collapsed and expanded in the smallest groups that have equal products, so that most axes stay as they are."""
from __future__ import annotations

from typing import Sequence

from mlir import ir
from mlir.dialects import arith, tensor

from ...dialect.shapes import TensorType
from ...dialect.symbolic import Dim, product, Size


def reshape(build, value: ir.Value, source: TensorType, result: TensorType) -> ir.Value:
    """The elements in row-major order under another shape."""
    if source.shape == result.shape:
        return value
    if 0 in (product(source.shape), product(result.shape)):
        return build.empty(result)
    if source.rank == 0 or result.rank == 0:
        return _with_rank_0(build, value, source, result)
    groups = matching_groups(source.shape, result.shape)
    if any(sum(isinstance(result.shape[a], Dim) for a in after) > 1 and len(after) > 1 for _, after in groups):
        return _by_shape(build, value, source, result)
    value = _collapse(build, value, source, [before for before, _ in groups])
    return _expand(build, value, result, [after for _, after in groups])


def matching_groups(source: Sequence[Size], result: Sequence[Size]) -> list[tuple[list[int], list[int]]]:
    """Consecutive axes of both shapes (of rank 1 and more) with equal products, as short as possible."""
    groups: list[tuple[list[int], list[int]]] = []
    i = j = 0
    for end in range(1, len(source) + 1):
        stop = next((k for k in range(j + 1, len(result) + 1) if product(source[i:end]) == product(result[j:k])), None)
        if stop is not None:
            groups.append((list(range(i, end)), list(range(j, stop))))
            i, j = end, stop
    rest = list(range(i, len(source))), list(range(j, len(result)))
    if all(rest):  # equal only at run time, as a guard has checked
        groups.append(rest)
    elif any(rest):  # axes of size 1
        groups[-1] = groups[-1][0] + rest[0], groups[-1][1] + rest[1]
    return groups


def _reassociation(groups: Sequence[Sequence[int]]) -> ir.Attribute:
    i64 = ir.IntegerType.get_signless(64)
    return ir.ArrayAttr.get([ir.ArrayAttr.get([ir.IntegerAttr.get(i64, axis) for axis in group]) for group in groups])


def _joined(type: TensorType, groups: Sequence[Sequence[int]]) -> TensorType:
    """The shape in which each group is one axis, dynamic where one of the group is."""
    return type.with_shape(product(type.shape[a] for a in group) if len(group) > 1 else type.shape[group[0]] for group in groups)


def _collapse(build, value: ir.Value, source: TensorType, groups: Sequence[Sequence[int]]) -> ir.Value:
    if all(len(group) == 1 for group in groups):
        return value
    return tensor.CollapseShapeOp(build.tensor_type(_joined(source, groups)), value, _reassociation(groups)).result


def _expand(build, value: ir.Value, result: TensorType, groups: Sequence[Sequence[int]]) -> ir.Value:
    value = build.cast_to(value, _joined(result, groups))
    if all(len(group) == 1 for group in groups):
        return value
    dynamic, static = build.mixed(result.shape)
    return tensor.ExpandShapeOp(build.tensor_type(result), value, _reassociation(groups), dynamic, static).result


def _with_rank_0(build, value: ir.Value, source: TensorType, result: TensorType) -> ir.Value:
    """One element from, or to, a shape of ones."""
    if result.rank == 0:
        value = build.cast_to(value, source.with_shape((1,) * source.rank))
        return tensor.CollapseShapeOp(build.tensor_type(result), value, ir.ArrayAttr.get([])).result
    ones = result.with_shape((1,) * result.rank)
    value = tensor.ExpandShapeOp(build.tensor_type(ones), value, ir.ArrayAttr.get([]), [], [1] * result.rank).result
    return build.cast_to(value, result)


def _by_shape(build, value: ir.Value, source: TensorType, result: TensorType) -> ir.Value:
    """Where a group has several dynamic axes: upstream lowers an expansion of at most one."""
    i64 = ir.IntegerType.get_signless(64)
    sizes = [arith.IndexCastOp(i64, build.extent(size)).result for size in result.shape]
    shape = tensor.FromElementsOp(ir.RankedTensorType.get([result.rank], i64), sizes).result
    return tensor.ReshapeOp(build.tensor_type(result), value, shape).result
