"""Writers of literals, weights, filled tensors and ranges."""
from __future__ import annotations

import numpy as np
from mlir import ir

from ..ops import constant as om
from .export import Exporter, writes_upstream
from .graph import Graph
from .registry import writes
from .sizes import as_value
from .written_op import WrittenOp


@writes(om.Constant)
def write_constant(graph: Graph, op: WrittenOp):
    return graph.constant(op.value)


@writes_upstream("om.parameter")
def write_parameter(exporter: Exporter, graph: Graph, operation: ir.Operation) -> list:
    name = ir.StringAttr(operation.attributes["name"]).value
    if name not in exporter.weights:
        exporter.weights[name] = graph.weight(name, np.asarray(exporter.program.weights[name]))
    return [exporter.weights[name]]


@writes(om.Full)
def write_full(graph: Graph, op: WrittenOp):
    if not op.shape:
        return op.value
    if op.value.array is None:
        return graph.Expand(op.value, graph.vector(op.shape))
    return graph.ConstantOfShape(graph.vector(op.shape), value=op.value.array.reshape(1))


@writes(om.Iota)
def write_iota(graph: Graph, op: WrittenOp):
    size = op.size[0]
    if isinstance(size, int) and size <= 64:
        return graph.constant(np.arange(size), op.dtype)
    count = graph.Squeeze(as_value(graph, size), [0])
    return graph.cast(graph.Range(graph.constant(0, np.int64), count, graph.constant(1, np.int64)), op.dtype)
