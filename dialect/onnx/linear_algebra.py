"""Writers of matrix products."""
from __future__ import annotations

from ..ops import linear_algebra as om
from .elementwise import same
from .graph import Graph
from .registry import writes
from .written_op import WrittenOp

writes(om.Matmul)(same("MatMul"))


@writes(om.MatmulInteger)
def write_matmul_integer(graph: Graph, op: WrittenOp):
    points = [p if p is None or p.rank != 2 else graph.reshape(p, [-1]) for p in (op.x_zero_point, op.y_zero_point)]
    return graph.MatMulInteger(op.x, op.y, *points)


@writes(om.Linear)
def write_linear(graph: Graph, op: WrittenOp):
    if op.x.rank == 2:
        return graph.Gemm(op.x, op.weight, op.bias, transB=1)
    product = graph.MatMul(op.x, graph.Transpose(op.weight, perm=[1, 0]))
    return product if op.bias is None else graph.Add(product, op.bias)
