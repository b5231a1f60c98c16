"""Lowerings of literals, weights and sizes."""
from __future__ import annotations

from mlir import ir
from mlir.dialects import arith

from ...dialect import dtypes
from ...dialect.ops import constant as om
from .registry import lowers
from .scalar import cast


@lowers(om.Constant)
def constant(build, op):
    return build.literal(op.value)


@lowers(om.Full)
def full(build, op):
    return build.filled(op.result, build.read(op.tensors[0], []))


@lowers(om.Iota)
def iota(build, op):
    def element(i):
        number = arith.IndexCastOp(ir.IntegerType.get_signless(64), i).result
        return build.narrow(cast(build, number, dtypes.int64, op.dtype), op.dtype)
    return build.gather(op.result, element)
