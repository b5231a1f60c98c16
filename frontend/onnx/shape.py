"""Operators that move elements: reshape, transpose, slice, pad, and the like."""
from __future__ import annotations

import numpy as np

from ...dialect import dtypes, symbolic
from ...dialect.shapes import broadcast_shapes, normalize_axis
from ...dialect.symbolic import Dim
from ...errors import FormatError
from ..ops.declared import declared as om
from ..ops.indexing import slice_range
from ..ops.joining import split
from ..ops.repeating import pad as pad_tensor, tile
from ..ops.shape import expand_dims, moveaxis, slice_along
from ..ops.space_depth import depth_to_space, pixel_unshuffle, space_to_depth
from ..size_rules import literal
from ..symbolic_int import SymbolicInt
from ..tensor import Tensor
from .registry import reads


def sizes_of(x: Tensor) -> tuple:
    """Ints and symbolic sizes of a tensor."""
    return tuple(s.symbolic_size if isinstance(s, SymbolicInt) else s for s in x.shape)


@reads("Reshape", since=5)
def read_reshape(node, ops):
    if not node.is_known(1):
        return _reshape_by_data(node, ops)
    return _reshaped(node, node.sizes(1), bool(node.int("allowzero", 0)))


@reads("Reshape")
def read_reshape_attribute(node, ops):
    return _reshaped(node, node.ints_attribute("shape"), False)


def _reshaped(node, shape, allow_zero: bool):
    source = node.shape(0)
    if not allow_zero:
        shape = [source[i] if isinstance(s, int) and s == 0 else s for i, s in enumerate(shape)]
    minus = [i for i, s in enumerate(shape) if isinstance(s, int) and s == -1]
    if len(minus) == 1 and 0 in shape and symbolic.product(source) == 0:
        shape[minus[0]] = symbolic.floordiv(symbolic.product(s for s in source if s != 0), symbolic.product(s for s in shape if s not in (0, -1)))
    return om.reshape(node.tensor(0), shape=tuple(shape))


def _reshape_by_data(node, ops):
    """The shape is data: zeros copy a size, one -1 takes what is left."""
    source, elements = node.shape(0), node.elements(1)
    if not node.int("allowzero", 0):
        elements = [ops.where(e == 0, _size_tensor(source[i]), e) if i < len(source) else e for i, e in enumerate(elements)]
    total = _size_tensor(symbolic.product(source))
    known = Tensor._wrap(np.asarray(1, np.int64))
    for e in elements:
        known = known * ops.where(e == -1, 1, e)
    rest = ops.floor_divide(total, known)
    return ops.reshape(node.tensor(0), shape=tuple(node.recorder.size_of_tensor(ops.where(e == -1, rest, e)) for e in elements))


def _size_tensor(size) -> Tensor:
    from .values import _scalar

    return _scalar(size)


@reads("Flatten")
def read_flatten(node, ops):
    shape, axis = node.shape(0), node.int("axis", 1)
    axis = axis + len(shape) if axis < 0 else axis
    return ops.reshape(node.tensor(0), shape=(symbolic.product(shape[:axis]), symbolic.product(shape[axis:])))


@reads("Transpose")
def read_transpose(node, ops):
    return ops.transpose(node.tensor(0), axes=node.ints_attribute("perm"))


def axes_of(node, number: int = 1):
    """Axes, given by an attribute or (later versions) an input; None when neither is there."""
    return node.ints(number) if node.has(number) else node.ints_attribute("axes")


@reads("Squeeze")
def read_squeeze(node, ops):
    from ..ops.shape import squeeze

    axes = axes_of(node)
    return squeeze(node.tensor(0), _axes_of_one(node) if axes is None else tuple(axes))


def _axes_of_one(node) -> tuple[int, ...]:
    """The axes of size 1. A symbolic size counts as another one, which is checked on every run: the rank follows from it."""
    shape = node.shape(0)
    for axis, size in enumerate(shape):
        if symbolic.equal(size, 1) is None:
            node.recorder.guard_size("ne", size, 1, literal(f"{node}: axis {axis} has one element and would be left out; the model was read for others"))
    return tuple(axis for axis, size in enumerate(shape) if symbolic.equal(size, 1) is True)


@reads("Unsqueeze")
def read_unsqueeze(node, ops):
    axes = axes_of(node)
    if axes is None:
        raise FormatError("'axes' are missing")
    return expand_dims(node.tensor(0), tuple(axes))


@reads("Expand")
def read_expand(node, ops):
    x, source, target = node.tensor(0), node.shape(0), tuple(node.sizes(1))
    if node.is_known(1):
        return ops.broadcast_to(x, shape=broadcast_shapes(source, target, what="the shapes"))
    rank = max(len(source), len(target))
    source, target = (1,) * (rank - len(source)) + source, (1,) * (rank - len(target)) + target
    shape = tuple(b if a == 1 else a if isinstance(a, int) else symbolic.broadcast(a, b) for a, b in zip(source, target))
    return ops.broadcast_to(x, shape=shape)


@reads("Tile", since=6)
def read_tile(node, ops):
    repeats = node.sizes(1, node.rank(0))
    x = node.tensor(0)
    if all(isinstance(r, int) for r in repeats):
        return tile(x, repeats)
    shape = node.shape(0)
    wide = ops.broadcast_to(ops.reshape(x, shape=tuple(s for size in shape for s in (1, size))),
                            shape=tuple(s for r, size in zip(repeats, shape) for s in (r, size)))
    return ops.reshape(wide, shape=tuple(r * size for r, size in zip(repeats, shape)))


@reads("Concat")
def read_concat(node, ops):
    return ops.concat(node.tensors(), axis=node.int("axis", 1 if node.version < 4 else 0))


@reads("Split")
def read_split(node, ops):
    x, axis = node.tensor(0), node.int("axis", 0)
    parts = node.sizes(1, node.output_count) if node.has(1) else node.ints_attribute("split")
    count = node.steps(node.int("num_outputs", node.output_count), "the parts")
    if parts is not None:
        return split(x, [s if isinstance(s, int) else SymbolicInt(s, node.recorder) for s in parts], axis)
    size = node.shape(0)[normalize_axis(axis, x.ndim)]
    part = symbolic.floordiv(size + (count - 1), count)
    parts = [part] * (count - 1) + [size - part * (count - 1)]
    result, start = [], 0
    for part in parts:
        result.append(slice_along(x, axis, start, part))
        start = start + part
    return tuple(result)


@reads("Slice")
def read_slice_attributes(node, ops):
    starts, ends, axes = (node.ints_attribute(name) for name in ("starts", "ends", "axes"))
    return _sliced(node, starts, ends, axes if axes is not None else range(len(starts)), [1] * len(starts))


@reads("Slice", since=10)
def read_slice(node, ops):
    if not (node.is_known(1) and node.is_known(2)):
        return _slice_by_data(node, ops)
    starts, ends = node.sizes(1), node.sizes(2)
    axes = node.ints(3) if node.has(3) else range(len(starts))
    return _sliced(node, starts, ends, axes, node.ints(4) if node.has(4) else [1] * len(starts))


def _sliced(node, starts, ends, axes, steps):
    shape = list(node.shape(0))
    firsts, strides = [0] * len(shape), [1] * len(shape)
    for start, end, axis, step in zip(starts, ends, axes, steps):
        axis = normalize_axis(axis, len(shape))
        stop = _stop(end, shape[axis], step)
        if step < 0 and isinstance(start, int) and start < -1:  # unlike Python's, such a start is the first element at least
            start = symbolic.maximum(shape[axis] + _bound(start), 0)
        firsts[axis], shape[axis], strides[axis] = slice_range(slice(_bound(start), stop, step), shape[axis])
    return om.slice(node.tensor(0), starts=tuple(firsts), shape=tuple(shape), steps=tuple(strides))


FAR = 10**9  # bounds from here on stand for an end of the axis: so exporters write them


def _bound(value):
    return value if isinstance(value, Dim) else max(min(value, FAR), -FAR)


def _stop(end, size, step: int):
    """The end of a slice as Python says it: nothing where it lies beyond the axis."""
    if isinstance(end, Dim):
        return None if step > 0 and symbolic.less_equal(size, end) else end
    if step > 0 and end >= FAR or step < 0 and (end <= -FAR or isinstance(size, int) and end < -size):
        return None
    return end


def _slice_by_data(node, ops):
    """Starts and ends are data: both are clamped, the number of elements becomes a size."""
    count = next((n for i in (3, 4, 1, 2) if node.has(i) for n in node.shape(i) if isinstance(n, int)), None)
    starts, ends = node.elements(1, count), node.elements(2, count)
    axes = node.ints(3) if node.has(3) else list(range(len(starts)))
    steps = node.ints(4) if node.has(4) else [1] * len(starts)
    x = node.tensor(0)
    for start, end, axis, step in zip(starts, ends, axes, steps):
        x = _slice_axis(node, ops, x, normalize_axis(axis, x.ndim), start, end, step)
    return x


def _slice_axis(node, ops, x, axis: int, start, end, step: int):
    size = sizes_of(x)[axis]
    length = _size_tensor(size)
    low, high = (0, length) if step > 0 else (-1, length - 1)
    first, last = (ops.minimum(ops.maximum(ops.where(v < 0, v + length, v), least), high) for v, least in ((start, 0), (end, low)))
    span = (last - first + (step - 1)) if step > 0 else (first - last + (-step - 1))
    count = node.recorder.size_of_tensor(ops.floor_divide(span, abs(step)))
    places = ops.maximum(first, 0) + ops.iota(size=(count,)) * step
    return ops.gather(x, places, axis=axis)


_MODES = {"constant": "constant", "reflect": "reflect", "edge": "edge", "wrap": "wrap"}


@reads("Pad", since=11)
def read_pad(node, ops):
    value = node.tensor(2) if node.has(2) else None
    rank = node.rank(0)
    if not node.is_known(1):
        return _pad_by_data(node, ops, value)
    pads = node.sizes(1)
    axes = [normalize_axis(a, rank) for a in node.ints(3)] if node.has(3) else list(range(rank))
    low, high = [0] * rank, [0] * rank
    for i, axis in enumerate(axes):
        low[axis], high[axis] = pads[i], pads[i + len(axes)]
    return _padded(node, ops, low, high, value)


@reads("Pad")
def read_pad_attributes(node, ops):
    pads, rank = node.ints_attribute("pads", node.ints_attribute("paddings")), node.rank(0)
    return _padded(node, ops, pads[:rank], pads[rank:], Tensor._wrap(np.asarray(node.float("value", 0.0), np.float32)).astype(node.value(0).dtype))


def _padded(node, ops, low, high, value):
    x, mode = node.tensor(0), node.text("mode", "constant")
    if value is not None and value.ndim:
        value = ops.reshape(value, shape=())
    return ops.pad(x, value, low=tuple(low), high=tuple(high), mode=_MODES[mode])


def _pad_by_data(node, ops, value):
    if node.text("mode", "constant") != "constant":
        node.array(1)
    rank = node.rank(0)
    axes = [normalize_axis(a, rank) for a in node.ints(3)] if node.has(3) else list(range(rank))
    elements = node.elements(1, 2 * len(axes))
    x = node.tensor(0)
    zero = Tensor._wrap(np.asarray(0, np.int64))
    low, high = [0] * rank, [0] * rank
    for i, axis in enumerate(axes):
        before, after = elements[i], elements[i + len(axes)]
        length = _size_tensor(sizes_of(x)[axis])
        x = _slice_axis(node, ops, x, axis, ops.maximum(-before, zero), ops.maximum(length - ops.maximum(-after, zero), zero), 1)
        low[axis], high[axis] = node.recorder.size_of_tensor(before), node.recorder.size_of_tensor(after)
    fill = Tensor._wrap(np.zeros((), x.dtype)) if value is None else ops.reshape(value, shape=())
    return ops.pad_constant(x, fill, low=tuple(low), high=tuple(high))


@reads("DepthToSpace")
def read_depth_to_space(node, ops):
    return depth_to_space(node.tensor(0), node.int("blocksize"), node.text("mode", "DCR"))


@reads("SpaceToDepth")
def read_space_to_depth(node, ops):
    block = node.int("blocksize")
    return (pixel_unshuffle if node.text("mode", "DCR") == "CRD" else space_to_depth)(node.tensor(0), block)


@reads("Trilu")
def read_trilu(node, ops):
    x, (*_, rows, columns) = node.tensor(0), node.shape(0)
    k = node.tensor(1).reshape(()) if node.has(1) and node.rank(1) else node.tensor(1) if node.has(1) else 0
    row = ops.reshape(ops.iota(size=(rows,)), shape=(rows, 1))
    column = ops.reshape(ops.iota(size=(columns,)), shape=(1, columns))
    distance = column - row
    kept = distance >= k if node.int("upper", 1) else distance <= k
    return ops.where(kept, x, Tensor._wrap(np.zeros((), x.dtype)))


@reads("ReverseSequence")
def read_reverse_sequence(node, ops):
    """Along the time axis the first `lens` elements of each sample are reversed."""
    time, batch = node.int("time_axis", 0), node.int("batch_axis", 1)
    x, lengths = node.tensor(0), node.tensor(1)
    y = moveaxis(x, (batch, time), (0, 1))
    steps = ops.iota(size=(sizes_of(y)[1],))
    lengths = ops.reshape(lengths, shape=(-1, 1))
    places = ops.where(steps < lengths, lengths - 1 - steps, steps)
    index = ops.reshape(places, shape=(*sizes_of(places), *[1] * (y.ndim - 2)))
    index = ops.broadcast_to(index, shape=sizes_of(y))
    return moveaxis(ops.take_along_axis(y, index, axis=1), (0, 1), (batch, time))


__all__ = ["sizes_of", "axes_of", "dtypes", "pad_tensor"]
