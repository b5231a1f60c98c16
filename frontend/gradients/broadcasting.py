"""Gradients of broadcast operands, and other things about shapes that all families need. Sizes may be symbolic."""
from __future__ import annotations

from ...dialect.declare import Elementwise
from ...errors import OnemlirError
from ..ops.declared import declared as ops
from ..ops.shape import sizes
from ..tensor import Tensor


def summed_to(gradient: Tensor, shape: tuple) -> Tensor:
    """The sum over the axes along which a tensor of `shape` was broadcast to the gradient's shape."""
    found = sizes(gradient)
    extra = len(found) - len(shape)
    axes = tuple(range(extra)) + tuple(i + extra for i, size in enumerate(shape) if isinstance(size, int) and size == 1 and found[i + extra] != 1)
    if not axes:
        return gradient
    gradient = ops.sum(gradient, axis=axes, keepdims=True)
    return ops.reshape(gradient, shape=shape) if extra else gradient


def fitted(node, gradient: Tensor, operand: Tensor) -> Tensor:
    """What a rule returned with the operand's dtype and shape."""
    if Elementwise in node.op.traits:
        gradient = summed_to(gradient, sizes(operand))
        if sizes(gradient) != sizes(operand):
            gradient = ops.broadcast_to(gradient, shape=sizes(operand))
    if gradient._node is None and operand._node is None and gradient.shape != operand.shape:
        raise OnemlirError(f"the gradient rule of {node.op.opname} gives shape {gradient.shape} for an operand of shape {operand.shape}")
    return gradient.astype(operand.dtype)


def zeros_like(x: Tensor) -> Tensor:
    """Zeros of x's shape and dtype."""
    return zeros(sizes(x), x.dtype)


def zeros(shape: tuple, dtype) -> Tensor:
    """Zeros of a shape whose sizes may be symbolic."""
    return ops.full(Tensor._wrap(dtype.type(0).reshape(())), shape=shape)


def with_axes(gradient: Tensor, x: Tensor, axes: tuple[int, ...], keepdims: bool) -> Tensor:
    """The gradient of a reduction of x over `axes` with those axes back, of size 1."""
    if keepdims:
        return gradient
    return ops.reshape(gradient, shape=tuple(1 if i in axes else size for i, size in enumerate(sizes(x))))


def spread(gradient: Tensor, x: Tensor, axes: tuple[int, ...], keepdims: bool) -> Tensor:
    """The gradient of a reduction of x repeated over the axes that were reduced."""
    return ops.broadcast_to(with_axes(gradient, x, axes, keepdims), shape=sizes(x))


def move(x: Tensor, source: int, destination: int) -> Tensor:
    """x with one axis at another place."""
    order = [i for i in range(x.ndim) if i != source]
    order.insert(destination, source)
    return x if order == list(range(x.ndim)) else ops.transpose(x, axes=tuple(order))
