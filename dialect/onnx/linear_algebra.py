"""Writers of matrix products."""
from __future__ import annotations

from ..ops import linear_algebra as om
from .elementwise import same
from .graph import Graph
from .registry import writes
from .written_op import WrittenOp

writes(om.Matmul)(same("MatMul"))


@writes(om.Linear)
def write_linear(graph: Graph, op: WrittenOp):
    if op.x.rank == 2:
        return graph.Gemm(op.x, op.weight, op.bias, transB=1)
    product = graph.MatMul(op.x, graph.Transpose(op.weight, perm=[1, 0]))
    return product if op.bias is None else graph.Add(product, op.bias)
