"""Writers of normalizations. ONNX's operators demand scale and shift; where they are left out they are ones and zeros."""
from __future__ import annotations

import numpy as np

from ..ops import normalization as om
from .graph import Graph, Value
from .registry import Unwritable, writes
from .written_op import WrittenOp


def filled(graph: Graph, given: Value | None, value: float, shape, dtype) -> Value:
    """The operand, or where it is left out a literal of the given shape."""
    if given is not None:
        return given
    if not all(isinstance(size, int) for size in shape):
        raise Unwritable(f"without a weight the sizes {tuple(map(str, shape))} must be fixed")
    return graph.constant(np.full(shape, value), dtype)


@writes(om.LayerNorm)
def write_layer_norm(graph: Graph, op: WrittenOp):
    weight = filled(graph, op.weight, 1, op.x.shape[-op.axes_count:], op.dtype)
    return graph.LayerNormalization(op.x, weight, op.bias, axis=-op.axes_count, epsilon=op.eps)


@writes(om.RmsNorm, since=23)
def write_rms_norm(graph: Graph, op: WrittenOp):
    weight = filled(graph, op.weight, 1, op.x.shape[-op.axes_count:], op.dtype)
    return graph.RMSNormalization(op.x, weight, axis=-op.axes_count, epsilon=_epsilon(op))


@writes(om.RmsNorm)
def write_rms_norm_of_parts(graph: Graph, op: WrittenOp):
    wide = np.dtype(np.float64 if op.dtype == np.float64 else np.float32)
    x = graph.cast(op.x, wide)
    mean = graph.ReduceMean(graph.Mul(x, x), list(range(op.x.rank - op.axes_count, op.x.rank)), keepdims=1)
    y = graph.Div(x, graph.Sqrt(graph.Add(mean, _epsilon(op))))
    return graph.cast(y if op.weight is None else graph.Mul(y, graph.cast(op.weight, wide)), op.dtype)


def _epsilon(op: WrittenOp) -> float:
    return float(np.finfo(np.float64 if op.dtype == np.float64 else np.float32).eps) if op.eps is None else op.eps


@writes(om.BatchNorm)
def write_batch_norm(graph: Graph, op: WrittenOp):
    weight = filled(graph, op.weight, 1, op.x.shape[1:2], op.dtype)
    bias = filled(graph, op.bias, 0, op.x.shape[1:2], op.dtype)
    return graph.BatchNormalization(op.x, weight, bias, op.mean, op.var, epsilon=op.eps)


@writes(om.GroupNorm, since=21)
def write_group_norm(graph: Graph, op: WrittenOp):
    weight = filled(graph, op.weight, 1, op.x.shape[1:2], op.dtype)
    bias = filled(graph, op.bias, 0, op.x.shape[1:2], op.dtype)
    return graph.GroupNormalization(op.x, weight, bias, epsilon=op.eps, num_groups=op.num_groups)


@writes(om.InstanceNorm)
def write_instance_norm(graph: Graph, op: WrittenOp):
    weight = filled(graph, op.weight, 1, op.x.shape[1:2], op.dtype)
    bias = filled(graph, op.bias, 0, op.x.shape[1:2], op.dtype)
    return graph.InstanceNormalization(op.x, weight, bias, epsilon=op.eps)


@writes(om.LocalResponseNorm)
def write_local_response_norm(graph: Graph, op: WrittenOp):
    if op.size % 2 == 0:
        raise Unwritable("ONNX's LRN places windows of even size differently")
    return graph.LRN(op.x, size=op.size, alpha=op.alpha, beta=op.beta, bias=op.k)
