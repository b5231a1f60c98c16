"""Products of matrices."""
from __future__ import annotations

from ... import ops
from ..registry import handles
from .values import promoted


@handles("linear", "F.linear")
def linear(input, weight, bias=None):
    return ops.linear(input, weight, bias)


@handles("matmul", "mm", "bmm", "mv", "dot", "linalg_matmul", "F.matmul", "vdot")
def matmul(input, other):
    return ops.matmul(*promoted(input, other))


@handles("inner")
def inner(input, other):
    return ops.inner(input, other)


@handles("outer", "ger")
def outer(input, vec2):
    return ops.outer(input, vec2)


@handles("addmm", "addmv", "baddbmm")
def addmm(input, mat1, mat2, beta=1, alpha=1):
    product = ops.matmul(mat1, mat2)
    product = product if alpha == 1 else product * alpha
    return product if beta == 0 else product + (input if beta == 1 else input * beta)


@handles("addbmm")
def addbmm(input, batch1, batch2, beta=1, alpha=1):
    product = ops.sum(ops.matmul(batch1, batch2), axis=0) * alpha
    return product if beta == 0 else product + input * beta


@handles("addr")
def addr(input, vec1, vec2, beta=1, alpha=1):
    return input * beta + ops.outer(vec1, vec2) * alpha


@handles("einsum")
def einsum(equation, *operands):
    operands = operands[0] if len(operands) == 1 and isinstance(operands[0], (tuple, list)) else operands
    return ops.einsum(equation, *operands)


@handles("tensordot")
def tensordot(a, b, dims=2):
    return ops.tensordot(a, b, axes=dims if isinstance(dims, int) else tuple(tuple(d) for d in dims))


@handles("F.bilinear", "bilinear")
def bilinear(input1, input2, weight, bias=None):
    left = ops.einsum("...i,kij->...kj", input1, weight)
    y = ops.sum(left * ops.expand_dims(input2, -2), axis=-1)
    return y if bias is None else y + bias


@handles("linalg_multi_dot", "chain_matmul")
def multi_dot(*tensors):
    tensors = tensors[0] if isinstance(tensors[0], (tuple, list)) else tensors
    y = tensors[0]
    for t in tensors[1:]:
        y = ops.matmul(y, t)
    return y


@handles("kron")
def kron(input, other):
    product = ops.expand_dims(input, tuple(range(1, 2 * input.ndim, 2))) * ops.expand_dims(other, tuple(range(0, 2 * other.ndim, 2)))
    return ops.reshape(product, shape=tuple(a * b for a, b in zip(input.shape, other.shape)))


@handles("linalg_cross", "cross")
def cross(input, other, dim=-1):
    dim = -1 if dim is None else dim
    rolled = lambda x, by: ops.roll(x, by, dim)
    return rolled(input, -1) * rolled(other, -2) - rolled(input, -2) * rolled(other, -1)


@handles("cdist")
def cdist(x1, x2, p=2.0, compute_mode=None):
    return ops.norm(ops.expand_dims(x1, -2) - ops.expand_dims(x2, -3), ord=float(p), axis=-1)
