"""Writers of linear quantization."""
from __future__ import annotations

import numpy as np

from ..ops import quantization as om
from .graph import Graph, Value
from .registry import Unwritable, writes
from .written_op import WrittenOp

BLOCKS = 21  # the opset with 16-bit integers, blocks and an explicit output dtype


def _parameter(graph: Graph, value: Value | None) -> Value | None:
    """Scale or zero point; of one element it is that of the whole tensor."""
    return graph.reshape(value, []) if value is not None and value.shape == (1,) else value


def _options(graph: Graph, op: WrittenOp) -> dict:
    if op.block_size and graph.opset < BLOCKS:
        raise Unwritable(f"blocks need opset {BLOCKS}, found {graph.opset}")
    return {"axis": op.axis if op.scale.rank else None, "block_size": op.block_size or None}


@writes(om.QuantizeLinear)
def write_quantize_linear(graph: Graph, op: WrittenOp):
    options = _options(graph, op)
    zero_point = _parameter(graph, op.zero_point)
    if zero_point is None and graph.opset >= BLOCKS:
        options["output_dtype"] = op.dtype
    elif zero_point is None and op.dtype != np.uint8:
        raise Unwritable(f"quantizing to {op.dtype} without a zero point needs opset {BLOCKS}, found {graph.opset}")
    return graph.QuantizeLinear(graph.cast(op.x, op.scale.dtype), _parameter(graph, op.scale), zero_point, **options)


@writes(om.DequantizeLinear)
def write_dequantize_linear(graph: Graph, op: WrittenOp):
    return graph.DequantizeLinear(op.x, _parameter(graph, op.scale), _parameter(graph, op.zero_point), **_options(graph, op))


@writes(om.DequantizedLinear)
def write_dequantized_linear(graph: Graph, op: WrittenOp):
    if graph.opset < BLOCKS:
        raise Unwritable(f"blocks need opset {BLOCKS}, found {graph.opset}")
    numbers = op.weight if op.bits == 8 else graph.BitwiseAnd(op.weight, graph.constant(np.uint8(15)))
    weight = graph.DequantizeLinear(numbers, op.scale, op.zero_point, axis=1, block_size=op.block_size)
    x = op.x if op.x_scale is None else graph.DequantizeLinear(op.x, op.x_scale, None, axis=-1, block_size=op.block_size)
    return graph.MatMul(x, graph.Transpose(weight, perm=[1, 0]))
