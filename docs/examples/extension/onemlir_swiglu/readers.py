"""An ONNX operator in a domain of one's own, read as the op."""
from __future__ import annotations

from onemlir.frontend.onnx import reads

from .functions import swiglu


@reads("Gate", domain="com.example.swiglu")
def read_gate(node, ops):
    """Gate(x, gate; beta=1)."""
    return swiglu(node.tensor(0), node.tensor(1), beta=node.float("beta", 1.0))
