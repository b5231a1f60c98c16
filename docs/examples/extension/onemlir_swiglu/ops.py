"""The declaration: what the op is."""
from __future__ import annotations

import numpy as np

from onemlir.dialect.declare import Attr, Composite, Floating, Op, Operand, Pure, Result
from onemlir.dialect.shapes import broadcast_shapes


class Swiglu(Op):
    """x * gate / (1 + exp(-beta * gate)). Source: Shazeer 2020, GLU Variants Improve Transformer."""

    namespace = "swiglu"
    opname = "gate"
    x: Operand[Floating, "T"]
    gate: Operand[Floating, "T"]
    beta: Attr[float] = 1.0
    result: Result
    traits = (Pure, Composite)

    def infer(x, gate, beta):
        return x.with_shape(broadcast_shapes(x.shape, gate.shape, what="swiglu: shapes"))

    def reference(x, gate, beta):
        with np.errstate(over="ignore"):
            return (x * (gate / (1 + np.exp(-beta * gate)))).astype(x.dtype)
