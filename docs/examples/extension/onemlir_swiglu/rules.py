"""What the compiler does with the op: how it is lowered and written to ONNX, where it comes from, and a pass and a target of one's own."""
from __future__ import annotations

import dataclasses

from onemlir.dialect import walk
from onemlir.dialect.onnx.registry import writes
from onemlir.dialect.ops.activation import Silu
from onemlir.dialect.ops.elementwise import Multiply
from onemlir.lowering import register_pass
from onemlir.lowering.decompositions import decomposes
from onemlir.lowering.om.patterns import rewrites
from onemlir.lowering.targets import AVX2, TARGETS

from .ops import Swiglu


@decomposes(Swiglu)
def swiglu(ops, x, gate, beta):
    """In ops that have a lowering."""
    return x * (gate * ops.sigmoid(gate * beta))


@writes(Swiglu)
def write_swiglu(graph, op):
    """In ONNX's operators."""
    gated = op.gate if op.beta == 1 else graph.Mul(op.gate, graph.constant(op.beta, op.dtype))
    return graph.Mul(op.x, graph.Mul(op.gate, graph.Sigmoid(gated)))


@rewrites(Multiply)
def fuse_swiglu(op, rewriter):
    """x * silu(g), where nothing else uses silu(g), is one op."""
    for silu, x in (op.operands, reversed(op.operands)):
        found = rewriter.producer(silu, Silu)
        if found is not None and rewriter.single_use(silu):
            return rewriter.call("swiglu.gate", rewriter.node(x), rewriter.node(found.operand("x")), beta=1.0)
    return None


@register_pass("swiglu-set-beta", after="om-simplify")
def set_beta(module, beta: float = 1.0):
    """Set beta of every swiglu.gate, when it is not 1."""
    from mlir import ir

    if beta == 1:
        return
    for op in walk(module):
        if op.declaration is Swiglu:
            op.operation.attributes["beta"] = ir.FloatAttr.get(ir.F64Type.get(), beta)


# A processor that LLVM knows and onemlir has no table for: four rows leave registers for its slower loads.
TARGETS["narrow"] = dataclasses.replace(AVX2, name="narrow", rows=4)
