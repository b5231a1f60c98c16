"""Lowerings of convolutions: those of floats as a kernel takes them (`convolution_kernel`), others as products over windows of an explicitly
padded input.

Iteration space of the latter: (n, group, channel out, *out, channel in, *kernel), without the group where there is one group. The maps tell
stride and dilation.
"""
from __future__ import annotations

from typing import Sequence

from mlir import ir
from mlir.dialects import arith

from ...dialect import dtypes
from ...dialect.ops import convolution as om
from ...dialect.shapes import TensorType
from . import convolution_kernel
from .builder import compute_dtype, element_type, PARALLEL, REDUCTION
from .reduction import converted
from .registry import lowers, TensorValue
from .scalar import Scalar


@lowers(om.Conv)
def conv(build, op):
    if convolution_kernel.takes(op):
        return convolution_kernel.kernel_conv(build, op)
    wide, rank = compute_dtype(op.result.dtype), len(op.stride)
    x, weight = converted(build, op.x, wide), converted(build, op.weight, wide)
    low, high = op.padding[:rank], op.padding[rank:]
    sizes = (size + a + b for size, a, b in zip(x.shape[2:], low, high))
    padded = x.type.with_shape((*x.shape[:2], *sizes))
    x = TensorValue(build.pad(x, (0, 0, *low), padded, build.constant(0, wide)), padded)
    result = op.result.with_dtype(wide)
    y = correlate(build, x, weight, op.bias, result, op.stride, op.dilation, op.groups)
    return converted(build, TensorValue(y, result), op.result.dtype).value


def correlate(build, x: TensorValue, weight: TensorValue, bias, result: TensorType, stride, dilation, groups: int) -> ir.Value:
    """The windows of the padded x times the weight, plus bias."""
    scalar = Scalar(build, result.dtype)
    x, weight = _grouped(build, x, 1, groups), _grouped(build, weight, 0, groups)
    grouped = result.with_shape(_split(result.shape, 1, groups))
    maps, iterators = _maps(grouped.rank, stride, dilation, groups > 1)
    y = build.generic([x.value, weight.value], maps[:2], grouped, lambda a, b, c: scalar.sum(c, scalar.product(a, b)),
                      init=build.filled(grouped, scalar.const(0)), output_map=maps[2], iterators=iterators)
    return build.reshape(_with_bias(build, y, bias, grouped, groups), grouped, result)


def _split(shape: Sequence, axis: int, groups: int) -> tuple:
    """The shape with an axis split into groups."""
    return tuple(shape) if groups == 1 else (*shape[:axis], groups, shape[axis] // groups, *shape[axis + 1:])


def _grouped(build, x: TensorValue, axis: int, groups: int) -> TensorValue:
    type = x.type.with_shape(_split(x.shape, axis, groups))
    return TensorValue(build.reshape(x.value, x.type, type), type, x.constant)


def _maps(rank: int, stride, dilation, grouped: bool) -> tuple[list[ir.AffineMap], list[str]]:
    """Indexing maps of input, weight and output, and the iterator types. `rank`: of the (grouped) output."""
    spatial = len(stride)
    loops = rank + 1 + spatial
    dims = [ir.AffineExpr.get_dim(i) for i in range(loops)]
    out, channel, kernel = dims[rank - spatial:rank], dims[rank], dims[rank + 1:]
    window = [p * s + k * d for p, s, k, d in zip(out, stride, kernel, dilation)]
    group = dims[1:2] if grouped else []
    output_channel = dims[2 if grouped else 1]
    maps = [[dims[0], *group, channel, *window], [*group, output_channel, channel, *kernel], dims[:rank]]
    return [ir.AffineMap.get(loops, 0, m) for m in maps], [PARALLEL] * rank + [REDUCTION] * (1 + spatial)


def _with_bias(build, y: ir.Value, bias: TensorValue | None, result: TensorType, groups: int) -> ir.Value:
    """y plus one number for each channel."""
    if bias is None:
        return y
    bias = _grouped(build, converted(build, bias, result.dtype), 0, groups)
    channel = [ir.AffineExpr.get_dim(1 + i) for i in range(bias.rank)]
    maps = [ir.AffineMap.get_identity(result.rank), ir.AffineMap.get(result.rank, 0, channel)]
    return build.generic([y, bias.value], maps, result, lambda a, b, _: Scalar(build, result.dtype).add(a, b))


@lowers(om.ConvTranspose)
def conv_transpose(build, op):
    """A convolution with stride 1 of x spread out by the stride, with the kernel reversed and its channels swapped."""
    if convolution_kernel.takes(op):
        return convolution_kernel.kernel_conv(build, op)
    wide, result = compute_dtype(op.result.dtype), op.result.with_dtype(compute_dtype(op.result.dtype))
    x, weight = converted(build, op.x, wide), converted(build, op.weight, wide)
    rank, kernel = len(op.stride), weight.shape[2:]
    reach = [d * (k - 1) for d, k in zip(op.dilation, kernel)]
    spread = x.type.with_shape((*x.shape[:2], *(size + r for size, r in zip(result.shape[2:], reach))))
    first = [r - low for r, low in zip(reach, op.padding[:rank])]
    spread = TensorValue(_spread(build, x, spread, first, op.stride), spread)
    reversed_ = _reverse_kernel(build, weight, op.groups)
    y = correlate(build, spread, reversed_, op.bias, result, (1,) * rank, op.dilation, op.groups)
    return converted(build, TensorValue(y, result), op.result.dtype).value


def _spread(build, x: TensorValue, type: TensorType, first: Sequence[int], stride: Sequence[int]) -> ir.Value:
    """Zeros with x at every stride-th place from `first`; what falls outside is left out."""
    zero = build.constant(0, x.dtype)

    def element(*indices):
        inside, places = _source_places(build, x, indices[2:], first, stride)
        return build.choose(inside, element_type(x.dtype), lambda: build.read(x, [*indices[:2], *places]), lambda: zero)
    return build.gather(type, element)


def _source_places(build, x: TensorValue, indices, first, stride) -> tuple[ir.Value, list[ir.Value]]:
    """Where in x the element at `indices` comes from, and whether it comes from x at all."""
    inside, places = build.constant(1, dtypes.bool_), []
    compare = lambda sign, a, b: arith.CmpIOp(getattr(arith.CmpIPredicate, sign), a, b).result
    zero = build.const_index(0)
    for axis, (index, start, step) in enumerate(zip(indices, first, stride), 2):
        offset = arith.SubIOp(index, build.const_index(start)).result
        place = arith.FloorDivSIOp(offset, build.const_index(step)).result
        exact = compare("eq", arith.MulIOp(place, build.const_index(step)).result, offset)
        extent = build.extent(x.shape[axis])
        for fact in (exact, compare("sge", place, zero), compare("slt", place, extent)):
            inside = arith.AndIOp(inside, fact).result
        places.append(place)
    return inside, places


def _reverse_kernel(build, weight: TensorValue, groups: int) -> TensorValue:
    """(c_in, c_out / groups, *kernel) as (c_out, c_in / groups, *reversed kernel)."""
    inputs, outputs, kernel = weight.shape[0] // groups, weight.shape[1], weight.shape[2:]
    type = weight.type.with_shape((groups * outputs, inputs, *kernel))

    def element(channel, inner, *taps):
        count = build.size(outputs)
        group = arith.DivUIOp(channel, count).result
        source = arith.AddIOp(arith.MulIOp(group, build.size(inputs)).result, inner).result
        back = [arith.SubIOp(build.const_index(k - 1), t).result for k, t in zip(kernel, taps)]
        return build.read(weight, [source, arith.RemUIOp(channel, count).result, *back])
    return TensorValue(build.gather(type, element), type)
