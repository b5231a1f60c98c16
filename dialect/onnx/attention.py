"""Writers of attention. Where ONNX's operator gives NaN (a place that sees nothing) or is too narrow, it is decomposed."""
from __future__ import annotations

from ..ops import attention as om
from .graph import Graph
from .registry import Unwritable, writes
from .written_op import WrittenOp


@writes(om.Attention, since=23)
def write_attention(graph: Graph, op: WrittenOp):
    batches = {x.shape[:1] for x in (op.query, op.key, op.value)}
    heads = {x.shape[1:2] for x in (op.query, op.key, op.value)}
    if op.mask is not None or op.query.rank != 4 or op.key.rank != 4 or op.value.rank != 4 or len(batches) > 1 or (len(heads) > 1 and not op.enable_gqa):
        raise Unwritable("ONNX Attention takes (batch, heads, length, width), and masks after which every place sees something")
    return graph.Attention(op.query, op.key, op.value, is_causal=op.is_causal, scale=op.scale)
