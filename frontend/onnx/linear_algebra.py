"""Matrix products."""
from __future__ import annotations

import numpy as np

from ...dialect import dtypes
from ..ops.declared import declared as om
from ..ops.linear_algebra import einsum
from ..tensor import Tensor
from .quantization import of_words, one, zero_point
from .registry import reads


@reads("MatMul")
def read_matmul(node, ops):
    return ops.matmul(node.tensor(0), node.tensor(1))


def _transposed(x: Tensor) -> Tensor:
    return om.transpose(x, axes=(1, 0))


@reads("Gemm")
def read_gemm(node, ops):
    """alpha * op(A) @ op(B) + beta * C."""
    a, b, c = node.tensor(0), node.tensor(1), node.optional(2)
    alpha, beta = node.float("alpha", 1.0), node.float("beta", 1.0)
    a = _transposed(a) if node.int("transA", 0) else a
    plain_bias = c is None or (c.ndim == 1 and beta == 1 and node.shape(2) == node.shape(1)[:1])
    if node.int("transB", 0) and alpha == 1 and plain_bias and a.dtype in dtypes.FLOATING:
        return ops.linear(a, b, c)
    y = ops.matmul(a, _transposed(b) if node.int("transB", 0) else b)
    y = y if alpha == 1 else _scaled(y, alpha)
    if c is None or beta == 0:
        return y
    return y + (c if beta == 1 else _scaled(c, beta))


def _scaled(x: Tensor, factor: float) -> Tensor:
    return (x * factor).astype(x.dtype)


@reads("Einsum")
def read_einsum(node, ops):
    return einsum(node.text("equation").replace(" ", ""), *node.tensors())


@reads("MatMulInteger")
def read_matmul_integer(node, ops):
    return matmul_of_integers(node.tensor(0), node.tensor(1), zero_point(node, 2), zero_point(node, 3))


def matmul_of_integers(a: Tensor, b: Tensor, a_zero: Tensor | None, b_zero: Tensor | None) -> Tensor:
    """(a - a_zero) @ (b - b_zero) in i32; zero points: one, or one a row of a and one a column of b."""
    return om.matmul_integer(a, b, None if a_zero is None else _rows(a_zero), b_zero)


def _rows(parameter: Tensor) -> Tensor:
    """A scale or zero point of each row as a column."""
    return om.reshape(parameter, shape=(-1, 1)) if parameter.ndim == 1 else parameter


@reads("QLinearMatMul")
def read_qlinear_matmul(node, ops):
    """round((a - a_zero) @ (b - b_zero) * (a_scale * b_scale / y_scale)) + y_zero, saturated."""
    a, a_scale, _, b, b_scale, _, y_scale, y_zero = node.tensors()
    product = matmul_of_integers(a, b, zero_point(node, 2), zero_point(node, 5))
    factor = _rows(a_scale).astype(dtypes.float32) * b_scale.astype(dtypes.float32) / y_scale.astype(dtypes.float32)
    if one(y_zero).ndim == 0:
        return of_words(product, factor, one(y_zero))
    limits = np.iinfo(y_zero.dtype)
    rounded = ops.round(product.astype(dtypes.float32) * factor) + y_zero.astype(dtypes.float32)
    return ops.minimum(ops.maximum(rounded, float(limits.min)), float(limits.max)).astype(y_zero.dtype)


@reads("Det")
def read_det(node, ops):
    """The determinant by elimination without exchange of rows for 1, by its formula for 2 and 3 rows."""
    size = node.shape(0)[-1]
    if not isinstance(size, int) or not 1 <= size <= 4:
        node.refuse(f"determinants of matrices of up to 4 rows can be read, found {size}")
    return _determinant(node.tensor(0), list(range(size)), 0)


def _determinant(x: Tensor, columns: list[int], row: int):
    """Laplace's expansion along a row."""
    if not columns:
        return Tensor(1.0, x.dtype)
    total = None
    for i, column in enumerate(columns):
        rest = [c for c in columns if c != column]
        term = x[..., row, column] if not rest else x[..., row, column] * _determinant(x, rest, row + 1)
        total = term if total is None else total + term if i % 2 == 0 else total - term
    return total
