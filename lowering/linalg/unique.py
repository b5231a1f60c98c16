"""Lowering of unique: sort the rows, number the groups of equal neighbours, then write what is known of each group."""
from __future__ import annotations

from typing import Sequence

from mlir import ir
from mlir.dialects import arith, memref

from ...dialect import dtypes
from ...dialect.ops import ordering as om
from ...dialect.shapes import TensorType
from ...dialect.symbolic import product
from .ordering import comes_before, compare_index, learn_count, merge_sort, store_at, to_int64
from .registry import lowers, TensorValue
from .scalar import Scalar

INT64 = dtypes.int64


@lowers(om.Unique)
def unique(build, op):
    rows, order = as_rows(build, op.x, op.axis)
    count, permutation, group = number_groups(build, rows)
    learn_count(build, op.results[1], 0, arith.IndexCastOp(build.index, build.read(count, [])).result)
    found = op.results[1].shape[0]
    values = TensorType((found, rows.shape[1]), op.x.dtype)
    values, *rest = describe_groups(build, rows, permutation, group, op.sorted, [values, *op.results[1:]])
    return as_values(build, values, TensorType((found, rows.shape[1]), op.x.dtype), op, order), *rest


def as_rows(build, x: TensorValue, axis: int | None) -> tuple[TensorValue, list[int]]:
    """What is compared as the rows of a matrix, and the order of the axes that brought `axis` to the front."""
    order = [] if axis is None else [axis, *(a for a in range(x.rank) if a != axis)]
    if order and order != sorted(order):
        type = x.type.with_shape(x.shape[a] for a in order)
        x = TensorValue(permuted(build, x.value, type, [order.index(a) for a in range(x.rank)]), type)
    shape = (product(x.shape), 1) if axis is None else (x.shape[0], product(x.shape[1:]))
    type = x.type.with_shape(shape)
    return TensorValue(build.reshape(x.value, x.type, type), type), order


def permuted(build, value: ir.Value, result: TensorType, places: Sequence[int]) -> ir.Value:
    """A transposition: axis i of the value is axis ``places[i]`` of the result."""
    access = ir.AffineMap.get(result.rank, 0, [ir.AffineExpr.get_dim(p) for p in places])
    return build.generic([value], [access], result, lambda x, _: x)


def as_values(build, rows: ir.Value, type: TensorType, op, order: Sequence[int]) -> ir.Value:
    """Rows in the shape of the result, the axis back at its place."""
    shape = [op.result.shape[a] for a in order] if order else op.result.shape
    result = op.result.with_shape(shape)
    value = build.reshape(rows, type, result)
    return value if order in ([], sorted(order)) else permuted(build, value, op.result, list(order))


def number_groups(build, rows: TensorValue) -> tuple[ir.Value, TensorValue, TensorValue]:
    """How many groups of equal rows there are, the stable order of the rows, and each one's group in that order."""
    total, one_each = TensorType((), INT64), TensorType(rows.shape[:1], INT64)
    size, width = (build.extent(s) for s in rows.shape)
    zero = build.const_index(0)

    def body(x, count, permutation, group):
        order, spare = build.scratch([size], build.index), build.scratch([size], build.index)
        merge_sort(build, order, spare, size, lambda i, j: row_before(build, rows.dtype, x, width, i, j))

        def number(k, groups):
            here = memref.LoadOp(order, [k]).result
            before = memref.LoadOp(order, [arith.MaxSIOp(arith.SubIOp(k, build.const_index(1)).result, zero).result]).result
            first = compare_index("eq", k, zero)
            new = arith.OrIOp(first, rows_differ(build, rows.dtype, x, width, here, before)).result
            groups = arith.AddIOp(groups, arith.IndexCastUIOp(build.index, new).result).result
            memref.StoreOp(to_int64(here), permutation, [k])
            memref.StoreOp(to_int64(arith.SubIOp(groups, build.const_index(1)).result), group, [k])
            return [groups]
        found = build.loop(zero, size, number, [zero])[0]
        memref.StoreOp(to_int64(found), count, [])
    count, permutation, group = build.imperative([rows], [total, one_each, one_each], body)
    return count, TensorValue(permutation, one_each), TensorValue(group, one_each)


def row_before(build, dtype, x: ir.Value, width: ir.Value, i: ir.Value, j: ir.Value) -> ir.Value:
    """Whether row i stands before row j: the first element that differs decides."""
    before, true = comes_before(build, dtype, False), build.constant(1, dtypes.bool_)

    def column(c, less, undecided):
        left, right = memref.LoadOp(x, [i, c]).result, memref.LoadOp(x, [j, c]).result
        smaller, larger = before(left, right), before(right, left)
        less = arith.OrIOp(less, arith.AndIOp(undecided, smaller).result).result
        decided = arith.OrIOp(smaller, larger).result
        return [less, arith.AndIOp(undecided, arith.XOrIOp(decided, true).result).result]
    return build.loop(build.const_index(0), width, column, [build.constant(0, dtypes.bool_), true])[0]


def rows_differ(build, dtype, x: ir.Value, width: ir.Value, i: ir.Value, j: ir.Value) -> ir.Value:
    """Whether two rows differ in an element; NaN differs from itself."""
    scalar = Scalar(build, dtype)

    def column(c, differ):
        left, right = (build.widen(memref.LoadOp(x, [row, c]).result, dtype) for row in (i, j))
        return [arith.OrIOp(differ, scalar.compare("ne", left, right)).result]
    return build.loop(build.const_index(0), width, column, [build.constant(0, dtypes.bool_)])[0]


def describe_groups(build, rows: TensorValue, permutation: TensorValue, group: TensorValue, ascending: bool, results: Sequence[TensorType]) -> list[ir.Value]:
    """Values, first occurrences, inverse and counts, in ascending order or in order of first occurrence."""
    size, width = (build.extent(s) for s in rows.shape)
    found = build.extent(results[1].shape[0])
    zero, index = build.const_index(0), lambda value: arith.IndexCastOp(build.index, value).result

    def body(x, permutation, group, values, indices, inverse, counts):
        place = build.scratch([found], build.index)  # of each group among the results
        if ascending:
            build.loop(zero, found, lambda g: store_at(place, [g], g))
        else:
            _place_by_occurrence(build, place, permutation, group, size, found)
        build.loop(zero, found, lambda g: store_at(counts, [g], Scalar(build, INT64).const(0)))

        def visit(k):
            row, target = (index(memref.LoadOp(b, [k]).result) for b in (permutation, group))
            target = memref.LoadOp(place, [target]).result
            seen = memref.LoadOp(counts, [target]).result
            memref.StoreOp(arith.AddIOp(seen, Scalar(build, INT64).const(1)).result, counts, [target])
            memref.StoreOp(to_int64(target), inverse, [row])

            def describe():
                memref.StoreOp(to_int64(row), indices, [target])
                build.loop(zero, width, lambda c: store_at(values, [target, c], memref.LoadOp(x, [row, c]).result))
            build.when(arith.CmpIOp(arith.CmpIPredicate.eq, seen, Scalar(build, INT64).const(0)).result, describe)
        build.loop(zero, size, visit)
    return build.imperative([rows, permutation, group], results, body)


def _place_by_occurrence(build, place, permutation, group, size, found) -> None:
    """Number the groups in the order of their first rows. The sort is stable: a group's first row in sorted order is its first at all."""
    zero, index = build.const_index(0), lambda value: arith.IndexCastOp(build.index, value).result
    starts = build.scratch([size], build.index)  # for each row the group that it is the first of, or -1
    none = build.const_index(-1)
    build.loop(zero, size, lambda row: store_at(starts, [row], none))

    def mark(k):
        here = memref.LoadOp(group, [k]).result
        before = memref.LoadOp(group, [arith.MaxSIOp(arith.SubIOp(k, build.const_index(1)).result, zero).result]).result
        new = arith.OrIOp(compare_index("eq", k, zero), arith.CmpIOp(arith.CmpIPredicate.ne, here, before).result).result
        row = index(memref.LoadOp(permutation, [k]).result)
        build.when(new, lambda: store_at(starts, [row], index(here)))

    def number(row, following):
        here = memref.LoadOp(starts, [row]).result
        first = compare_index("sge", here, zero)
        build.when(first, lambda: store_at(place, [here], following))
        return [arith.AddIOp(following, arith.IndexCastUIOp(build.index, first).result).result]
    build.loop(zero, size, mark)
    build.loop(zero, size, number, [zero])
