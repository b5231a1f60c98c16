"""Lowerings of ops that read or write at places that index tensors name.

All indices of an op are checked at once, before it runs; the first one out of range, in row-major order, is reported. Reads then use
clamped places and writes skip places out of range, so that memory is safe whatever the indices are.
"""
from __future__ import annotations

from typing import Callable, Sequence

from mlir import ir
from mlir.dialects import arith, linalg, memref

from ...dialect import dtypes
from ...dialect.bindings import location_text
from ...dialect.ops import indexing as om
from ...dialect.shapes import TensorType
from ...dialect.symbolic import less_equal, minimum, Size
from ..kernels.append_rows import emit_append_rows
from .builder import element_type, REDUCTION
from .registry import lowers, TensorValue
from .scalar import Scalar

INT64 = dtypes.int64


def wrap(build, place: ir.Value, extent: ir.Value) -> ir.Value:
    """Negative places counted from the end, once."""
    negative = arith.CmpIOp(arith.CmpIPredicate.slt, place, build.const_index(0)).result
    return arith.SelectOp(negative, arith.AddIOp(place, extent).result, place).result


def clamp(build, place: ir.Value, extent: ir.Value) -> ir.Value:
    """The nearest place within an axis; 0 where the axis is empty."""
    last = arith.SubIOp(extent, build.const_index(1)).result
    return arith.MaxSIOp(arith.MinSIOp(place, last).result, build.const_index(0)).result


def is_inside(place: ir.Value, extent: ir.Value) -> ir.Value:
    return arith.CmpIOp(arith.CmpIPredicate.ult, place, extent).result


def safe_read(build, x: TensorValue, places: Sequence[ir.Value]) -> ir.Value:
    """One element; zero where x is empty. Places are in range unless an axis of x is empty."""
    if all(less_equal(1, size) for size in x.shape):
        return build.read(x, places)
    filled = build.constant(1, dtypes.bool_)
    for size in x.shape:
        if less_equal(1, size) is not True:
            some = arith.CmpIOp(arith.CmpIPredicate.sgt, build.extent(size), build.const_index(0)).result
            filled = arith.AndIOp(filled, some).result
    return build.choose(filled, element_type(x.dtype), lambda: build.read(x, places), lambda: build.constant(0, x.dtype))


def check_range(build, name: str, indices: TensorValue, size: Size, axis: int, fixed: dict[int, int] | None = None) -> None:
    """Refuse the run when an index is out of range for an axis of this size. `fixed`: axes of the indices of which one place is meant."""
    literal = indices.literal
    if literal is not None and isinstance(size, int) and not fixed and ((literal >= -size) & (literal < size)).all():
        return
    fixed, number = fixed or {}, Scalar(build, INT64)
    extent = arith.IndexCastOp(ir.IntegerType.get_signless(64), build.extent(size)).result
    first = _first_outside(build, indices, extent, fixed)
    none = number.const(-1)
    holds = number.compare("eq", first, none)

    def found() -> ir.Value:
        places = _unflatten(build, arith.IndexCastOp(build.index, first).result, indices, fixed)
        value = build.read(indices, places)
        return value if indices.dtype == INT64 else arith.ExtSIOp(ir.IntegerType.get_signless(64), value).result
    where = location_text(ir.Location.current)
    message = f"{name}: index {{found}} is out of range for axis {axis} of size {{expected}}" + (f", at {where}" if where else "")
    build.check(holds, "IndexRangeError", message, found, extent)


def _first_outside(build, indices: TensorValue, extent: ir.Value, fixed: dict[int, int]) -> ir.Value:
    """The row-major place of the first index out of range (i64), -1 when there is none."""
    number, loops = Scalar(build, INT64), indices.rank - len(fixed)
    scalar = TensorType((), INT64)
    shape = [size for axis, size in enumerate(indices.shape) if axis not in fixed]
    dims = iter([ir.AffineExpr.get_dim(i) for i in range(loops)])
    access = [ir.AffineExpr.get_constant(fixed[a]) if a in fixed else next(dims) for a in range(indices.rank)]

    def body(value, first):
        value = value if indices.dtype == INT64 else arith.ExtSIOp(ir.IntegerType.get_signless(64), value).result
        low = number.compare("lt", value, number.negative(extent))
        outside = arith.OrIOp(low, number.compare("ge", value, extent)).result
        return arith.MinUIOp(number.select(outside, _flat_place(build, shape), none), first).result
    none = number.const(-1)  # the largest unsigned number, so that a minimum finds the first place
    start = build.filled(scalar, none)
    found = build.generic([indices.value], [ir.AffineMap.get(loops, 0, access)], scalar, body, init=start,
                          output_map=ir.AffineMap.get(loops, 0, []), iterators=[REDUCTION] * loops)
    return build.read(found, [])


def _flat_place(build, shape: Sequence[Size]) -> ir.Value:
    """Within a body: the row-major place of the current loops (i64)."""
    place = build.const_index(0)
    for axis, size in enumerate(shape):
        place = arith.AddIOp(arith.MulIOp(place, build.extent(size)).result, linalg.IndexOp(axis).result).result
    return arith.IndexCastOp(ir.IntegerType.get_signless(64), place).result


def _unflatten(build, flat: ir.Value, indices: TensorValue, fixed: dict[int, int]) -> list[ir.Value]:
    """The places along each axis of a row-major place."""
    places = []
    for axis in reversed(range(indices.rank)):
        if axis in fixed:
            places.append(build.const_index(fixed[axis]))
            continue
        size = build.extent(indices.shape[axis])
        places.append(arith.RemUIOp(flat, size).result)
        flat = arith.DivUIOp(flat, size).result
    return places[::-1]


def named_place(build, x: TensorValue, axis: int, index: ir.Value) -> ir.Value:
    """The place along an axis of x that an element of an index tensor names, wrapped but not clamped."""
    return wrap(build, arith.IndexCastOp(build.index, index).result, build.extent(x.shape[axis]))


@lowers(om.Gather)
def gather(build, op):
    check_range(build, "gather", op.indices, op.x.shape[op.axis], op.axis)
    count = op.indices.rank

    def element(*places):
        index = build.read(op.indices, places[op.axis:op.axis + count])
        place = clamp(build, named_place(build, op.x, op.axis, index), build.extent(op.x.shape[op.axis]))
        return safe_read(build, op.x, [*places[:op.axis], place, *places[op.axis + count:]])
    return build.gather(op.result, element)


@lowers(om.TakeAlongAxis)
def take_along_axis(build, op):
    check_range(build, "take_along_axis", op.indices, op.x.shape[op.axis], op.axis)

    def element(*places):
        index = build.read(op.indices, places)
        place = clamp(build, named_place(build, op.x, op.axis, index), build.extent(op.x.shape[op.axis]))
        others = [p if a == op.axis or less_equal(n, size) else clamp(build, p, build.extent(size))
                  for a, (p, n, size) in enumerate(zip(places, op.result.shape, op.x.shape))]
        return safe_read(build, op.x, [*others[:op.axis], place, *others[op.axis + 1:]])
    return build.gather(op.result, element)


@lowers(om.GatherNd)
def gather_nd(build, op):
    batch, length, count = op.batch_dims, op.indices.shape[-1], op.indices.rank - 1
    _check_tuples(build, "gather_nd", op.x, op.indices, batch)

    def element(*places):
        named = []
        for i in range(length):
            index = build.read(op.indices, [*places[:count], build.const_index(i)])
            named.append(clamp(build, named_place(build, op.x, batch + i, index), build.extent(op.x.shape[batch + i])))
        return safe_read(build, op.x, [*places[:batch], *named, *places[count:]])
    return build.gather(op.result, element)


def _check_tuples(build, name: str, x: TensorValue, indices: TensorValue, batch: int) -> None:
    """Check the indices of each axis that tuples name."""
    for i in range(indices.shape[-1]):
        check_range(build, name, indices, x.shape[batch + i], batch + i, {indices.rank - 1: i})


# Writes.
def combined(build, dtype, reduction: str) -> Callable[[ir.Value, ir.Value], ir.Value]:
    """What becomes of the element that is there and an update."""
    scalar = Scalar(build, dtype)
    if reduction == "none":
        return lambda old, new: new
    if dtype == dtypes.bool_:
        function = {"add": arith.OrIOp, "max": arith.OrIOp, "mul": arith.AndIOp, "min": arith.AndIOp}[reduction]
        return lambda old, new: function(old, new).result
    function = {"add": scalar.add, "mul": scalar.multiply, "max": scalar.maximum, "min": scalar.minimum}[reduction]
    return lambda old, new: build.narrow(function(build.widen(old, dtype), build.widen(new, dtype)), dtype)


def write_all(build, op, counts: Sequence[Size], target_places: Callable) -> ir.Value:
    """A copy of x in which each update is combined into ``target_places(indices buffer, places)``, in row-major order."""
    combine = combined(build, op.x.dtype, op.reduction)

    def body(x, indices, updates, result):
        memref.CopyOp(x, result)

        def write(*places):
            inside, target = target_places(indices, places)

            def store():
                old = memref.LoadOp(result, target).result
                memref.StoreOp(combine(old, memref.LoadOp(updates, list(places)).result), result, target)
            build.when(inside, store)
        build.nest([build.extent(size) for size in counts], write)
    return build.imperative([op.x, op.indices, op.updates], [op.result], body)[0]


def _all_inside(build, x: TensorValue, places: Sequence[ir.Value]) -> ir.Value:
    inside = build.constant(1, dtypes.bool_)
    for place, size in zip(places, x.shape):
        inside = arith.AndIOp(inside, is_inside(place, build.extent(size))).result
    return inside


@lowers(om.Scatter)
def scatter(build, op):
    check_range(build, "scatter", op.indices, op.x.shape[op.axis], op.axis)

    def target_places(indices, places):
        place = named_place(build, op.x, op.axis, memref.LoadOp(indices, list(places)).result)
        target = [*places[:op.axis], place, *places[op.axis + 1:]]
        return _all_inside(build, op.x, target), target
    return write_all(build, op, op.indices.shape, target_places)


@lowers(om.ScatterNd)
def scatter_nd(build, op):
    length, count = op.indices.shape[-1], op.indices.rank - 1
    _check_tuples(build, "scatter_nd", op.x, op.indices, 0)

    def target_places(indices, places):
        tuple_ = [memref.LoadOp(indices, [*places[:count], build.const_index(i)]).result for i in range(length)]
        target = [*(named_place(build, op.x, i, index) for i, index in enumerate(tuple_)), *places[count:]]
        return _all_inside(build, op.x, target), target
    return write_all(build, op, op.updates.shape, target_places)


# Windows at places that are computed.
def clamped_starts(build, x: TensorValue, starts: TensorValue, part: Sequence[Size]) -> list[ir.Value]:
    """One start for each axis, such that the part fits."""
    result = []
    for axis, (size, count) in enumerate(zip(x.shape, part)):
        start = arith.IndexCastOp(build.index, build.read(starts, [build.const_index(axis)])).result
        room = arith.SubIOp(build.extent(size), build.extent(count)).result
        result.append(arith.MaxSIOp(arith.MinSIOp(start, room).result, build.const_index(0)).result)
    return result


@lowers(om.DynamicSlice)
def dynamic_slice(build, op):
    starts = clamped_starts(build, op.x, op.starts, op.result.shape)
    fits = all(less_equal(part, size) for part, size in zip(op.result.shape, op.x.shape))

    def element(*places):
        places = [arith.AddIOp(start, place).result for start, place in zip(starts, places)]
        if fits:
            return build.read(op.x, places)
        return safe_read(build, op.x, [clamp(build, p, build.extent(size)) for p, size in zip(places, op.x.shape)])
    return build.gather(op.result, element)


@lowers(om.DynamicUpdate)
def dynamic_update(build, op):
    starts = clamped_starts(build, op.x, op.starts, op.update.shape)
    if all(less_equal(part, size) for part, size in zip(op.update.shape, op.x.shape)):
        return build.insert_slice(op.update.value, op.update.type, op.x.value, starts)

    def element(*places):
        offsets = [arith.SubIOp(place, start).result for place, start in zip(places, starts)]
        inside = _all_inside(build, op.update, offsets)
        old = build.read(op.x, places)
        return build.choose(inside, old.type, lambda: build.read(op.update, offsets), lambda: old)
    return build.gather(op.result, element)


@lowers(om.SliceUpdate)
def slice_update(build, op):
    return build.insert_slice(op.update.value, op.update.type, op.x.value, op.starts, op.steps)


@lowers(om.AppendRows)
def append_rows(build, op):
    most = minimum(op.past.shape[2], op.size[0] - op.new.shape[2])
    check_range(build, "append_rows", op.before, most + 1, 2)
    return build.imperative([op.past, op.new, op.before], [op.result], emit_append_rows)[0]
