"""Products of matrices."""
from __future__ import annotations

from ... import ops
from ..dtypes import is_floating
from ..registry import handles
from .elementwise import apply_binary
from .values import as_dtype, promoted


@handles("linear", "F.linear")
def linear(input, weight, bias=None):
    if not is_floating(input.dtype):
        product = ops.matmul(input, ops.swapaxes(weight, -1, -2) if weight.ndim > 1 else weight)
        return product if bias is None else product + bias
    return ops.linear(input, weight, bias)


@handles("matmul", "mm", "bmm", "mv", "dot", "linalg_matmul", "F.matmul", "vdot")
def matmul(input, other):
    return ops.matmul(*promoted(input, other))


@handles("inner")
def inner(input, other):
    return ops.inner(input, other)


@handles("outer", "ger")
def outer(input, vec2):
    return apply_binary("multiply", *promoted(ops.expand_dims(input, 1), vec2))


@handles("addmm")
def addmm(input, mat1, mat2, beta=1, alpha=1):
    return _weighted(input, beta, ops.matmul(mat1, mat2), alpha)


@handles("addmv")
def addmv(input, mat, vec, beta=1, alpha=1):
    return addmm(input, mat, vec, beta, alpha)


@handles("baddbmm")
def baddbmm(input, batch1, batch2, beta=1, alpha=1):
    return addmm(input, batch1, batch2, beta, alpha)


@handles("addbmm")
def addbmm(input, batch1, batch2, beta=1, alpha=1):
    return _weighted(input, beta, ops.sum(ops.matmul(batch1, batch2), axis=0), alpha)


@handles("addr")
def addr(input, vec1, vec2, beta=1, alpha=1):
    return _weighted(input, beta, outer(vec1, vec2), alpha)


def _weighted(input, beta, product, alpha):
    """beta * input + alpha * product in the tensors' dtype; with beta 0 the input counts for nothing, whatever it is."""
    times = lambda x, factor: x if isinstance(factor, (int, float)) and factor == 1 else apply_binary("multiply", x, as_dtype(factor, x.dtype))
    product = times(product, alpha)
    return product if isinstance(beta, (int, float)) and beta == 0 else apply_binary("add", *promoted(times(input, beta), product))


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
    rank = max(input.ndim, other.ndim)
    a, b = (ops.reshape(t, shape=(1,) * (rank - t.ndim) + tuple(t.shape)) for t in promoted(input, other))
    product = apply_binary("multiply", ops.expand_dims(a, tuple(range(1, 2 * rank, 2))), ops.expand_dims(b, tuple(range(0, 2 * rank, 2))))
    return ops.reshape(product, shape=tuple(m * n for m, n in zip(a.shape, b.shape)))


@handles("linalg_cross", "cross")
def cross(input, other, dim=-1):
    dim = -1 if dim is None else dim
    rolled = lambda x, by: ops.roll(x, by, dim)
    return rolled(input, -1) * rolled(other, -2) - rolled(input, -2) * rolled(other, -1)


@handles("cdist")
def cdist(x1, x2, p=2.0, compute_mode=None):
    return ops.norm(ops.expand_dims(x1, -2) - ops.expand_dims(x2, -3), ord=float(p), axis=-1)


@handles("F.pdist", "pdist")
def pdist(input, p=2.0):
    """The distances of all pairs of rows i < j, in the order of (i, j)."""
    size = input.shape[0]
    place = ops.arange(size * (size - 1) // 2)
    row = ops.arange(size)
    starts = ops.floor_divide(row * (row * -1 + (size * 2 - 1)), as_dtype(2, row.dtype))  # the first pair of each row
    i = ops.searchsorted(starts, place, right=True).astype("int64") - 1
    i = ops.where(i == size - 1, i - 1, i)  # the last row begins no pair
    j = place - ops.gather(starts, i, axis=0) + i + 1
    return ops.norm(ops.gather(input, i, axis=0) - ops.gather(input, j, axis=0), ord=float(p), axis=-1)


@handles("vander")
def vander(x, N=None, increasing=False):
    """Powers of each element, the highest first."""
    y = linalg_vander(x, N)
    return y if increasing else ops.flip(y, (-1,))


@handles("linalg_vander")
def linalg_vander(x, N=None):
    count = x.shape[-1] if N is None else N
    ones = ops.ones((*x.shape, 1), x.dtype)
    factors = ops.broadcast_to(ops.expand_dims(x, -1), shape=(*x.shape, count))
    return ops.cumprod(ops.concat([ones, factors], axis=-1), axis=-1, dtype=x.dtype)[..., :count]


@handles("F.grouped_mm", "_grouped_mm", "grouped_mm", "transformers.grouped_mm_fallback")
def grouped_mm(mat_a, mat_b, offs=None, bias=None, out_dtype=None):
    """Rows by the matrix of their group, row by row: a group ends before the row that `offs` gives; rows behind the last group are 0."""
    if offs is None or mat_a.ndim != 2 or mat_b.ndim != 3 or bias is not None or out_dtype is not None:
        return NotImplemented
    rows, groups = mat_a.shape[0], mat_b.shape[0]
    group = ops.searchsorted(offs, ops.arange(rows).astype(offs.dtype), right=True).astype("int64")
    inside = group < groups

    def step(_, row):
        x, place = row
        return _, ops.matmul(x, ops.gather(mat_b, place, axis=0))

    _, y = ops.scan(step, ops.zeros((), mat_a.dtype), (mat_a, ops.minimum(group, as_dtype(groups - 1, group.dtype))))
    return ops.where(ops.expand_dims(inside, 1), y, as_dtype(0, y.dtype))
