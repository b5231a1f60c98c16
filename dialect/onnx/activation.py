"""Writers of activation functions."""
from __future__ import annotations

import math

from .. import dtypes
from ..ops import activation as om
from .elementwise import same
from .graph import Graph
from .registry import writes
from .written_op import WrittenOp

for _op, _op_type in ((om.Sigmoid, "Sigmoid"), (om.Prelu, "PRelu"), (om.HardSwish, "HardSwish"), (om.Mish, "Mish"), (om.Softsign, "Softsign")):
    writes(_op)(same(_op_type))


@writes(om.Relu)
def write_relu(graph: Graph, op: WrittenOp):
    if dtypes.is_unsigned(op.dtype):
        return op.x
    return graph.Max(op.x, 0) if op.dtype == dtypes.int64 else graph.Relu(op.x)  # onnxruntime has no Relu of i64


@writes(om.Relu6)
def write_relu6(graph: Graph, op: WrittenOp):
    return graph.Clip(op.x, 0, 6)


@writes(om.LeakyRelu)
def write_leaky_relu(graph: Graph, op: WrittenOp):
    return graph.LeakyRelu(op.x, alpha=op.negative_slope)


@writes(om.Elu)
def write_elu(graph: Graph, op: WrittenOp):
    return graph.Elu(op.x, alpha=op.alpha)


@writes(om.Selu)
def write_selu(graph: Graph, op: WrittenOp):
    return graph.Selu(op.x, alpha=op.alpha, gamma=op.scale)


@writes(om.Celu)
def write_celu(graph: Graph, op: WrittenOp):
    return graph.Celu(op.x, alpha=op.alpha)


@writes(om.Gelu, since=20)
def write_gelu(graph: Graph, op: WrittenOp):
    return graph.Gelu(op.x, approximate=op.approximate)


@writes(om.Gelu)
def write_gelu_of_parts(graph: Graph, op: WrittenOp):
    x = op.x
    if op.approximate == "tanh":
        cubic = graph.Mul(graph.Mul(graph.Mul(x, x), x), 0.044715)
        inner = graph.Tanh(graph.Mul(graph.Add(x, cubic), math.sqrt(2 / math.pi)))
    else:
        inner = graph.Erf(graph.Mul(x, math.sqrt(0.5)))
    return graph.Mul(graph.Mul(x, 0.5), graph.Add(inner, 1.0))


@writes(om.Silu)
def write_silu(graph: Graph, op: WrittenOp):
    return graph.Mul(op.x, graph.Sigmoid(op.x))


@writes(om.Silu, since=24)
def write_swish(graph: Graph, op: WrittenOp):
    return graph.Swish(op.x)


@writes(om.HardSigmoid)
def write_hard_sigmoid(graph: Graph, op: WrittenOp):
    return graph.HardSigmoid(op.x, alpha=op.alpha, beta=op.beta)


@writes(om.Softplus)
def write_softplus(graph: Graph, op: WrittenOp):
    """From a threshold of 20 on, log(1 + exp(z)) is z to f32."""
    scaled = op.x if op.beta == 1 else graph.Mul(op.x, op.beta)
    curve = graph.Softplus(scaled)
    curve = curve if op.beta == 1 else graph.Div(curve, op.beta)
    wide = op.threshold >= 20 and op.dtype != dtypes.float64
    return curve if wide else graph.Where(graph.Greater(scaled, op.threshold), op.x, curve)


@writes(om.Softmax)
def write_softmax(graph: Graph, op: WrittenOp):
    return graph.Softmax(op.x, axis=op.axis)


@writes(om.LogSoftmax)
def write_log_softmax(graph: Graph, op: WrittenOp):
    return graph.LogSoftmax(op.x, axis=op.axis)
