"""Lowerings of matrix products. Weights are packed into the panels that the kernels stream, once, when a session is made."""
from __future__ import annotations

from typing import Callable, NamedTuple, Sequence

from mlir import ir
from mlir.dialects import arith

from ...dialect import dtypes
from ...dialect.ops.linear_algebra import Linear, Matmul
from ...dialect.shapes import broadcast_shapes, TensorType
from ...dialect.symbolic import product
from ..kernels.pack import packed_shape, panel_width
from ..kernels.pair_matmul import PAIR
from ..targets import host
from . import matrix_unit
from .builder import compute_dtype, element_type, PARALLEL, REDUCTION
from .reduction import converted
from .registry import lowers, TensorValue
from .scalar import Scalar
from .shared_operands import rows_together


@lowers(Matmul)
def matmul(build, op):
    x, y = as_matrix(build, op.x, left=True), as_matrix(build, op.y, left=False)
    wide = compute_dtype(op.result.dtype)
    x, y = operands(build, x, y, wide)
    x, shared = rows_together(build, x, y)
    batch = broadcast_shapes(x.shape[:-2], y.shape[:-2 - shared])
    type = TensorType(batch + (x.shape[-2], y.shape[-1]), wide)
    product = TensorValue(multiply(build, x, y, type, shared=shared), type)
    flat = op.result.with_dtype(wide)
    product = TensorValue(build.reshape(product.value, type, flat), flat)
    return converted(build, product, op.result.dtype).value


@lowers(Linear)
def linear(build, op):
    wide = compute_dtype(op.result.dtype)
    x, weight = operands(build, as_matrix(build, op.x, left=True), op.weight, wide)
    type = TensorType(x.shape[:-1] + weight.shape[:1], wide)
    product = TensorValue(multiply(build, x, weight, type, columns=True), type)
    if op.bias is not None:
        bias, scalar = converted(build, op.bias, wide), Scalar(build, wide)
        product = TensorValue(build.elementwise([product, bias], type, scalar.add), type)
    flat = op.result.with_dtype(wide)
    return converted(build, TensorValue(build.reshape(product.value, type, flat), flat), op.result.dtype).value


def operands(build, x: TensorValue, y: TensorValue, wide) -> tuple[TensorValue, TensorValue]:
    """x and y as the product reads them."""
    return (x, y) if has_pairs(x, y) else (converted(build, x, wide), right_operand(build, y, wide))


def has_pairs(x: TensorValue, y: TensorValue) -> bool:
    """Whether the processor sums products of pairs: of bf16 by a weight, an even number of them."""
    steps = x.shape[-1]
    bf16 = x.dtype == y.dtype == dtypes.bfloat16
    return host().pair_products and bf16 and is_packed(y) and isinstance(steps, int) and steps > 0 and steps % PAIR == 0


def right_operand(build, y: TensorValue, wide) -> TensorValue:
    """y as the product reads it: a weight that is packed keeps its dtype and is widened as it is multiplied; the matrix unit takes f32."""
    return y if is_packed(y) and not host().matrix_unit else converted(build, y, wide)


def as_matrix(build, x: TensorValue, left: bool) -> TensorValue:
    """A vector as a row (left operand) or a column."""
    if x.rank > 1:
        return x
    type = x.type.with_shape((1, *x.shape) if left else (*x.shape, 1))
    return TensorValue(build.reshape(x.value, x.type, type), type, x.constant)


def multiply(build, x: TensorValue, y: TensorValue, result: TensorType, columns: bool = False, packed: ir.Value | None = None, shared: int = 0) -> ir.Value:
    """Batched product with broadcast batch axes; iteration space (batch..., m, n, k). With `columns`, y is (..., n, k).

    shared: axes of size 1 before y's matrix that the other shapes do not have.
    packed: what `pack_weight` has made of y, where that was done outside of a loop.
    """
    rank = result.rank
    dims = [ir.AffineExpr.get_dim(i) for i in range(rank + 1)]
    m, n, k = dims[rank - 2], dims[rank - 1], dims[rank]
    inputs = [x.value, y.value]
    kernel, prepared = ("matmul", [packed]) if packed is not None else prepared_operands(build, x, y, columns)
    maps = [_access(x, (m, k), result), _access(y, (n, k) if columns else (k, n), result, shared)]
    maps += [ir.AffineMap.get(rank + 1, 0, [ir.AffineExpr.get_constant(0)] * ir.RankedTensorType(v.type).rank) for v in prepared]
    scalar = Scalar(build, result.dtype)
    product = lambda a, b, *rest: scalar.sum(rest[-1], scalar.product(build.widen(a, x.dtype), build.widen(b, y.dtype)))
    return build.generic(
        inputs + prepared, maps, result, product, init=build.filled(result, scalar.const(0)),
        output_map=ir.AffineMap.get(rank + 1, 0, dims[:rank]), iterators=[PARALLEL] * rank + [REDUCTION], kernel={"name": kernel})


def prepared_operands(build, x: TensorValue, y: TensorValue, columns: bool) -> tuple[str, list[ir.Value]]:
    """The kernel for a product, and the forms of its operands that the kernel reads."""
    if has_pairs(x, y):
        return "pair_matmul", [pack_pairs(build, y, columns)]
    if not matrix_unit.has_parts(x, y):
        packed = pack_weight(build, y, columns)
        return "matmul", [] if packed is None else [packed]
    parts = [matrix_unit.left_parts(build, x), matrix_unit.right_parts(build, y, columns)]
    few = matrix_unit.may_lack_rows(product(x.shape[:-1]))
    return "split_matmul", parts + [pack_weight(build, y, columns)] * few


def _access(operand: TensorValue, last: Sequence, result: TensorType, shared: int = 0) -> ir.AffineMap:
    """The operand's indexing map: its batch axes follow the result's, those of size 1 stay at 0, as do the `shared` ones before its matrix."""
    own = operand.shape[:operand.rank - 2 - shared]
    offset = result.rank - 2 - len(own)
    zero = ir.AffineExpr.get_constant(0)
    batch = [zero if size == 1 and result.shape[axis + offset] != 1 else ir.AffineExpr.get_dim(axis + offset) for axis, size in enumerate(own)]
    return ir.AffineMap.get(result.rank + 1, 0, [*batch, *[zero] * shared, *last])


def is_packed(weight: TensorValue) -> bool:
    """Whether a right operand is packed once: a constant matrix of floats, of fixed sizes."""
    known = all(isinstance(s, int) and s > 0 for s in weight.shape)
    return weight.constant and weight.rank == 2 and dtypes.is_floating(weight.dtype) and known


class Place(NamedTuple):
    """A column of the panels of a right operand: that of a lane of a panel, which has `width` columns."""

    panel: ir.Value
    width: int
    lane: ir.Value


def of_column(build, place: Place, count: int, read: Callable[[ir.Value], ir.Value], dtype) -> ir.Value:
    """What is read of a column; 0 beyond the last of `count`."""
    column = arith.AddIOp(arith.MulIOp(place.panel, build.const_index(place.width)).result, place.lane).result
    inside = arith.CmpIOp(arith.CmpIPredicate.ult, column, build.const_index(count)).result
    value = read(arith.MinUIOp(column, build.const_index(count - 1)).result)
    return arith.SelectOp(inside, value, build.constant(0, dtype)).result


def pack_weight(build, weight: TensorValue, columns: bool) -> ir.Value | None:
    """A constant matrix (k, n), or (n, k) with `columns`, as panels [n / width][k][width] padded with zeros; None where that has no use."""
    if not is_packed(weight):
        return None
    k, n = reversed(weight.shape) if columns else weight.shape
    panels, depth, width = packed_shape(k, n, element_type(weight.dtype))

    def element(panel, step, lane):
        read = lambda column: build.read(weight, [column, step] if columns else [step, column])
        return of_column(build, Place(panel, width, lane), n, read, weight.dtype)

    return build.gather(weight.type.with_shape((panels, depth, width)), element, kernel={"name": "pack_b", "transposed": columns})


def pack_pairs(build, weight: TensorValue, columns: bool) -> ir.Value:
    """A bf16 weight (k, n), or (n, k) with `columns`, as panels [n / width][k / 2][width] of words: two steps of a column, the first lower.
    """
    k, n = reversed(weight.shape) if columns else weight.shape
    width = panel_width(n, ir.F32Type.get())

    def element(panel, step, lane):
        def pair(column):
            def half(number):
                at = arith.AddIOp(arith.MulIOp(step, build.const_index(PAIR)).result, build.const_index(number)).result
                return build.read(weight, [column, at] if columns else [at, column])
            return word_of(build, half(0), half(1))
        return of_column(build, Place(panel, width, lane), n, pair, dtypes.int32)

    return build.gather(TensorType((-(-n // width), k // PAIR, width), dtypes.int32), element)


def word_of(build, lower: ir.Value, upper: ir.Value) -> ir.Value:
    """The bits of two bf16 as a word."""
    short, word = ir.IntegerType.get_signless(16), ir.IntegerType.get_signless(32)
    low, high = (arith.ExtUIOp(word, arith.BitcastOp(short, value).result).result for value in (lower, upper))
    return arith.OrIOp(low, arith.ShLIOp(high, build.constant(16, dtypes.int32)).result).result
