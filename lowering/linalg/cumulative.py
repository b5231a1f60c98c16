"""Lowerings of running sums and products: a loop along the axis for each lane, the running value in a register."""
from __future__ import annotations

from typing import Callable

from mlir import ir
from mlir.dialects import arith, memref

from ...dialect.ops import reduction as om
from .builder import compute_dtype
from .registry import lowers
from .scalar import cast, Scalar


@lowers(om.Cumsum)
def cumsum(build, op):
    scalar = Scalar(build, compute_dtype(op.result.dtype))
    return running(build, op, scalar.const(0), scalar.add)


@lowers(om.Cumprod)
def cumprod(build, op):
    scalar = Scalar(build, compute_dtype(op.result.dtype))
    return running(build, op, scalar.const(1), scalar.multiply)


def running(build, op, start: ir.Value, combine: Callable) -> ir.Value:
    """Every prefix folded with `combine(total, element)`."""
    wide, sizes = compute_dtype(op.result.dtype), [build.extent(size) for size in op.x.shape]
    length = sizes[op.axis]

    def body(x, result):
        def lane(*outer):
            build.loop(build.const_index(0), length, lambda i, total: [step(outer, i, total)], [start])

        def step(outer, i, total):
            place = arith.SubIOp(arith.SubIOp(length, build.const_index(1)).result, i).result if op.reverse else i
            places = [*outer[:op.axis], place, *outer[op.axis:]]
            element = build.widen(memref.LoadOp(x, places).result, op.x.dtype)
            following = combine(total, cast(build, element, op.x.dtype, wide))
            memref.StoreOp(build.narrow(total if op.exclusive else following, op.result.dtype), result, places)
            return following
        build.nest([size for axis, size in enumerate(sizes) if axis != op.axis], lane)
    return build.imperative([op.x], [op.result], body)[0]
