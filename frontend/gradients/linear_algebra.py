"""Gradients of matrix products."""
from __future__ import annotations

from ...dialect import symbolic
from ...dialect.ops import linear_algebra as om
from ..ops.declared import declared as ops
from ..ops.shape import sizes
from .broadcasting import summed_to
from .registry import gradient_of


@gradient_of(om.Matmul)
def matmul(call, gradient):
    x, y = call.x, call.y
    row, column = x.ndim == 1, y.ndim == 1
    left = ops.reshape(x, shape=(1, *sizes(x))) if row else x
    right = ops.reshape(y, shape=(*sizes(y), 1)) if column else y
    shape = sizes(gradient) if not column else (*sizes(gradient), 1)
    shape = shape if not row else (*shape[:-1], 1, *shape[-1:])
    gradient = gradient if shape == sizes(gradient) else ops.reshape(gradient, shape=shape)
    by_x = by_y = None
    if call.needs("x"):
        by_x = summed_to(ops.matmul(gradient, right.mT), sizes(left))
        by_x = ops.reshape(by_x, shape=sizes(x)) if row else by_x
    if call.needs("y"):
        by_y = _by_right(left, right, gradient)
        by_y = ops.reshape(by_y, shape=sizes(y)) if column else by_y
    return by_x, by_y


def _by_right(left, right, gradient):
    """One product of all rows where the right matrix has no batch."""
    if right.ndim == 2 and left.ndim > 2:
        return ops.matmul(rows_of(left).T, rows_of(gradient))
    return summed_to(ops.matmul(left.mT, gradient), sizes(right))


def rows_of(x):
    """x as a matrix of its last axis."""
    shape = sizes(x)
    return x if len(shape) == 2 else ops.reshape(x, shape=(symbolic.product(shape[:-1]), shape[-1]))


@gradient_of(om.Linear)
def linear(call, gradient):
    by_weight = ops.matmul(rows_of(gradient).T, rows_of(call.x)) if call.needs("weight") else None
    by_bias = ops.sum(gradient, axis=tuple(range(gradient.ndim - 1))) if call.needs("bias") else None
    return ops.matmul(gradient, call.weight) if call.needs("x") else None, by_weight, by_bias
