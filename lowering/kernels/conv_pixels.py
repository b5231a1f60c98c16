"""Convolution with vectors along the filters: a register tile is `columns` pixels x `vectors` vectors of filters.

Pixels are broadcast out of the input where it lies, so NCHW and NHWC inputs, strides and dilations cost the same, and there is
no padded copy: taps that fall outside the image are left out, in Python where the width is known. In NHWC a tile is stored from its
registers, with the epilogue. For NCHW the sums of a chunk (one panel of filters, a band of output rows) go to a stash on the stack,
[pixel][filter], and from there through 16x16 transposes; so do sums of which a part of the channels is still to come.
"""

from dataclasses import dataclass

from mlir.dialects import arith

from . import build as b
from . import tile
from .conv_plan import pixel_plan
from .conv_taps import Taps, merge_tiles, up_to
from .pack import accumulator_type
from .place import Place, finish
from .planes import PlaneWriter

UNROLLED_TAPS = 3
"""Longer runs of taps along a row are a loop: shorter ones were slower as a loop."""


@dataclass(frozen=True)
class Phase:
    """The outputs at offset + i * step, of which `out` are in each axis, and the taps that reach them; `depth` is a phase of one axis."""

    axes: tuple
    out: tuple
    step: tuple = (1, 1)
    offset: tuple = (0, 0)
    depth: "Phase | None" = None


class PlaneTaps:
    """Along the depth: which planes of the filter meet a plane of the output, and where."""

    def __init__(self, phase: Phase, size):
        """`size`: the input's depth."""
        (self.axis,), (self.out,), self.phase = phase.axes, phase.out, phase
        self.taps = Taps((self.axis,), (size,), (self.out,))

    def taps_of(self, plane):
        """First and end of the taps inside of the input."""
        return self.taps.tap_rows(plane)

    def places(self, plane, tap):
        """The index of the input's plane, and that of the filter's, as lists of one."""
        return [self.taps.input_row(plane, tap)], [b.add(b.mul(tap, self.axis.step), self.axis.first)]

    def output(self, plane):
        return [b.add(b.mul(plane, self.phase.step[0]), self.phase.offset[0])]


def spatial(buffer, layout) -> tuple:
    """The sizes of the spatial axes."""
    rank = b.rank(buffer)
    return tuple(b.dim(buffer, axis) for axis in (range(1, rank - 1) if layout == "nhwc" else range(2, rank)))


def whole_phase(shape, out) -> Phase:
    """All outputs."""
    *planes, height, width = out
    return Phase(shape.axes(), (height, width), depth=Phase((shape.depth_axis(),), tuple(planes), (1,), (0,)) if planes else None)


class PixelConvolution:
    arithmetic, step = b, 1
    """What adds a product to the sums, and the channels of a step."""

    def __init__(self, x, filter, y, shape, epilogue, target, phase: Phase | None = None, rolled: bool = False):
        self.x, self.filter, self.y, self.shape, self.epilogue = x, filter, y, shape, epilogue
        *planes, height, width = spatial(x, shape.layout_in)
        self.size = height, width
        self.phase = phase or whole_phase(shape, spatial(y, shape.layout_out))
        self.out = self.phase.out
        self.depth = self.phase.depth and PlaneTaps(self.phase.depth, planes[0])
        self.plan = pixel_plan(shape, b.element_type(x), self.out, target)
        self.accumulator = accumulator_type(b.element_type(x))
        self.kind = b.vector_type(self.plan.lanes, self.accumulator)
        self.taps = Taps(self.phase.axes, self.size, self.out)
        self.panels = -(-shape.per_group // self.plan.width)
        self.blocks = shape.channels // shape.groups // self.plan.inner
        self.direct = shape.layout_out == "nhwc" and self.plan.channel_blocks == self.blocks and not rolled

    # --- chunks -------------------------------------------------------------------------------------------------------------------

    def emit(self):
        plan = self.plan
        self.band_columns = self.out[1] if plan.band_columns is None else plan.band_columns
        images, groups, panels = b.dim(self.x, 0), self.shape.groups, self.panels
        planes = self.depth.out if self.depth else 1
        bands = b.ceil_div(self.out[0], plan.band_rows), b.ceil_div(self.out[1], self.band_columns) if self.out[1] != 0 else 0
        count = b.mul(b.mul(b.mul(images, planes), groups * panels), b.mul(*bands))
        # The images are innermost, so that a panel of the filter serves all of them while it is in L2.
        b.parallel(count, lambda chunk: self._chunk(*b.split(chunk, groups, panels, images, planes, *bands)))

    def _chunk(self, group, panel, image, plane, band, column_band):
        plan = self.plan
        self.image, self.group, self.panel, self.plane = image, group, panel, plane
        self.planes_inside = self.depth and self.depth.taps_of(plane)
        self.masks = [self._filters_there(v) for v in range(plan.vectors)]
        if not self.direct:
            pixels = plan.band_rows * self.band_columns
            self.stash = b.stack((-(-pixels // plan.lanes) * plan.lanes, plan.width), self.accumulator)
        self.top, self.left = b.mul(band, plan.band_rows), b.mul(column_band, self.band_columns)
        self.rows = self._extent(self.out[0], plan.band_rows, self.top)
        self.columns = self._extent(self.out[1], self.band_columns, self.left)
        b.loop(0, self.blocks, plan.channel_blocks, self._channels)
        if self.direct:
            return
        if self.shape.layout_out == "nhwc":
            self._store_pixels()
        else:
            self._store_planes()

    def _extent(self, size, most, start):
        return most if b.known(size) and size % most == 0 else b.minimum(most, b.sub(size, start))

    def _filters_there(self, v):
        """The mask of vector v of the panel: None where all of its filters exist."""
        lanes, per_group = self.plan.lanes, self.shape.per_group
        if per_group % self.plan.width == 0:
            return None
        first = b.add(b.mul(self.panel, self.plan.width), v * lanes)
        return b.mask_first(b.maximum(b.sub(per_group, first), 0), lanes)

    def _channels(self, first):
        plan = self.plan
        count = plan.channel_blocks if self.blocks % plan.channel_blocks == 0 else b.minimum(plan.channel_blocks, b.sub(self.blocks, first))
        if plan.rows > 1:
            for top, height, taps in self.taps.row_tiles(self.plan.rows):
                b.loop(top[0], top[1], height, lambda y, height=height, taps=taps: self._row(y, height, taps, first, count))
        else:
            b.loop(self.top, b.add(self.top, self.rows), 1, lambda y: self._row(y, 1, self.taps.tap_rows(y), first, count))

    # --- one row of tiles ---------------------------------------------------------------------------------------------------------

    def _row(self, y, height, tap_rows, first, count):
        whole = self.plan.band_columns is None and b.known(self.out[1]) and b.known(self.size[1])
        self.end = None if whole else b.add(self.left, self.columns)

        def one(x, size, taps):
            self._tile(y, height, x, size, tap_rows, taps, first, count)

        self.taps.columns(self.left, self.end, self.plan.columns, self._with_fast_path(one) if self.plan.inner == 1 else one)

    def _with_fast_path(self, body):
        """Tiles away from the border without checks: unrolled taps of few channels have no loop to make their masks outside of."""

        def either(x, size, taps):
            if not any(None in pixel for pixel in taps):
                body(x, size, taps)
                return
            every = ((True,) * len(taps[0]),) * size
            b.when(self.taps.all_inside(x, size), lambda: body(x, size, every), lambda: body(x, size, taps))

        return either

    # --- one tile -----------------------------------------------------------------------------------------------------------------

    def _tile(self, y, height, x, size, tap_rows, taps, first, count):
        """Sum `count` blocks of channels, from `first` on, of height x size pixels into the stash, or into the output if these are all."""
        pixels = [(b.add(y, r), b.add(x, p)) for r in range(height) for p in range(size)]
        start = self._start(pixels, first)
        copies = tile.copies_of(len(start)) if self.plan.inner > self.step else 1
        sums = b.loop(
            0, count, 1, lambda block, *sums: self._block(y, height, x, size, tap_rows, taps, b.add(first, block), sums),
            start + [b.zero(self.kind)] * (len(start) * (copies - 1)), rolled=True,
        )  # fmt: skip
        sums = tile.sum_of(tile.groups_of(sums, copies), self.arithmetic)
        for i, vec in enumerate(sums):
            pixel, v = divmod(i, self.plan.vectors)
            if self.direct:
                self._finish(vec, *pixels[pixel], v, last=(pixel + 1) % size == 0)
            else:
                b.store_vector(vec, self.stash, self._stash_place(*pixels[pixel], v))

    def _stash_place(self, y, x, v):
        pixel = b.add(b.mul(b.sub(y, self.top), self.columns), b.sub(x, self.left))
        return [pixel, v * self.plan.lanes]

    def _start(self, pixels, first):
        if self.direct or b.known(first):
            return [b.zero(self.kind)] * (len(pixels) * self.plan.vectors)
        later = b.mask_first(b.mul(first, self.plan.lanes), self.plan.lanes)
        places = [self._stash_place(*pixel, v) for pixel in pixels for v in range(self.plan.vectors)]
        return [b.load_vector(self.stash, place, self.plan.lanes, later) for place in places]

    def _block(self, y, height, x, size, tap_rows, taps, block, sums):
        """One block of channels: every plane of the filter that lies inside of the input's planes."""
        self.source, self.tap_plane = [], []
        if self.depth is None:
            return self._taps(y, height, x, size, tap_rows, taps, block, sums)

        def plane(kz, *sums):
            self.source, self.tap_plane = self.depth.places(self.plane, kz)
            return self._taps(y, height, x, size, tap_rows, taps, block, list(sums))

        return b.loop(*self.planes_inside, 1, plane, sums, rolled=True)

    def _taps(self, y, height, x, size, tap_rows, taps, block, sums):
        """One plane of the filter: every tap that lies inside. `tap_rows` is a pair of bounds, or a table of truths by row of the tile."""

        def tap_row(ky, sums, rows):
            for (kx, end), _, columns in self._tap_columns(taps):
                unrolled = self.plan.inner == 1 and end - kx <= UNROLLED_TAPS and None not in columns
                step = end - kx if unrolled else 1
                where = (y, x, ky, step, block, rows, columns)
                sums = b.loop(kx, end, step, lambda kx, *sums, where=where: self._some_taps(where, kx, sums), sums, rolled=True)
            return sums

        if isinstance(tap_rows[0], tuple):
            if all(all(row) for row in tap_rows):
                count = self.phase.axes[0].taps
                return b.loop(0, count, 1, lambda ky, *sums: tap_row(ky, list(sums), [True] * height), sums, rolled=True)
            for ky in range(self.phase.axes[0].taps):
                sums = tap_row(ky, sums, [row[ky] for row in tap_rows])
            return sums
        return b.loop(*tap_rows, 1, lambda ky, *sums: tap_row(ky, list(sums), [True]), sums, rolled=True)

    def _tap_columns(self, taps):
        """((first, end), 1, inside by pixel) of the taps along a row; neighbours that lie inside for the same pixels make one loop."""
        columns = [(kx, 1, [pixel[kx] for pixel in taps]) for kx in range(self.phase.axes[1].taps)]
        return merge_tiles(columns)

    def _some_taps(self, where, kx, sums):
        y, x, ky, count, block, rows, columns = where
        for i in range(count):
            sums = self._tap(y, x, ky, b.add(kx, i), block, sums, rows, columns)
        return sums

    def _tap(self, y, x, ky, kx, block, sums, rows, columns):
        """One tap, all channels of the block: a small tile sums every second, fourth ... one apart, as `tile.accumulate` does."""
        columns = [self.taps.column_inside(x, p, kx, len(columns)) if truth is None else truth for p, truth in enumerate(columns)]
        pixels = [(r, p) for r in range(len(rows)) for p in range(len(columns))]
        inside = [b.both(rows[r], columns[p]) for r, p in pixels]
        if not any(inside):
            return list(sums)
        readers, masks = [], [None if isinstance(truth, bool) else b.mask_all(truth, self.plan.lanes) for truth in inside]
        for r in range(len(rows)):
            readers += self._readers(block, self.taps.input_row(b.add(y, r), ky), x, kx, columns)

        def one(lane, sums):
            b.load_barrier()
            filters = self._filters(block, ky, kx, lane)
            result = list(sums)
            for i, reader in enumerate(readers):
                if inside[i] is False:
                    continue
                scalar = b.broadcast(self._widened(reader(lane)), self.plan.lanes)
                for v, vec in enumerate(filters):
                    at = i * len(filters) + v
                    result[at] = self._add(scalar, vec, result[at], masks[i])
            return result

        copies, count = len(sums) // (len(pixels) * self.plan.vectors), self.plan.inner // self.step

        def channels(lane, *sums):
            groups = tile.groups_of(sums, copies)
            return [vec for u, group in enumerate(groups) for vec in one(b.add(lane, u), group)]

        groups = tile.groups_of(b.loop(0, count // copies * copies, copies, channels, sums, rolled=True), copies)
        groups[0] = b.loop(count // copies * copies, count, 1, lambda lane, *sums: one(lane, sums), groups[0], rolled=True)
        return [vec for group in groups for vec in group]

    def _widened(self, value):
        return b.widen(value, self.accumulator)

    def _add(self, scalar, vec, total, mask):
        result = self.arithmetic.multiply_add(scalar, vec, total)
        return result if mask is None else arith.select(mask, result, total)

    def _readers(self, block, row, x, kx, columns):
        """For each pixel of a row of the tile, a function that loads its channel `lane` of the block.

        Pixels inside of the image are read beside the first of these, one that may lie outside where the nearest one inside lies.
        """
        block = b.add(b.mul(self.group, self.blocks), block)
        stride, last = self.phase.axes[1].stride, b.sub(self.size[1], 1)
        first = columns.index(True) if True in columns and not b.known(x) else None
        line = None if first is None else self._line(block, row, self.taps.input_column(b.add(x, first), kx), (len(columns) - 1) * stride + 1)

        def reader(p, truth):
            if line is not None and truth is True:
                return lambda lane: self._read(line, 0, 0, (p - first) * stride, lane)
            column = self.taps.input_column(b.add(x, p), kx)
            if isinstance(truth, bool):
                return lambda lane: self._read(self.x, block, row, column, lane)
            pixel = self._line(block, row, b.minimum(b.maximum(column, 0), last), 1)
            return lambda lane: self._read(pixel, 0, 0, 0, lane)

        return [reader(p, truth) for p, truth in enumerate(columns)]

    def _line(self, block, row, column, length):
        """The view of `length` pixels of a row, and of the block's channels."""
        at, inner = self._at(self.image, self.source, row, column, b.mul(block, self.plan.inner)), self.plan.inner
        return b.window(self.x, at, self._at(1, [1] * len(self.source), 1, length, inner))

    def _read(self, buffer, block, row, column, lane):
        return b.load(buffer, self._place(buffer, block, row, column, lane))

    def _place(self, buffer, block, row, column, lane):
        """The indices of a channel in x, or in a view of a piece of it."""
        image, planes = (self.image, self.source) if buffer is self.x else (0, [0] * len(self.source))
        return self._at(image, planes, row, column, b.add(b.mul(block, self.plan.inner), lane))

    def _at(self, image, planes, row, column, channel):
        """In the order of the input's axes."""
        pixel = [*planes, row, column]
        return [image, *pixel, channel] if self.shape.layout_in == "nhwc" else [image, channel, *pixel]

    def _filters(self, block, ky, kx, lane):
        rows, columns = self.phase.axes
        tap = [b.add(b.mul(ky, rows.step), rows.first), b.add(b.mul(kx, columns.step), columns.first)]
        at = [self.group, self.panel, block, *self.tap_plane, *tap, lane]
        return [self._widened(vec) for vec in b.load_streamed(self.filter, [*at, 0], self.plan.lanes, self.plan.vectors)]

    # --- from the stash to the output ---------------------------------------------------------------------------------------------

    def _store_planes(self):
        """A band is whole rows or a piece of one row, so its pixels are contiguous in y."""
        writer = PlaneWriter(self.stash, self.y, self.plan, self.epilogue, (self.shape.per_group, self.out[1]))
        writer.write(
            (self.image, self.group, self.panel), 0, b.mul(self.rows, self.columns), b.add(b.mul(self.top, self.out[1]), self.left)
        )

    def _store_pixels(self):
        lanes = self.plan.lanes

        def pixel(y, x):
            for v in range(self.plan.vectors):
                self._finish(b.load_vector(self.stash, self._stash_place(y, x, v), lanes), y, x, v)

        b.loop(
            self.top, b.add(self.top, self.rows), 1, lambda y: b.loop(self.left, b.add(self.left, self.columns), 1, lambda x: pixel(y, x))
        )

    def _finish(self, vec, y, x, v, last=False):
        """Store one vector of filters of one pixel, which may not be there if it is the `last` of a tile."""
        mask = self.masks[v]
        if last and self.end is not None:
            x, mask = up_to(self.end, x, mask, self.plan.lanes)
        filter = b.add(b.mul(self.group, self.shape.per_group), b.add(b.mul(self.panel, self.plan.width), v * self.plan.lanes))
        row, column = (b.add(b.mul(i, step), offset) for i, step, offset in zip((y, x), self.phase.step, self.phase.offset))
        at = (self.image, *(self.depth.output(self.plane) if self.depth else []), row, column, filter)
        finish(vec, Place(at, len(at) - 1, self.plan.lanes, mask), self.y, at, self.epilogue)
