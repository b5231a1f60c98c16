"""Gradients of ops that make values."""
from __future__ import annotations

from ...dialect.ops import constant as om
from ..ops.declared import declared as ops
from .registry import gradient_of


@gradient_of(om.Full)
def full(call, gradient):
    return ops.sum(gradient)
