"""The op as a function of tensors, eager and recorded."""
from __future__ import annotations

from onemlir.frontend.dispatch import call

from .ops import Swiglu


def swiglu(x, gate, beta: float = 1.0):
    """x * gate * sigmoid(beta * gate)."""
    return call(Swiglu, (x, gate), {"beta": beta})
