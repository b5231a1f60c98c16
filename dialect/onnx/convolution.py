"""Writers of convolutions."""
from __future__ import annotations

import numpy as np

from .. import dtypes
from ..ops import convolution as om
from .graph import Graph, Value
from .registry import writes
from .written_op import WrittenOp

DOUBLE = np.dtype(np.float64)


def _options(op: WrittenOp) -> dict:
    return {"kernel_shape": list(op.weight.shape[2:]), "strides": list(op.stride), "pads": list(op.padding), "dilations": list(op.dilation),
            "group": op.groups}


@writes(om.Conv)
def write_conv(graph: Graph, op: WrittenOp):
    if op.dtype in (dtypes.int8, dtypes.uint8):
        total = graph.ConvInteger(op.x, op.weight, **_options(op))
        return graph.cast(_with_bias(graph, op, total), op.dtype)
    return _floating(graph, op, "Conv", _options(op))


@writes(om.ConvInteger)
def write_conv_integer(graph: Graph, op: WrittenOp):
    return graph.ConvInteger(op.x, op.weight, op.x_zero_point, op.weight_zero_point, **_options(op))


@writes(om.ConvTranspose)
def write_conv_transpose(graph: Graph, op: WrittenOp):
    return _floating(graph, op, "ConvTranspose", {**_options(op), "output_padding": list(op.output_padding)})


def _floating(graph: Graph, op: WrittenOp, op_type: str, options: dict) -> Value:
    """ONNX has these for floats: integers are computed in f64, exact to 2 ** 53."""
    if dtypes.is_floating(op.dtype):
        return graph.node(op_type, [op.x, op.weight, op.bias], **options)
    operands = [None if v is None else graph.cast(v, DOUBLE) for v in (op.x, op.weight, op.bias)]
    return graph.cast(graph.node(op_type, operands, **options), op.dtype)


def _with_bias(graph: Graph, op: WrittenOp, total: Value) -> Value:
    if op.bias is None:
        return total
    bias = graph.Unsqueeze(graph.cast(op.bias, total.dtype), list(range(1, len(op.stride) + 1)))
    return graph.Add(total, bias)
