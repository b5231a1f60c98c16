"""Winograd's F(m x m, 3x3) for 3x3 convolutions of stride 1, NHWC: tiles of m x m outputs by (m + 2)^2 products.

First a parallel loop transforms the windows, lanes along the channels, to windows[group][point][tile][channel]. Then, for a panel of
filters and a group of tiles, a product of tiles x channels x filters for each point goes to the stack, and the inverse transform
of that, lanes along the filters, to the output.

Less exact than the plain sum (about 1e-5 of the largest output for m = 4, 2e-6 for m = 2), and an infinity spoils its whole tile: so the
caller has to ask for it.
"""

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
BYTE_COST = 6
"""Multiply-adds in the time in which a byte of a filter comes from beyond L2."""


@dataclass(frozen=True)
class WinogradPlan:
    lanes: int
    width: int
    size: int
    """m: height and width of a tile of the output."""
    down: int
    across: int
    """Tiles of an image."""
    tiles: int
    """Tiles of a group."""
    groups: int
    """Groups of an image, or of all images if they are merged."""
    merged: bool
    """Tiles are numbered through all images, whose number is known."""

    @property
    def vectors(self) -> int:
        return self.width // self.lanes

    @property
    def points(self) -> int:
        return (self.size + 2) ** 2


def winograd_plan(shape: ConvShape, images: int | None, target: Target) -> WinogradPlan:
    down, across = _tiles(shape, shape.winograd)
    total = down * across * (images or 1)
    groups = max(1, -(-total // target.rows))
    lanes = target.lanes(32)
    return WinogradPlan(lanes, lanes * target.vectors, shape.winograd, down, across, -(-total // groups), groups, images is not None)


def _tiles(shape, size):
    return tuple(-(-extent // size) for extent in shape.output_size())


def winograd_size(shape: ConvShape, images: int | None, target: Target | None = None) -> int:
    """The size of tiles that is worth it for so many images: 2 or 4, or 0 where Winograd's method does not apply or does not pay."""
    target = target or host()
    fits = shape.kernel == (3, 3) and shape.strides == shape.dilations == (1, 1) and shape.groups == 1 and not shape.transposed
    if not fits or None in (shape.height, shape.width) or min(shape.output_size()) < 1 or target.lanes(32) < 8:
        return 0
    if shape.channels < target.lanes(32) or shape.filters < target.lanes(32):
        return 0
    height, width = shape.output_size()
    costs = {0: 0.85 * _cost(9, (images or 1) * height * width, shape, target)}
    for size in (4, 2):
        down, across = _tiles(shape, size)
        tiles = down * across * (images or 1)
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


def winograd_windows_shape(shape, plan, images) -> tuple:
    """The scratch buffer that holds the transformed windows."""
    return (plan.groups if plan.merged else images * plan.groups, plan.points, plan.tiles, shape.channels)


class WinogradConvolution:
    def __init__(self, x, filter, y, windows, shape, target, epilogue):
        self.x, self.filter, self.y, self.windows, self.shape, self.epilogue = x, filter, y, windows, shape, epilogue
        self.images, self.level2 = b.dim(x, 0), target.level2
        self.plan = winograd_plan(shape, self.images if b.known(self.images) else None, target)
        self.height, self.width = shape.output_size()
        self.kind = b.vector_type(self.plan.lanes, ir.F32Type.get())
        self.side = self.plan.size + 2

    def emit(self):
        plan = self.plan
        grid = [1 if plan.merged else self.images, plan.groups]
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

    def _each_tile(self, image, group, body):
        """`body(tile of the group, image, row, column)`; row and column of the output's tile."""
        plan = self.plan
        first = b.mul(group, plan.tiles)
        total = plan.down * plan.across * (self.images if plan.merged else 1)
        count = plan.tiles if total % plan.tiles == 0 else b.minimum(plan.tiles, b.sub(total, first))

        def one(t):
            number, down, across = b.split(b.add(first, t), self.images if plan.merged else 1, plan.down, plan.across)
            body(t, number if plan.merged else image, b.mul(down, plan.size), b.mul(across, plan.size))

        b.loop(0, count, 1, one, rolled=True)

    def _group(self, image, group):
        return group if self.plan.merged else b.add(b.mul(image, self.plan.groups), group)

    # --- B^T d B ------------------------------------------------------------------------------------------------------------------

    def _transform_group(self, image, group):
        number = self._group(image, group)

        def window(t, image, row, column):
            top, left = b.sub(row, self.shape.pads[0]), b.sub(column, self.shape.pads[1])
            whole = b.both(_within(top, self.side, self.shape.height), _within(left, self.side, self.shape.width))
            rows = [_within(b.add(top, i), 1, self.shape.height) for i in range(self.side)]
            columns = [_within(b.add(left, j), 1, self.shape.width) for j in range(self.side)]
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

        def pixel(i, j):
            inside = b.both(rows[i], columns[j])
            if inside is False:
                return b.zero(self.kind)
            there = mask if inside is True else _and(b.broadcast(inside, self.plan.lanes), mask)
            return b.load_vector(self.x, [image, b.add(top, i), b.add(left, j), channel], self.plan.lanes, there)

        lines = [to_points([pixel(i, j) for i in range(self.side)]) for j in range(self.side)]
        for i in range(self.side):
            for j, vec in enumerate(to_points([line[i] for line in lines])):
                b.store_vector(vec, self.windows, [number, i * self.side + j, t, channel], mask)

    # --- products and A^T m A -----------------------------------------------------------------------------------------------------

    def _multiply_group(self, panel, image, group):
        plan = self.plan
        sums = b.stack((plan.points, plan.tiles, plan.width), ir.F32Type.get())
        number = self._group(image, group)

        def point(e):
            def columns(k):
                return b.load_streamed(self.filter, [panel, e, k, 0], plan.lanes, plan.vectors)

            zeros = [b.zero(self.kind)] * (plan.tiles * plan.vectors)
            result = tile.accumulate(zeros, plan.tiles, self.shape.channels, lambda k, t: b.load(self.windows, [number, e, t, k]), columns)
            for i, vec in enumerate(result):
                t, v = divmod(i, plan.vectors)
                b.store_vector(vec, sums, [e, t, v * plan.lanes])

        b.loop(0, plan.points, 1, point, rolled=True)
        self.stash = b.stack((plan.size, plan.size, plan.lanes), ir.F32Type.get())
        self._each_tile(image, group, lambda t, image, row, column: b.loop(
            0, self._filters(panel), plan.lanes, lambda first: self._inverse(sums, t, (image, row, column), panel, first), rolled=True))  # fmt: skip

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
            at = (image, b.add(row, i), b.add(column, j), filter)
            finish(b.load_vector(self.stash, [i, j, 0], plan.lanes), Place(at, 3, plan.lanes, mask), self.y, at, self.epilogue)

        rows, columns = self._extent(self.height, row), self._extent(self.width, column)
        b.loop(0, rows, 1, lambda i: b.loop(0, columns, 1, lambda j: store(i, j), rolled=True), rolled=True)

    def _extent(self, size, start):
        """Outputs of a tile along one axis."""
        return self.plan.size if size % self.plan.size == 0 else b.minimum(self.plan.size, b.sub(size, start))


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
