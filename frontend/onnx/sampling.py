"""Col2Im, RoiAlign, DeformConv: sums and samples at computed places."""
from __future__ import annotations

import numpy as np

from ...dialect import dtypes, symbolic
from ..ops.declared import declared as om
from ..ops.shape import slice_along, squeeze
from ..regions import build_for
from ..symbolic_int import size_of
from ..tensor import Tensor
from .registry import reads
from .shape import sizes_of


@reads("Col2Im")
def read_col2im(node, ops):
    """Columns (n, c * taps, positions) of blocks, added up where they overlap: (n, c, *image)."""
    image, block = node.ints(1), node.ints(2)
    rank = len(image)
    dilations, strides = (node.ints_attribute(name, (1,) * rank) for name in ("dilations", "strides"))
    pads = node.ints_attribute("pads", (0,) * (2 * rank))
    x = node.tensor(0)
    n, columns, _ = node.shape(0)
    full = [size + a + b for size, a, b in zip(image, pads[:rank], pads[rank:])]
    counts = [(f - d * (k - 1) - 1) // s + 1 for f, d, k, s in zip(full, dilations, block, strides)]
    taps, positions = np.indices(block).reshape(rank, -1), np.indices(counts).reshape(rank, -1)
    places = sum(((t[:, None] * d + p[None] * s) * int(np.prod(full[axis + 1:])) for axis, (t, p, d, s) in enumerate(zip(taps, positions, dilations, strides))),
                 np.zeros((taps.shape[1], positions.shape[1]), np.int64))
    channels = symbolic.floordiv(columns, taps.shape[1])
    rows = symbolic.mul(n, channels)
    values = ops.transpose(ops.reshape(x, shape=(rows, places.size)), axes=(1, 0))
    empty = ops.full(Tensor._wrap(np.zeros((), x.dtype)), shape=(int(np.prod(full)), rows))
    summed = ops.scatter_nd(empty, Tensor._wrap(places.reshape(-1, 1).astype(np.int64)), values, reduction="add")
    y = ops.reshape(ops.transpose(summed, axes=(1, 0)), shape=(n, channels, *full))
    return ops.slice(y, starts=(0, 0, *pads[:rank]), shape=(n, channels, *image), steps=(1,) * (rank + 2))


def bilinear(x: Tensor, batch: Tensor | None, rows: Tensor, columns: Tensor) -> tuple[list[Tensor], list[Tensor]]:
    """The four neighbours of places (p, ...) in x (n, c, h, w), each (p, ..., c), and their weights, zero outside of x."""
    height, width = sizes_of(x)[2:]
    last = om.transpose(x, axes=(0, 2, 3, 1))
    values, weights = [], []
    low_row, low_column = om.floor(rows), om.floor(columns)
    for i in range(2):
        for j in range(2):
            row, column = low_row + float(i), low_column + float(j)
            inside = om.logical_and(om.logical_and(row >= 0, row <= _number(height - 1, row)), om.logical_and(column >= 0, column <= _number(width - 1, row)))
            weight = (1.0 - om.abs(rows - row)) * (1.0 - om.abs(columns - column))
            weights.append(om.where(inside, weight, 0.0))
            place = [batch, _clamped(row, height), _clamped(column, width)]
            values.append(om.gather_nd(last, om.concat([om.reshape(p, shape=(*sizes_of(p), 1)) for p in place], axis=-1)))
    return values, weights


def _number(size, like: Tensor) -> Tensor:
    from .values import _scalar

    return _scalar(size).astype(like.dtype)


def _clamped(place: Tensor, size) -> Tensor:
    return om.minimum(om.maximum(place, 0.0), _number(size - 1, place)).astype(dtypes.int64)


def _spread(x: Tensor, before: int, after: int) -> Tensor:
    return om.reshape(x, shape=((1,) * before + sizes_of(x) + (1,) * after))


@reads("RoiAlign")
def read_roi_align(node, ops):
    """Means (or maxima) of `sampling_ratio` squared samples in each bin of each region of interest."""
    x, rois, batch = node.tensor(0), node.tensor(1), node.tensor(2).astype(dtypes.int64)
    height, width = node.int("output_height", 1), node.int("output_width", 1)
    ratio, scale = node.int("sampling_ratio", 0), node.float("spatial_scale", 1.0)
    half = node.text("coordinate_transformation_mode", "half_pixel" if node.version >= 16 else "output_half_pixel") == "half_pixel"
    if ratio < 1:
        return _adaptive_rois(node, x, rois, batch, height, width, scale, half)
    return _rois(node, x, rois, batch, height, width, ratio, ratio, scale, half)


def _adaptive_rois(node, x, rois, batch, height, width, scale, half):
    """Without a ratio each region has as many samples in a bin as the bin has pixels, so that the regions are computed one by one. A
    region without an extent has none: 0."""
    def pooled(number, spans: list, counts: list):
        y = _rois(node, x, slice_along(rois, 0, number, 1), slice_along(batch, 0, number, 1), height, width, *counts, scale, half)
        return om.where(om.logical_and(spans[0] > 0, spans[1] > 0), y, 0.0)

    def spans_of(box) -> list:
        spans = [(box[high] - box[low]) * scale for low, high in ((1, 3), (0, 2))]
        return spans if half else [om.maximum(span, 1.0) for span in spans]

    if node.value(1).array is not None:
        parts = []
        for number in range(node.shape(1)[0]):
            spans = spans_of(Tensor._wrap(node.array(1)[number]))
            parts.append(pooled(number, spans, [max(int(np.ceil(float(span) / n)), 1) for span, n in zip(spans, (height, width))]))
        return om.concat(parts, axis=0) if len(parts) != 1 else parts[0]

    def step(index, carried):
        place = size_of(index)
        spans = spans_of(om.reshape(slice_along(rois, 0, place, 1), shape=(4,)))
        counts = [om.maximum(om.ceil(span / float(n)), 1.0).astype(dtypes.int64) for span, n in zip(spans, (height, width))]
        return (), (squeeze(pooled(place, spans, list(map(node.recorder.size_of_tensor, counts))), 0),)

    return build_for(node.recorder, sizes_of(rois)[0], (), step)[1][0]


def _rois(node, x, rois, batch, height, width, rows, columns, scale, half):
    for samples in (rows, columns):
        if isinstance(samples, int):
            node.steps(samples * max(height, width), "the samples along an axis of a region")
    offset = 0.5 if half else 0.0
    x1, y1, x2, y2 = (om.reshape(slice_along(rois, 1, i, 1), shape=(-1,)) * scale - offset for i in range(4))
    tall, wide = y2 - y1, x2 - x1
    if not half:
        tall, wide = om.maximum(tall, 1.0), om.maximum(wide, 1.0)
    steps = lambda count, bins: _steps(count, bins, rois)
    place_y = _spread(y1, 0, 1) + _spread(tall, 0, 1) * steps(rows, height)
    place_x = _spread(x1, 0, 1) + _spread(wide, 0, 1) * steps(columns, width)
    count = sizes_of(rois)[0]
    grid = (count, height * rows, width * columns)
    place_y, place_x = (om.broadcast_to(_spread(p, 0, 1) if i == 0 else om.reshape(p, shape=(count, 1, width * columns)), shape=grid)
                        for i, p in enumerate((place_y, place_x)))
    sizes = sizes_of(x)[2:]
    outside = om.logical_or(om.logical_or(place_y < -1.0, place_y > _number(sizes[0], place_y)), om.logical_or(place_x < -1.0, place_x > _number(sizes[1], place_x)))
    clamp = lambda p, size: om.minimum(om.maximum(p, 0.0), _number(size - 1, p))
    batch = om.broadcast_to(om.reshape(batch, shape=(count, 1, 1)), shape=grid)
    values, weights = bilinear(x, batch, clamp(place_y, sizes[0]), clamp(place_x, sizes[1]))
    weights = [om.where(outside, 0.0, w) for w in weights]
    products = [v * _spread(w, 0, 1) for v, w in zip(values, weights)]
    channels = sizes_of(x)[1]
    binned = lambda t: om.reshape(t, shape=(count, height, rows, width, columns, channels))
    if node.text("mode", "avg") == "avg":
        total = products[0] + products[1] + products[2] + products[3]
        y = om.mean(binned(total), axis=(2, 4))
    else:
        top = om.maximum(om.maximum(products[0], products[1]), om.maximum(products[2], products[3]))
        y = om.max(binned(top), axis=(2, 4))
    return om.transpose(y, axes=(0, 3, 1, 2))


def _steps(count, bins: int, like: Tensor) -> Tensor:
    """Where `count` samples in each of `bins` bins lie, from 0 to 1."""
    if isinstance(count, int):
        return Tensor._wrap(((np.arange(bins)[:, None] + (np.arange(count)[None] + 0.5) / count) / bins).reshape(-1).astype(like.dtype))
    within = (om.iota(size=(count,)).astype(like.dtype) + 0.5) / _number(count, like)
    first = Tensor._wrap(np.arange(bins).astype(like.dtype).reshape(-1, 1))
    return om.reshape((first + om.reshape(within, shape=(1, count))) / float(bins), shape=(symbolic.mul(count, bins),))


@reads("DeformConv")
def read_deform_conv(node, ops):
    """Convolution whose taps are sampled at places moved by `offset`, and weighted by `mask`. Two spatial axes."""
    x, weight, offset, bias, mask = node.tensor(0), node.tensor(1), node.tensor(2), node.optional(3), node.optional(4)
    if x.ndim != 4:
        node.refuse(f"deformable convolutions over 2 spatial axes can be read, found {x.ndim - 2}")
    n, channels, height, width = sizes_of(x)
    outputs, _, kh, kw = sizes_of(weight)
    groups, parts = node.int("group", 1), node.int("offset_group", 1)
    strides, dilations = (node.ints_attribute(name, (1, 1)) for name in ("strides", "dilations"))
    pads = node.ints_attribute("pads", (0, 0, 0, 0))
    out_h, out_w = sizes_of(offset)[2:]
    taps = kh * kw
    moved = ops.reshape(offset, shape=(n, parts, taps, 2, out_h, out_w))
    base = lambda count, stride, low, size: np.arange(count) * stride - low
    if not all(isinstance(s, int) for s in (out_h, out_w, n, channels)):
        node.needs_size(0, "deformable convolutions need fixed sizes")
    tap_y, tap_x = (t.reshape(taps, 1, 1) for t in np.meshgrid(np.arange(kh) * dilations[0], np.arange(kw) * dilations[1], indexing="ij"))
    start = [Tensor._wrap((tap_y + base(out_h, strides[0], pads[0], height)[None, :, None]).astype(x.dtype)),
             Tensor._wrap((tap_x + base(out_w, strides[1], pads[1], width)[None, None, :]).astype(x.dtype))]
    place = [ops.reshape(slice_along(moved, 3, i, 1), shape=(n * parts, taps, out_h, out_w)) + start[i] for i in range(2)]
    grouped = ops.reshape(x, shape=(n * parts, channels // parts, height, width))
    number = ops.broadcast_to(ops.reshape(ops.iota(size=(n * parts,)), shape=(n * parts, 1, 1, 1)), shape=(n * parts, taps, out_h, out_w))
    values, weights = bilinear(grouped, number, *place)
    sampled = None
    for value, w in zip(values, weights):
        term = value * _spread(w, 0, 1)
        sampled = term if sampled is None else sampled + term
    if mask is not None:
        sampled = sampled * _spread(ops.reshape(mask, shape=(n * parts, taps, out_h, out_w)), 0, 1)
    columns = ops.reshape(ops.transpose(sampled, axes=(0, 4, 1, 2, 3)), shape=(n, groups, channels // groups * taps, out_h * out_w))
    rows = ops.reshape(weight, shape=(groups, outputs // groups, channels // groups * taps))
    y = ops.reshape(ops.matmul(rows, columns), shape=(n, outputs, out_h, out_w))
    return y if bias is None else y + ops.reshape(bias, shape=(outputs, 1, 1))
