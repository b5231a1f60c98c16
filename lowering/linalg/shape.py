"""Lowerings of ops that move elements."""
from __future__ import annotations

from mlir import ir
from mlir.dialects import arith

from ...dialect.ops import shape as om
from .registry import lowers


@lowers(om.Reshape)
def reshape(build, op):
    return build.reshape(op.x.value, op.x.type, op.result)


@lowers(om.Transpose)
def transpose(build, op):
    rank = op.x.rank
    places = [op.axes.index(axis) for axis in range(rank)]
    mapping = ir.AffineMap.get(rank, 0, [ir.AffineExpr.get_dim(p) for p in places])
    return build.generic([op.x.value], [mapping], op.result, lambda x, _: x)


@lowers(om.BroadcastTo)
def broadcast_to(build, op):
    return build.elementwise([op.x], op.result, lambda x: x)


@lowers(om.Slice)
def slice_(build, op):
    if 0 in op.shape or 0 in op.x.shape:  # upstream refuses slices of nothing that start at the end of an axis
        return build.empty(op.result)
    if all(step > 0 for step in op.steps):
        return build.extract_slice(op.x, op.starts, op.result, op.steps)

    def element(*indices):
        places = [arith.AddIOp(build.size(start), arith.MulIOp(i, build.const_index(step)).result).result
                  for i, start, step in zip(indices, op.starts, op.steps)]
        return build.read(op.x, places)
    return build.gather(op.result, element)


@lowers(om.Concat)
def concat(build, op):
    result, start = build.empty(op.result), 0
    for x in op.xs:
        if x.shape[op.axis] == 0:
            continue
        starts = [start if axis == op.axis else 0 for axis in range(x.rank)]
        result = build.insert_slice(x.value, x.type, result, starts)
        start = start + x.shape[op.axis]
    return result


@lowers(om.PadConstant)
def pad_constant(build, op):
    if op.x.shape == op.result.shape:
        return op.x.value
    return build.pad(op.x, op.low, op.result, build.read(op.value, []))
