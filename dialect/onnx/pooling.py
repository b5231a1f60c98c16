"""Writers of pooling. ONNX pools (batch, channels, *spatial); other leading axes are folded into these.

What MaxPool does with NaN the standard leaves open.
"""
from __future__ import annotations

import math

import numpy as np

from .. import dtypes
from ..ops import pooling as om
from .graph import Graph, Value
from .registry import Unwritable, writes
from .sizes import add, as_value, floor_quotient, maximum, minimum, multiply, product, subtract
from .written_op import WrittenOp


def _options(op: WrittenOp) -> dict:
    """Dilations only where there are some: onnxruntime fails to fuse a quantized AveragePool that has the attribute."""
    dilations = {"dilations": list(op.dilation)} if any(d != 1 for d in op.dilation) else {}
    return {"kernel_shape": list(op.kernel_size), "strides": list(op.stride), "pads": list(op.padding), "ceil_mode": op.ceil_mode, **dilations}


def _folded(graph: Graph, op: WrittenOp, x: Value) -> Value:
    """x with two axes before those that are pooled."""
    lead = op.x.rank - len(op.kernel_size)
    if lead == 2:
        return x
    if lead < 2:
        return graph.Unsqueeze(x, list(range(2 - lead)))
    sizes = graph.sizes(op.x)
    return graph.reshape(x, [product(graph, sizes[:lead - 1]), *sizes[lead - 1:]])


def _unfolded(graph: Graph, op: WrittenOp, y: Value) -> Value:
    lead = op.x.rank - len(op.kernel_size)
    if lead == 2:
        return y
    if lead < 2:
        return graph.Squeeze(y, list(range(2 - lead)))
    spatial = [graph.Shape(y, start=2)]
    return graph.Reshape(y, graph.node("Concat", [graph.vector(graph.sizes(op.x)[:lead]), *spatial], axis=0), allowzero=1)


def _poolable(graph: Graph, op: WrittenOp) -> Value:
    """x in a dtype that MaxPool takes and that holds its values exactly."""
    if op.x.dtype in (*dtypes.FLOATING, dtypes.int8, dtypes.uint8):
        return op.x
    if op.x.dtype.itemsize == 8:
        raise Unwritable(f"ONNX MaxPool does not take {op.x.dtype}")
    return graph.cast(op.x, np.float32 if op.x.dtype.itemsize < 4 else np.float64)


@writes(om.MaxPool)
def write_max_pool(graph: Graph, op: WrittenOp):
    y = graph.MaxPool(_folded(graph, op, _poolable(graph, op)), **_options(op))
    return graph.cast(_unfolded(graph, op, y), op.dtype)


@writes(om.MaxPoolWithIndices)
def write_max_pool_with_indices(graph: Graph, op: WrittenOp):
    """ONNX counts places in the whole tensor."""
    y, places = graph.MaxPool(_folded(graph, op, _poolable(graph, op)), outputs=2, **_options(op))
    spatial = product(graph, graph.sizes(op.x)[op.x.rank - len(op.kernel_size):])
    places = graph.Mod(places, as_value(graph, spatial))
    return graph.cast(_unfolded(graph, op, y), op.dtype), _unfolded(graph, op, places)


def _whole(graph: Graph, op: WrittenOp) -> Value:
    """x with its padding, and zeros for what the last windows lack, as elements."""
    rank, lead = len(op.kernel_size), op.x.rank - len(op.kernel_size)
    high = []
    for i, (size, low) in enumerate(zip(graph.sizes(op.x)[lead:], op.padding[:rank])):
        span, stride = (op.kernel_size[i] - 1) * op.dilation[i] + 1, op.stride[i]
        length = add(graph, size, low)
        beyond = add(graph, length, op.padding[rank + i] - span)
        last = multiply(graph, floor_quotient(graph, add(graph, beyond, stride - 1), stride), stride)
        last = minimum(graph, last, multiply(graph, floor_quotient(graph, add(graph, length, -1), stride), stride))  # a window starts inside
        high.append(maximum(graph, subtract(graph, add(graph, last, span), length), op.padding[rank + i]))
    return graph.Pad(op.x, graph.vector([*[0] * lead, *op.padding[:rank], *[0] * lead, *high]), graph.constant(np.zeros((), op.x.dtype)))


@writes(om.AvgPool)
def write_avg_pool(graph: Graph, op: WrittenOp):
    options = _options(op)
    if graph.opset < 19 and "dilations" in options:
        raise Unwritable(f"dilated AveragePool needs opset 19, found {graph.opset}")
    include, x = op.count_include_pad or op.divisor is not None, op.x
    if op.divisor is not None and op.ceil_mode:  # AveragePool divides partial windows by their own count: they are made whole
        x, options = _whole(graph, op), options | {"ceil_mode": 0, "pads": [0] * (2 * len(op.kernel_size))}
    y = graph.AveragePool(_folded(graph, op, x), count_include_pad=include, **options)
    if op.divisor is not None:
        y = graph.Mul(y, math.prod(op.kernel_size) / op.divisor)
    return _unfolded(graph, op, y)
