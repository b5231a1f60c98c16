"""Lowerings of ops that order and find elements: merge sorts of positions, lane by lane, and scans that write what they find."""
from __future__ import annotations

from typing import Callable, Sequence

from mlir import ir
from mlir.dialects import arith, memref, scf

from ...dialect import dtypes
from ...dialect.graph import plain_symbol
from ...dialect.ops import ordering as om
from ...dialect.shapes import TensorType
from .registry import lowers, TensorValue
from .scalar import Scalar


def _int64() -> ir.Type:
    return ir.IntegerType.get_signless(64)


def to_int64(index: ir.Value) -> ir.Value:
    return arith.IndexCastOp(_int64(), index).result


def compare_index(sign: str, left: ir.Value, right: ir.Value) -> ir.Value:
    return arith.CmpIOp(getattr(arith.CmpIPredicate, sign), left, right).result


def comes_before(build, dtype, descending: bool) -> Callable[[ir.Value, ir.Value], ir.Value]:
    """Whether one element must stand before another. NaN is the greatest and equal to itself."""
    scalar = Scalar(build, dtype)

    def before(left, right):
        left, right = build.widen(left, dtype), build.widen(right, dtype)
        first = scalar.compare("gt" if descending else "lt", left, right)
        if not scalar.floating:
            return first
        nan, other = (left, right) if descending else (right, left)
        return arith.OrIOp(first, arith.AndIOp(scalar.isnan(nan), scalar.compare("eq", other, other)).result).result
    return before


def store_at(buffer: ir.Value, places: Sequence[ir.Value], value: ir.Value) -> None:
    memref.StoreOp(value, buffer, places)


def merge_sort(build, order: ir.Value, spare: ir.Value, count: ir.Value, before: Callable) -> None:
    """Sort the positions 0, 1, … count - 1 into the buffer `order`, stable. `before(i, j)` compares the elements at two positions."""
    zero, one = build.const_index(0), build.const_index(1)
    build.loop(zero, count, lambda i: store_at(order, [i], i))
    passes = scf.WhileOp([build.index], [one])
    head, body = passes.before.blocks.append(build.index), passes.after.blocks.append(build.index)
    with ir.InsertionPoint(head):
        scf.ConditionOp(compare_index("slt", head.arguments[0], count), [head.arguments[0]])
    with ir.InsertionPoint(body):
        width = body.arguments[0]
        pair = arith.MulIOp(width, build.const_index(2)).result
        build.loop(zero, arith.CeilDivSIOp(count, pair).result, lambda i: _merge(build, order, spare, count, width, arith.MulIOp(i, pair).result, before))
        build.loop(zero, count, lambda i: store_at(order, [i], memref.LoadOp(spare, [i]).result))
        scf.YieldOp([pair])


def _merge(build, order, spare, count, width, start, before) -> None:
    """Merge two sorted runs of `width` positions from `start` into `spare`."""
    last = arith.SubIOp(count, build.const_index(1)).result
    middle = arith.MinSIOp(arith.AddIOp(start, width).result, count).result
    end = arith.MinSIOp(arith.AddIOp(middle, width).result, count).result
    one = build.const_index(1)

    def step(place, i, j):
        left = memref.LoadOp(order, [arith.MinSIOp(i, last).result]).result
        right = memref.LoadOp(order, [arith.MinSIOp(j, last).result]).result
        have_left, have_right = compare_index("slt", i, middle), compare_index("slt", j, end)
        needs_right = arith.AndIOp(have_right, before(right, left)).result
        true = build.constant(1, dtypes.bool_)
        take_right = arith.OrIOp(needs_right, arith.XOrIOp(have_left, true).result).result
        memref.StoreOp(arith.SelectOp(take_right, right, left).result, spare, [place])
        next_i = arith.SelectOp(take_right, i, arith.AddIOp(i, one).result).result
        return [next_i, arith.SelectOp(take_right, arith.AddIOp(j, one).result, j).result]
    build.loop(start, end, step, [start, middle])


def sorted_lanes(build, x: TensorValue, axis: int, descending: bool, results: Sequence[TensorType], count: ir.Value, store: Callable) -> list[ir.Value]:
    """Order each lane of x; ``store(outputs, element, places, position)`` for the first `count` elements of each."""
    sizes = [build.extent(size) for size in x.shape]
    before = comes_before(build, x.dtype, descending)

    def body(source, *outputs):
        order, spare = (build.scratch([sizes[axis]], build.index) for _ in range(2))

        def lane(*outer):
            at = lambda place: [*outer[:axis], place, *outer[axis:]]
            load = lambda place: memref.LoadOp(source, at(place)).result
            merge_sort(build, order, spare, sizes[axis], lambda i, j: before(load(i), load(j)))

            def write(k):
                position = memref.LoadOp(order, [k]).result
                store(outputs, load(position), at(k), position)
            build.loop(build.const_index(0), arith.MinSIOp(count, sizes[axis]).result, write)
        build.nest([size for a, size in enumerate(sizes) if a != axis], lane)
    return build.imperative([x], results, body)


def store_value(outputs, value, places, position) -> None:
    memref.StoreOp(value, outputs[0], places)


def store_position(outputs, value, places, position) -> None:
    memref.StoreOp(to_int64(position), outputs[-1], places)


def store_both(*arguments) -> None:
    store_value(*arguments)
    store_position(*arguments)


@lowers(om.Sort)
def sort(build, op):
    return sorted_lanes(build, op.x, op.axis, op.descending, [op.result], build.extent(op.x.shape[op.axis]), store_value)[0]


@lowers(om.Argsort)
def argsort(build, op):
    return sorted_lanes(build, op.x, op.axis, op.descending, [op.result], build.extent(op.x.shape[op.axis]), store_position)[0]


@lowers(om.Topk)
def topk(build, op):
    return tuple(sorted_lanes(build, op.x, op.axis, op.largest, list(op.results), build.extent(op.k[0]), store_both))


# What depends on the data.
def learn_count(build, type: TensorType, axis: int, count: ir.Value) -> None:
    """Let the size of an axis that only the data tell be this index value."""
    build.origins[plain_symbol(type.shape[axis]).name] = (count, None)


@lowers(om.Nonzero)
def nonzero(build, op):
    scalar = Scalar(build, op.x.dtype)
    found = lambda value: scalar.compare("ne", build.widen(value, op.x.dtype), scalar.const(0))
    total = TensorType((), dtypes.int64)
    number, rank = Scalar(build, dtypes.int64), op.x.rank
    body = lambda x, count: number.add(count, arith.ExtUIOp(_int64(), found(x)).result)
    count = build.reduce(op.x, range(rank), False, total, number.const(0), body)
    learn_count(build, op.result, 1, arith.IndexCastOp(build.index, build.read(count, [])).result)

    def write_places(x, result):
        def visit(places, position):
            hit = found(memref.LoadOp(x, places).result)

            def store():
                for axis, place in enumerate(places):
                    memref.StoreOp(to_int64(place), result, [build.const_index(axis), position])
            build.when(hit, store)
            return arith.AddIOp(position, arith.IndexCastUIOp(build.index, hit).result).result
        scan_places(build, [build.extent(size) for size in op.x.shape], visit, build.const_index(0))
    return build.imperative([op.x], [op.result], write_places)[0]


def scan_places(build, sizes: Sequence[ir.Value], visit: Callable, carried: ir.Value) -> ir.Value:
    """Nested loops in row-major order; `visit(places, carried)` gives the carried value of the next step."""
    def level(places, value):
        if len(places) == len(sizes):
            return visit(places, value)
        return build.loop(build.const_index(0), sizes[len(places)], lambda i, inner: [level([*places, i], inner)], [value])[0]
    return level([], carried)
