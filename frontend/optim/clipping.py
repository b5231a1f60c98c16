"""Limits on gradients."""
from __future__ import annotations

from typing import Iterable

import numpy as np

from .. import ops
from ...dialect.structure import flatten, rebuild
from ...errors import OnemlirError
from ..autograd import grad_mode
from ..tensor import Tensor


def _with_gradients(parameters) -> list[Tensor]:
    return [p for p in ([parameters] if isinstance(parameters, Tensor) else parameters) if p.grad is not None]


def clip_grad_norm_(parameters: Tensor | Iterable[Tensor], max_norm: float, norm_type: float = 2.0, error_if_nonfinite: bool = False) -> Tensor:
    """Scale the gradients by max_norm / (norm + 1e-6) where their common norm is larger; returns the norm before. Source: torch."""
    chosen = _with_gradients(parameters)
    if not chosen:
        return Tensor(0.0)
    with grad_mode(False):
        norms = [ops.norm(p.grad, ord=norm_type) for p in chosen]
        total = norms[0] if len(norms) == 1 else ops.norm(ops.stack(norms), ord=norm_type)
        if error_if_nonfinite and not np.isfinite(float(total)):
            raise OnemlirError(f"the norm of the gradients is {float(total)}")
        factor = ops.minimum(max_norm / (total + 1e-6), 1.0)
        for p in chosen:
            p.grad = (p.grad * factor).astype(p.dtype)
    return total


def clip_grad_value_(parameters: Tensor | Iterable[Tensor], clip_value: float) -> None:
    """Limit each element of the gradients to [-clip_value, clip_value]. Source: torch."""
    with grad_mode(False):
        for p in _with_gradients(parameters):
            p.grad = ops.clip(p.grad, -clip_value, clip_value)


def clip_by_global_norm(gradients, max_norm: float):
    """`clip_grad_norm_` as a function: the scaled gradients, in their structure, and the norm before. Works on recorded tensors."""
    leaves: list = []
    structure = flatten(gradients, lambda v: isinstance(v, Tensor), leaves)
    tensors = [t for _, t in leaves]
    total = 0.0
    for t in tensors:
        total = total + ops.sum(ops.square(t))
    norm = ops.sqrt(total)
    factor = ops.minimum(max_norm / (norm + 1e-6), 1.0)
    return rebuild(structure, [(t * factor).astype(t.dtype) for t in tensors]), norm
