"""Lowerings of matrix products."""
from __future__ import annotations

from mlir import ir

from ...dialect.ops.linear_algebra import Matmul
from ...dialect.shapes import TensorType
from .builder import compute_dtype, PARALLEL, REDUCTION
from .reduction import converted
from .registry import lowers, TensorValue
from .scalar import Scalar


@lowers(Matmul)
def matmul(build, op):
    x, y = as_matrix(build, op.x, left=True), as_matrix(build, op.y, left=False)
    wide = compute_dtype(op.result.dtype)
    x, y = converted(build, x, wide), converted(build, y, wide)
    batch = op.result.shape[:op.result.rank - (op.x.rank > 1) - (op.y.rank > 1)]
    type = TensorType(batch + (x.shape[-2], y.shape[-1]), wide)
    product = TensorValue(multiply(build, x, y, type), type)
    flat = op.result.with_dtype(wide)
    product = TensorValue(build.reshape(product.value, type, flat), flat)
    return converted(build, product, op.result.dtype).value


def as_matrix(build, x: TensorValue, left: bool) -> TensorValue:
    """A vector as a row (left operand) or a column."""
    if x.rank > 1:
        return x
    type = x.type.with_shape((1, *x.shape) if left else (*x.shape, 1))
    return TensorValue(build.reshape(x.value, x.type, type), type)


def multiply(build, x: TensorValue, y: TensorValue, result: TensorType) -> ir.Value:
    """Batched product with broadcast batch axes; iteration space (batch..., m, n, k)."""
    rank = result.rank
    dims = [ir.AffineExpr.get_dim(i) for i in range(rank + 1)]

    def mapping(operand: TensorValue, last) -> ir.AffineMap:
        offset = rank - operand.rank
        batch = [ir.AffineExpr.get_constant(0) if size == 1 and result.shape[axis + offset] != 1 else dims[axis + offset]
                 for axis, size in enumerate(operand.shape[:-2])]
        return ir.AffineMap.get(rank + 1, 0, [*batch, *last])

    scalar = Scalar(build, result.dtype)
    m, n, k = dims[rank - 2], dims[rank - 1], dims[rank]
    return build.generic(
        [x.value, y.value], [mapping(x, (m, k)), mapping(y, (k, n))], result,
        lambda a, b, c: scalar.sum(c, scalar.product(a, b)),
        init=build.filled(result, scalar.const(0)),
        output_map=ir.AffineMap.get(rank + 1, 0, dims[:rank]),
        iterators=[PARALLEL] * rank + [REDUCTION], kernel="matmul")
