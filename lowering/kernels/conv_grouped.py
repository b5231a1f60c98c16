"""Depthwise and grouped convolution with few channels a group, NHWC.

A vector of filters holds several whole groups, whose channels lie together in one vector of the input, or two. A tile is several pixels of
a row, so that an input pixel, once loaded, serves every output pixel that it is a tap of. Where a group has several channels or filters,
each channel of the group is one shuffle of what was loaded.
"""

import math

from mlir.dialects import arith, vector

from . import build as b
from .conv_pixels import PlaneTaps, spatial, whole_phase
from .conv_taps import Taps, up_to
from .pack import accumulator_type
from .place import Place, finish

PIXELS = 7
"""Pixels of a tile: with taps of three, 19 vectors; 7 divides the rows of most images."""


class GroupedConvolution:
    def __init__(self, x, filter, y, shape, epilogue, target, rolled=False):
        self.x, self.filter, self.y, self.shape, self.epilogue, self.rolled = x, filter, y, shape, epilogue, rolled
        self.accumulator = accumulator_type(b.element_type(x))
        self.lanes = target.lanes(b.bits(self.accumulator))
        self.kind = b.vector_type(self.lanes, self.accumulator)
        *planes, height, width = spatial(x, "nhwc")
        phase = whole_phase(shape, spatial(y, "nhwc"))
        self.size, self.out = (height, width), phase.out
        self.depth = phase.depth and PlaneTaps(phase.depth, planes[0])
        self.taps = Taps(shape.axes(), self.size, self.out)
        self.channels = shape.channels // shape.groups
        self.span = self.lanes // shape.per_group * self.channels
        """Channels that a vector of filters needs."""

    def emit(self):
        images, planes = b.dim(self.x, 0), self.depth.out if self.depth else 1
        b.parallel(b.mul(b.mul(images, planes), self.out[0]), lambda chunk: self._row(*b.split(chunk, images, planes, self.out[0])))

    def _row(self, image, plane, y):
        self.image, self.plane, self.source, self.tap_plane = image, plane, [], []
        self.end = None if b.known(self.out[1]) and b.known(self.size[1]) else self.out[1]
        self.stash = b.stack((PIXELS, self.lanes), self.accumulator) if self.rolled else None
        rows = self.taps.tap_rows(y)
        self.taps.columns(0, self.end, PIXELS, lambda x, size, taps: self._tiles(y, rows, x, size, taps))

    def _tiles(self, y, rows, x, size, taps):
        """All vectors of filters of a tile of pixels."""
        lanes, filters = self.lanes, self.shape.filters
        whole = filters // lanes * lanes
        b.loop(0, whole, lanes, lambda first: self._tile(y, rows, x, size, taps, first), rolled=True)
        if whole < filters:
            self._tile(y, rows, x, size, taps, whole)

    def _tile(self, y, rows, x, size, taps, first):
        def tap_plane(kz, *sums):
            self.source, self.tap_plane = self.depth.places(self.plane, kz) if self.depth else ([], [])
            return b.loop(*rows, 1, lambda ky, *sums: self._tap_row(y, ky, x, list(sums), taps, first), sums, rolled=True)

        planes = self.depth.taps_of(self.plane) if self.depth else (0, 1)
        sums = b.loop(*planes, 1, tap_plane, [b.zero(self.kind)] * size, rolled=True)
        mask = b.mask_first(self.shape.filters - first, self.lanes) if b.known(first) else None

        def put(p, vec):
            column, there = b.add(x, p), mask
            if self.end is not None and not (b.known(p) and p < size - 1):
                column, there = up_to(self.end, column, mask, self.lanes)
            at = (self.image, *([self.plane] if self.depth else []), y, column, first)
            finish(vec, Place(at, len(at) - 1, self.lanes, there), self.y, at, self.epilogue)

        for p, vec in enumerate(sums):
            b.store_vector(vec, self.stash, [p, 0]) if self.rolled else put(p, vec)
        if self.rolled:
            b.loop(0, size, 1, lambda p: put(p, b.load_vector(self.stash, [p, 0], self.lanes)), rolled=True)

    def _tap_row(self, y, ky, x, sums, taps, first):
        row, along = self.taps.input_row(y, ky), self.taps.axes[1]
        pixels = {}
        for kx in range(along.taps):
            users = [p for p in range(len(sums)) if taps[p][kx] is not False]
            weights = [self._weights(ky, kx, i, first) for i in range(self.channels)] if users else []
            for p in users:
                inside, offset = taps[p][kx], p * along.stride + kx * along.spacing
                if inside is None:
                    inside = self.taps.column_inside(x, p, kx, len(sums))
                if offset not in pixels:
                    pixels[offset] = self._pixel(row, self._column(x, offset, inside), first)
                result = sums[p]
                for vec, weight in zip(pixels[offset], weights):
                    result = b.multiply_add(vec, weight, result)
                sums[p] = result if inside is True else arith.select(b.mask_all(inside, self.lanes), result, sums[p])
        return sums

    def _column(self, x, offset, inside):
        along = self.taps.axes[1]
        column = b.add(b.mul(x, along.stride), offset + along.start)
        return column if inside is True else b.minimum(b.maximum(column, 0), b.sub(self.size[1], 1))

    def _weights(self, ky, kx, channel, first):
        return b.widen(b.load_vector(self.filter, [*self.tap_plane, ky, kx, channel, first], self.lanes), self.accumulator)

    def _pixel(self, row, column, first):
        """For each channel of a group, the vector that holds it for each filter of the vector."""
        lanes, per_group = self.lanes, self.shape.per_group
        start = b.mul(b.div(first, per_group), self.channels)
        parts = [self._part(row, column, start, offset) for offset in range(0, self.span, lanes)]
        if self.channels == per_group == 1:
            return parts
        both = parts if len(parts) == 2 else parts * 2
        return [vector.shuffle(*both, [lane // per_group * self.channels + i for lane in range(lanes)]) for i in range(self.channels)]

    def _part(self, row, column, start, offset):
        """One vector of channels; masked where the group's or the image's channels end."""
        count = min(self.span - offset, self.lanes)
        if b.known(start):
            count = max(0, min(count, self.shape.channels - start - offset))
        at = [self.image, *self.source, row, column, b.add(start, offset)]
        vec = b.load_vector(self.x, at, self.lanes, b.mask_first(count, self.lanes))
        return b.widen(vec, self.accumulator)


def emit_pack_grouped(filter, packed):
    """packed[...taps][channel][filter] = filter[filter][channel][...taps], zeros after the last filter."""
    filters, channels, *taps = b.ir.MemRefType(filter.type).shape
    width = b.ir.MemRefType(packed.type).shape[-1]
    zero = b.zero(b.element_type(packed))

    def chunk(number):
        tap = b.split(number, *taps)

        def copy(channel):
            b.loop(0, filters, 1, lambda f: b.store(b.load(filter, [f, channel, *tap]), packed, [*tap, channel, f]))
            b.loop(filters, width, 1, lambda f: b.store(zero, packed, [*tap, channel, f]))

        b.loop(0, channels, 1, copy)

    b.parallel(math.prod(taps), chunk)
