"""Winograd's F(m x m, 3x3) for 3x3 convolutions of stride 1, NHWC: tiles of m x m outputs by (m + 2)^2 products.

Rows and columns of a tile lie as far apart as the taps: a dilated convolution is a plain one of each remainder of the places by the dilation.

First a parallel loop transforms the windows, lanes along the channels, to windows[group][point][tile][channel]. Then, for a panel of
filters and a group of tiles, a product of tiles x channels x filters for each point goes to the stack, and the inverse transform
of that, lanes along the filters, to the output.

Less exact than the plain sum (about 1e-5 of the largest output for m = 4, 2e-6 for m = 2), and an infinity spoils its whole tile: so the
caller has to ask for it.
"""

import math
from dataclasses import dataclass

from mlir import ir
from mlir.dialects import arith

from ..targets import Target, host
from . import build as b
from . import tile
from .place import Place, finish
from .shapes import ConvShape
from .winograd_transforms import FILTER, from_points, to_points

LARGEST_FILTER = 16 << 20
"""Bytes of the transformed filter, at most."""
WINDOW_COST, TILE_COST = {2: 90, 4: 320}, {2: 70, 4: 200}
"""What the transforms take for one tile and channel, and one tile and filter, in multiply-adds of the same time."""
ASSUMED = 24
"""Height and width of an output, where they are known only at run time."""
BYTE_COST = 6
"""Multiply-adds in the time in which a byte of a filter comes from beyond L2."""


@dataclass(frozen=True)
class WinogradPlan:
    lanes: int
    width: int
    size: int
    """m: height and width of a tile of the output."""
    tiles: int
    """Tiles of a group."""
    heights: tuple[int, ...]
    """Tiles that a product may take, falling: those of a whole group, and fewer for the last one where their number is known only at run time."""
    merged: bool
    """Tiles are numbered through all images, not through each."""

    @property
    def vectors(self) -> int:
        return self.width // self.lanes

    @property
    def points(self) -> int:
        return (self.size + 2) ** 2


def winograd_plan(shape: ConvShape, images: int | None, target: Target) -> WinogradPlan:
    """`images` is None where known only at run time."""
    lanes, tiles, heights, merged = target.lanes(32), target.rows, tile.heights_for(target.rows)[:3], True
    if None not in shape.output_size():
        total, merged = math.prod(_tiles(shape.output_size(), shape.winograd, shape.dilations)) * (images or 1), images is not None
        tiles = -(-total // max(1, -(-total // target.rows)))
        heights = [tiles]
    return WinogradPlan(lanes, lanes * target.vectors, shape.winograd, tiles, tuple(heights), merged)


def _tiles(extents, size, dilations):
    """Tiles of `size` along each of these extents, which may be symbolic; those of each remainder by the dilation."""
    return tuple(step * -(-(-(-extent // step)) // size) for extent, step in zip(extents, dilations))


def winograd_size(shape: ConvShape, images: int | None, target: Target | None = None) -> int:
    """The size of tiles that is worth it for so many images: 2 or 4, or 0 where Winograd's method does not apply or does not pay."""
    target = target or host()
    plain = shape.groups == 1 and not shape.transposed and shape.bits == 32
    fits = plain and shape.window == (3, 3) and shape.strides == (1, 1)
    height, width = (ASSUMED if extent is None else extent for extent in shape.output_size())
    if not fits or min(height, width) < 1 or target.lanes(32) < 8:
        return 0
    if shape.channels < target.lanes(32) or shape.filters < target.lanes(32):
        return 0
    # The plain sum leaves out taps beyond the border, which are many where they are dilated.
    inside = math.prod(max(1, 3 - max(0, low + high - 2) / extent) / 3 for low, high, extent in zip(shape.pads, shape.pads[2:], (height, width)))
    costs = {0: 0.85 * _cost(9, (images or 1) * height * width * inside, shape, target)}
    for size in (4, 2):
        tiles = math.prod(_tiles((height, width), size, shape.dilations)) * (images or 1)
        if (size + 2) ** 2 * 4 * shape.channels * shape.filters <= LARGEST_FILTER:
            transforms = tiles * (shape.channels * WINDOW_COST[size] + shape.filters * TILE_COST[size])
            costs[size] = _cost((size + 2) ** 2, tiles, shape, target) + transforms
    return min(costs, key=costs.get)


def _cost(points, rows, shape, target):
    """Of `points` products of rows x channels x filters, in multiply-adds."""
    size = points * shape.channels * shape.filters
    return size * rows + (BYTE_COST * 4 * size if 4 * size > target.level2 // 2 else 0)


def winograd_filter_shape(shape, target) -> tuple:
    width = target.lanes(32) * target.vectors
    return (-(-shape.filters // width), (shape.winograd + 2) ** 2, shape.channels, width)


def winograd_windows_shape(shape, images, size, target) -> tuple:
    """The scratch buffer that holds the transformed windows; the number of images and the output's height and width may be symbolic."""
    plan = winograd_plan(shape, images if b.known(images) else None, target)
    groups = -(-math.prod(_tiles(size, plan.size, shape.dilations), start=images if plan.merged else 1) // plan.tiles)
    return (groups if plan.merged else images * groups, plan.points, plan.tiles, shape.channels)


class WinogradConvolution:
    def __init__(self, x, filter, y, windows, shape, target, epilogue):
        self.x, self.filter, self.y, self.windows, self.shape, self.epilogue = x, filter, y, windows, shape, epilogue
        self.images, self.level2 = b.dim(x, 0), target.level2
        self.plan = winograd_plan(shape, self.images if b.known(self.images) else None, target)
        self.size, self.out = (b.dim(x, 1), b.dim(x, 2)), (b.dim(y, 1), b.dim(y, 2))
        self.kind = b.vector_type(self.plan.lanes, ir.F32Type.get())
        self.side, self.steps = self.plan.size + 2, shape.dilations

    def emit(self):
        plan = self.plan
        tiles = (b.mul(step, b.ceil_div(b.ceil_div(extent, step), plan.size)) for extent, step in zip(self.out, self.steps))
        self.numbers = [self.images if plan.merged else 1, *tiles]
        """What tiles are numbered through: images, rows and columns of tiles."""
        self.total = b.mul(b.mul(*self.numbers[:2]), self.numbers[2])
        grid = [1 if plan.merged else self.images, b.ceil_div(self.total, plan.tiles)]
        count = b.mul(*grid)
        panels = -(-self.shape.filters // plan.width)
        if 4 * plan.points * self.shape.channels * self.shape.filters <= self.level2 // 2:
            b.parallel(count, lambda chunk: self._whole_group(panels, *b.split(chunk, *grid)))
            return
        b.parallel(count, lambda chunk: self._transform_group(*b.split(chunk, *grid)))
        b.parallel(b.mul(count, panels), lambda chunk: self._multiply_group(*b.split(chunk, panels, *grid)))

    def _whole_group(self, panels, image, group):
        """Where L2 holds the filter, its panels follow at once: the windows are still in L2, too."""
        self._transform_group(image, group)
        b.loop(0, panels, 1, lambda panel: self._multiply_group(panel, image, group), rolled=True)

    def _count(self, group):
        """Tiles of a group that there are."""
        tiles, total = self.plan.tiles, self.total
        return tiles if b.known(total) and total % tiles == 0 else b.minimum(tiles, b.sub(total, b.mul(group, tiles)))

    def _each_tile(self, image, group, body):
        """`body(tile of the group, image, row, column)`; row and column of the output's tile."""
        plan, first = self.plan, b.mul(group, self.plan.tiles)

        def one(t):
            number, down, across = b.split(b.add(first, t), *self.numbers)
            body(t, number if plan.merged else image, *(self._start(place, step) for place, step in zip((down, across), self.steps)))

        b.loop(0, self._count(group), 1, one, rolled=True, most=plan.tiles)

    def _start(self, place, step):
        """The first output of the tile at this place along an axis."""
        return b.add(b.mul(b.div(place, step), self.plan.size * step), b.rem(place, step))

    def _group(self, image, group):
        """The number of a group in the windows."""
        return group if self.plan.merged else b.add(b.mul(image, b.ceil_div(self.total, self.plan.tiles)), group)

    # --- B^T d B ------------------------------------------------------------------------------------------------------------------

    def _transform_group(self, image, group):
        number = self._group(image, group)

        def window(t, image, row, column):
            top, left = b.sub(row, self.shape.pads[0]), b.sub(column, self.shape.pads[1])
            height, width = self.size
            down, across = ([i * step for i in range(self.side)] for step in self.steps)
            whole = b.both(_within(top, down[-1] + 1, height), _within(left, across[-1] + 1, width))
            rows = [_within(b.add(top, i), 1, height) for i in down]
            columns = [_within(b.add(left, j), 1, width) for j in across]
            every = [True] * self.side
            place = (number, t, image, top, left)
            b.when(whole, lambda: self._channels(place, every, every), lambda: self._channels(place, rows, columns))

        self._each_tile(image, group, window)

    def _channels(self, place, rows, columns):
        lanes, channels = self.plan.lanes, self.shape.channels
        whole = channels // lanes * lanes
        b.loop(0, whole, lanes, lambda channel: self._transform(place, rows, columns, channel, None), rolled=True)
        if whole < channels:
            self._transform(place, rows, columns, whole, b.mask_first(channels - whole, lanes))

    def _transform(self, place, rows, columns, channel, mask):
        number, t, image, top, left = place
        y, x = self.steps
        sizes = [1, y * (self.side - 1) + 1, x * (self.side - 1) + 1, self.shape.channels]
        whole = b.window(self.x, [image, top, left, 0], sizes) if all(rows) and True in rows else None

        def pixel(i, j):
            inside = b.both(rows[i], columns[j])
            if inside is False:
                return b.zero(self.kind)
            if rows[i] is True and columns[j] is True and whole is not None:
                return b.load_vector(whole, [0, i * y, j * x, channel], self.plan.lanes, mask)
            there = mask if inside is True else _and(b.broadcast(inside, self.plan.lanes), mask)
            return b.load_vector(self.x, [image, b.add(top, i * y), b.add(left, j * x), channel], self.plan.lanes, there)

        lines = [to_points([pixel(i, j) for i in range(self.side)]) for j in range(self.side)]
        for i in range(self.side):
            for j, vec in enumerate(to_points([line[i] for line in lines])):
                b.store_vector(vec, self.windows, [number, i * self.side + j, t, channel], mask)

    # --- products and A^T m A -----------------------------------------------------------------------------------------------------

    def _multiply_group(self, panel, image, group):
        plan = self.plan
        sums = b.stack((plan.points, plan.tiles, plan.width), ir.F32Type.get())
        number, count = self._group(image, group), self._count(group)

        def product(e, height):
            def columns(k):
                return b.load_streamed(self.filter, [panel, e, k, 0], plan.lanes, plan.vectors)

            zeros = [b.zero(self.kind)] * (height * plan.vectors)
            result = tile.accumulate(zeros, height, self.shape.channels, lambda k, t: b.load(self.windows, [number, e, t, k]), columns)
            for i, vec in enumerate(result):
                t, v = divmod(i, plan.vectors)
                b.store_vector(vec, sums, [e, t, v * plan.lanes])

        def smallest(e, height, *lower):
            """The product of the lowest height that covers all tiles."""
            more = b.less(lower[0], count) if lower else True
            b.when(more, lambda: product(e, height), lambda: smallest(e, *lower))

        b.loop(0, plan.points, 1, lambda e: smallest(e, *plan.heights), rolled=True)
        self.stash = b.stack((plan.size, plan.size, plan.lanes), ir.F32Type.get())
        self._each_tile(image, group, lambda t, image, row, column: b.loop(
            0, self._filters(panel), plan.lanes, lambda first: self._inverse(sums, t, (image, row, column), panel, first), rolled=True,
            most=plan.vectors))  # fmt: skip

    def _filters(self, panel):
        """Filters of a panel."""
        width, filters = self.plan.width, self.shape.filters
        return width if filters % width == 0 else b.minimum(width, b.sub(filters, b.mul(panel, width)))

    def _inverse(self, sums, t, place, panel, first):
        """One tile, one vector of filters."""
        plan, side = self.plan, self.side
        lines = [from_points([b.load_vector(sums, [i * side + j, t, first], plan.lanes) for i in range(side)]) for j in range(side)]
        for i in range(plan.size):
            for j, vec in enumerate(from_points([line[i] for line in lines])):
                b.store_vector(vec, self.stash, [i, j, 0])
        image, row, column = place
        filter = b.add(b.mul(panel, plan.width), first)
        exact = self.shape.filters % plan.lanes == 0
        mask = None if exact else b.mask_first(b.sub(self.shape.filters, filter), plan.lanes)

        def store(i, j):
            at = (image, b.add(row, b.mul(i, self.steps[0])), b.add(column, b.mul(j, self.steps[1])), filter)
            finish(b.load_vector(self.stash, [i, j, 0], plan.lanes), Place(at, 3, plan.lanes, mask), self.y, at, self.epilogue)

        rows, columns = (self._extent(*axis) for axis in zip(self.out, (row, column), self.steps))
        most = plan.size
        b.loop(0, rows, 1, lambda i: b.loop(0, columns, 1, lambda j: store(i, j), rolled=True, most=most), rolled=True, most=most)

    def _extent(self, size, start, step):
        """Outputs of a tile along one axis; none where a remainder by the dilation has fewer tiles than others."""
        if b.known(size) and size % (self.plan.size * step) == 0:
            return self.plan.size
        rest = b.sub(size, start)
        return b.minimum(self.plan.size, rest if step == 1 else b.ceil_div(b.maximum(rest, 0), step))


def _within(start, length, size):
    """0 <= start and start + length <= size."""
    return b.both(b.less(-1, start), b.less(b.add(start, length - 1), size))


def _and(mask, other):
    return mask if other is None else arith.andi(mask, other)


def emit_winograd_filter(filter, packed):
    """packed[panel][point][channel][filter] = G g G^T, zeros after the last filter."""
    filters = ir.MemRefType(filter.type).shape[0]
    panels, points, channels, width = ir.MemRefType(packed.type).shape
    side = int(points**0.5)
    scalar = ir.F32Type.get()

    def transform(rows):
        """G times a list of three scalars."""
        return [_combine(factors, rows) for factors in FILTER[side - 2]]

    def chunk(index):
        panel, channel = b.split(index, panels, channels)

        def one(j):
            number = b.add(b.mul(panel, width), j)
            there = True if filters % width == 0 else b.less(number, filters)
            source = number if there is True else b.minimum(number, filters - 1)
            taps = [[b.load(filter, [source, channel, ky, kx]) for ky in range(3)] for kx in range(3)]
            half = [transform(column) for column in taps]
            for i in range(side):
                for k, value in enumerate(transform([half[kx][i] for kx in range(3)])):
                    if there is not True:
                        value = arith.select(there, value, b.zero(scalar))
                    b.store(value, packed, [panel, i * side + k, channel, j])

        b.loop(0, width, 1, one)

    b.parallel(panels * channels, chunk)


def _combine(factors, values):
    total = None
    for factor, value in zip(factors, values):
        if factor:
            term = value if factor == 1 else arith.mulf(value, arith.constant(value.type, float(factor)))
            total = term if total is None else arith.addf(total, term)
    return total
