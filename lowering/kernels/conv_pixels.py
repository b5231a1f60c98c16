"""Convolution with vectors along the filters: a register tile is `columns` pixels x `vectors` vectors of filters.

Pixels are broadcast out of the input where it lies, so NCHW and blocked inputs, strides and dilations cost the same, and there is
no padded copy: taps that fall outside the image are left out, in Python where the width is known. The sums of a chunk (one panel
of filters, a band of output rows) go to a stash on the stack, [pixel][filter], and from there through 16x16 transposes to NCHW,
with the epilogue.
"""

from mlir.dialects import arith

from . import build as b
from .conv_plan import pixel_plan
from .conv_taps import Taps, merge_tiles
from .pack import accumulator_type
from .place import Place, finish
from .planes import PlaneWriter

UNROLLED_TAPS = 3
"""Longer runs of taps along a row are a loop: shorter ones were slower as a loop."""


class PixelConvolution:
    def __init__(self, x, filter, y, shape, epilogue, target):
        self.x, self.filter, self.y, self.shape, self.epilogue = x, filter, y, shape, epilogue
        self.plan = pixel_plan(shape, b.element_type(x), target)
        self.accumulator = accumulator_type(b.element_type(x))
        self.kind = b.vector_type(self.plan.lanes, self.accumulator)
        self.size = b.dim(x, 2), b.dim(x, 3)
        self.out = b.dim(y, 2), b.dim(y, 3)
        self.taps = Taps(shape, self.size, self.out)
        self.per_group = shape.filters // shape.groups
        self.panels = -(-self.per_group // self.plan.width)
        self.blocks = shape.channels // shape.groups // self.plan.inner

    # --- chunks -------------------------------------------------------------------------------------------------------------------

    def emit(self):
        plan = self.plan
        self.band_columns = self.out[1] if plan.band_columns is None else plan.band_columns
        grid = [
            b.dim(self.x, 0),
            self.shape.groups,
            self.panels,
            b.ceil_div(self.out[0], plan.band_rows),
            b.ceil_div(self.out[1], self.band_columns),
        ]
        count = 1
        for size in grid:
            count = b.mul(count, size)
        b.parallel(count, lambda chunk: self._chunk(*b.split(chunk, *grid)))

    def _chunk(self, image, group, panel, band, column_band):
        plan = self.plan
        self.image, self.group, self.panel = image, group, panel
        pixels = plan.band_rows * self.band_columns
        self.stash = b.stack((-(-pixels // plan.lanes) * plan.lanes, plan.width), self.accumulator)
        self.top, self.left = b.mul(band, plan.band_rows), b.mul(column_band, self.band_columns)
        self.rows = self._extent(self.out[0], plan.band_rows, self.top)
        self.columns = self._extent(self.out[1], self.band_columns, self.left)
        b.loop(0, self.blocks, plan.channel_blocks, self._channels)
        if self.shape.layout_out == "blocked":
            self._store_blocked()
        else:
            self._store_planes()

    def _extent(self, size, most, start):
        return most if b.known(size) and size % most == 0 else b.minimum(most, b.sub(size, start))

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
        end = None if self.plan.band_columns is None else b.add(self.left, self.columns)
        self.taps.columns(
            self.left, end, self.plan.columns, lambda x, size, taps: self._tile(y, height, x, size, tap_rows, taps, first, count)
        )

    # --- one tile -----------------------------------------------------------------------------------------------------------------

    def _tile(self, y, height, x, size, tap_rows, taps, first, count):
        """Sum `count` blocks of channels, from `first` on, of height x size pixels into the stash."""
        places = [
            self._stash_place(b.add(y, r), b.add(x, p), v) for r in range(height) for p in range(size) for v in range(self.plan.vectors)
        ]
        sums = self._start(places, first)
        sums = b.loop(
            0, count, 1, lambda block, *sums: self._taps(y, height, x, size, tap_rows, taps, b.add(first, block), sums), sums, rolled=True
        )
        for vec, place in zip(sums, places):
            b.store_vector(vec, self.stash, place)

    def _stash_place(self, y, x, v):
        pixel = b.add(b.mul(b.sub(y, self.top), self.columns), b.sub(x, self.left))
        return [pixel, v * self.plan.lanes]

    def _start(self, places, first):
        if b.known(first):
            return [b.zero(self.kind)] * len(places)
        later = b.mask_first(b.mul(first, self.plan.lanes), self.plan.lanes)
        return [b.load_vector(self.stash, place, self.plan.lanes, later) for place in places]

    def _taps(self, y, height, x, size, tap_rows, taps, block, sums):
        """One block of channels: every tap that lies inside. `tap_rows` is a pair of bounds, or a table of truths by row of the tile."""

        def tap_row(ky, sums, rows):
            for (kx, end), _, columns in self._tap_columns(taps):
                step = 1 if end - kx > UNROLLED_TAPS else end - kx
                where = (y, x, ky, step, block, rows, columns)
                sums = b.loop(kx, end, step, lambda kx, *sums, where=where: self._some_taps(where, kx, sums), sums, rolled=True)
            return sums

        if isinstance(tap_rows[0], tuple):
            if all(all(row) for row in tap_rows):
                return b.loop(0, self.shape.kernel[0], 1, lambda ky, *sums: tap_row(ky, list(sums), [True] * height), sums, rolled=True)
            for ky in range(self.shape.kernel[0]):
                sums = tap_row(ky, sums, [row[ky] for row in tap_rows])
            return sums
        return b.loop(*tap_rows, 1, lambda ky, *sums: tap_row(ky, list(sums), [True]), sums, rolled=True)

    def _tap_columns(self, taps):
        """((first, end), 1, inside by pixel) of the taps along a row; neighbours that lie inside for the same pixels make one loop."""
        columns = [(kx, 1, [pixel[kx] for pixel in taps]) for kx in range(self.shape.kernel[1])]
        return merge_tiles(columns)

    def _some_taps(self, where, kx, sums):
        y, x, ky, count, block, rows, columns = where
        for i in range(count):
            sums = self._tap(y, x, ky, b.add(kx, i), block, sums, rows, columns)
        return sums

    def _tap(self, y, x, ky, kx, block, sums, rows, columns):
        """One tap, all channels of the block."""
        pixels = [(r, p) for r in range(len(rows)) for p in range(len(columns))]
        inside = [b.both(rows[r], columns[p]) for r, p in pixels]
        if not any(inside):
            return list(sums)

        def channel(lane, *sums):
            b.load_barrier()
            filters = self._filters(block, ky, kx, lane)
            result = list(sums)
            for i, (r, p) in enumerate(pixels):
                if inside[i] is False:
                    continue
                scalar = self._pixel(block, self.taps.input_row(b.add(y, r), ky), self.taps.input_column(b.add(x, p), kx), lane, inside[i])
                for v, vec in enumerate(filters):
                    at = i * len(filters) + v
                    result[at] = self._add(scalar, vec, result[at], inside[i])
            return result

        return b.loop(0, self.plan.inner, 1, channel, sums, rolled=True)

    def _add(self, scalar, vec, total, inside):
        result = b.multiply_add(scalar, vec, total)
        return result if inside is True else arith.select(inside, result, total)

    def _pixel(self, block, row, column, lane, inside):
        if inside is not True:
            column = b.minimum(b.maximum(column, 0), b.sub(self.size[1], 1))
        block = b.add(b.mul(self.group, self.blocks), block)
        at = [self.image, block, row, column]
        if self.shape.layout_in == "blocked":
            at.append(lane)
        return b.broadcast(b.widen(b.load(self.x, at), self.accumulator), self.plan.lanes)

    def _filters(self, block, ky, kx, lane):
        at = [self.group, self.panel, block, ky, kx, lane]
        lanes = self.plan.lanes
        return [b.widen(b.load_vector(self.filter, [*at, v * lanes], lanes), self.accumulator) for v in range(self.plan.vectors)]

    # --- from the stash to the output ---------------------------------------------------------------------------------------------

    def _store_planes(self):
        """A band is whole rows or a piece of one row, so its pixels are contiguous in y."""
        writer = PlaneWriter(self.stash, self.y, self.plan, self.epilogue, (self.per_group, self.out[1]))
        writer.write(
            (self.image, self.group, self.panel), 0, b.mul(self.rows, self.columns), b.add(b.mul(self.top, self.out[1]), self.left)
        )

    def _store_blocked(self):
        """Pixel by pixel; the channel block of the output is the vector."""
        lanes = self.plan.lanes

        def pixel(y, x):
            for v in range(self.plan.vectors):
                number = b.add(b.add(b.mul(self.group, self.per_group // lanes), b.mul(self.panel, self.plan.vectors)), v)
                at = (self.image, number, y, x, 0)
                vec = b.load_vector(self.stash, self._stash_place(y, x, v), lanes)
                inside = (
                    True
                    if self.per_group % self.plan.width == 0
                    else b.less(b.add(b.mul(self.panel, self.plan.vectors), v), self.per_group // lanes)
                )
                b.when(inside, lambda vec=vec, at=at: finish(vec, Place(at, 4, lanes), self.y, at, self.epilogue))

        b.loop(
            self.top, b.add(self.top, self.rows), 1, lambda y: b.loop(self.left, b.add(self.left, self.columns), 1, lambda x: pixel(y, x))
        )
