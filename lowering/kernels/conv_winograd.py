"""Winograd's F(4x4, 3x3) for 3x3 convolutions of stride 1: 36 multiplications for 16 outputs where the plain sum takes 144.

    y = A^T [ sum over channels of (G g G^T) * (B^T d B) ] A      for each 4x4 tile of the output, 6x6 window d of the input

First a parallel loop transforms the windows, lanes along the tiles of a row, to windows[image][group][36][channel][tile]. Then,
for a group of tiles and a panel of filters, 36 products of tiles x channels x filters go to a stash on the stack, and the inverse
transform to the output.

Less exact than the plain sum (about 1e-5 of the largest output), and an infinity spoils its whole tile: so the caller has to ask for it.
"""

from dataclasses import dataclass

from mlir import ir
from mlir.dialects import arith, vector

from . import build as b
from . import tile
from .planes import PlaneWriter
from .shapes import ConvShape

POINTS = 36
LARGEST_FILTER = 4 << 20
"""Bytes of the transformed filter: a larger one takes longer to read than the multiplications saved."""

FILTER = [[1 / 4, 0, 0], [-1 / 6, -1 / 6, -1 / 6], [-1 / 6, 1 / 6, -1 / 6], [1 / 24, 1 / 12, 1 / 6], [1 / 24, -1 / 12, 1 / 6], [0, 0, 1]]
"""G: the filter's transform, for the points 0, 1, -1, 2, -2 and infinity."""


@dataclass(frozen=True)
class WinogradPlan:
    lanes: int
    width: int
    across: int
    """Tiles of a group along a row."""
    down: int
    """Rows of tiles of a group."""
    groups_across: int
    groups_down: int

    @property
    def tiles(self) -> int:
        return self.across * self.down

    @property
    def vectors(self) -> int:
        return self.width // self.lanes


def winograd_plan(shape: ConvShape, target) -> WinogradPlan | None:
    """None where it does not apply or would not pay."""
    fits = shape.kernel == (3, 3) and shape.strides == shape.dilations == (1, 1) and shape.groups == 1
    fits = fits and (shape.layout_in, shape.layout_out) == ("nchw", "nchw") and None not in (shape.height, shape.width)
    if not fits or target.lanes(32) < 8 or POINTS * 4 * shape.channels * shape.filters > LARGEST_FILTER:
        return None
    height, width = shape.output_size()
    if height * width < 256 or shape.channels < 16 or shape.filters < target.lanes(32):
        return None
    rows, columns = -(-height // 4), -(-width // 4)
    segments = -(-columns // min(target.rows, target.lanes(32) - 1))
    across = -(-columns // segments)
    down = max(1, target.rows // across) if segments == 1 else 1
    lanes = target.lanes(32)
    return WinogradPlan(lanes, lanes * target.vectors, across, down, segments, -(-rows // down))


def winograd_filter_shape(shape, plan) -> tuple:
    return (-(-shape.filters // plan.width), POINTS, shape.channels, plan.width)


def winograd_windows_shape(shape, plan, images) -> tuple:
    """The scratch buffer that holds the transformed windows."""
    return (images, plan.groups_down * plan.groups_across, POINTS, shape.channels, -(-plan.tiles // 8) * 8)


class WinogradConvolution:
    def __init__(self, x, filter, y, windows, shape, plan, epilogue):
        self.x, self.filter, self.y, self.windows = x, filter, y, windows
        self.shape, self.plan, self.epilogue = shape, plan, epilogue
        self.height, self.width = shape.output_size()
        self.kind = b.vector_type(plan.lanes, ir.F32Type.get())

    def emit(self):
        plan, shape = self.plan, self.shape
        images = b.dim(self.x, 0)
        grid = [images, plan.groups_down, plan.groups_across]
        count = b.mul(images, plan.groups_down * plan.groups_across)
        b.parallel(count, lambda chunk: self._transform_group(*b.split(chunk, *grid)))
        panels = -(-shape.filters // plan.width)
        b.parallel(
            b.mul(count, panels), lambda chunk: self._multiply_group(*b.split(chunk, images, panels, plan.groups_down, plan.groups_across))
        )

    def _group(self, down, across):
        return b.add(b.mul(down, self.plan.groups_across), across)

    def _rows_of_group(self, down):
        rows = -(-self.height // 4)
        return self.plan.down if rows % self.plan.down == 0 else b.minimum(self.plan.down, b.sub(rows, b.mul(down, self.plan.down)))

    # --- B^T d B ------------------------------------------------------------------------------------------------------------------

    def _transform_group(self, image, down, across):
        left = b.sub(b.mul(across, 4 * self.plan.across), self.shape.pads[1])
        masks = [self._columns_inside(b.add(left, v * self.plan.lanes)) for v in range(4)]

        def row_of_tiles(row):
            top = b.sub(b.mul(b.add(b.mul(down, self.plan.down), row), 4), self.shape.pads[0])
            place = (image, self._group(down, across), b.mul(row, self.plan.across))
            b.loop(0, self.shape.channels, 1, lambda channel: self._transform(place, top, left, channel, masks))

        b.loop(0, self._rows_of_group(down), 1, row_of_tiles)

    def _columns_inside(self, column):
        """The lanes l with 0 <= column + l < width."""
        lanes = self.plan.lanes
        kind = b.vector_type(lanes, ir.IntegerType.get_signless(1))
        before = vector.create_mask(kind, [b.value(b.maximum(b.sub(0, column), 0))])
        until = vector.create_mask(kind, [b.value(b.maximum(b.sub(self.shape.width, column), 0))])
        return arith.andi(until, arith.xori(before, b.constant_mask([True] * lanes)))

    def _transform(self, place, top, left, channel, masks):
        """One channel of a row of tiles: a lane is a tile."""
        image, group, first = place
        rows = [_to_points(self._window_row(image, channel, b.add(top, i), left, masks)) for i in range(6)]
        mask = b.mask_first(self.plan.across, self.plan.lanes)
        for j in range(6):
            for i, vec in enumerate(_to_points([row[j] for row in rows])):
                b.store_vector(vec, self.windows, [image, group, i * 6 + j, channel, first], mask)

    def _window_row(self, image, channel, row, left, masks):
        """Vectors 0 … 5: column j of the windows of all tiles, which are four columns apart."""
        lanes = self.plan.lanes
        inside = b.both(b.less(-1, row), b.less(row, self.shape.height))
        row = b.minimum(b.maximum(row, 0), self.shape.height - 1)
        parts = []
        for v in range(4):
            mask = arith.andi(masks[v], b.broadcast(inside, lanes))
            parts.append(b.load_vector(self.x, [image, channel, row, b.add(left, v * lanes)], lanes, mask))
        evens, odds = list(range(0, 2 * lanes, 2)), list(range(1, 2 * lanes, 2))
        low, high = [[vector.shuffle(x, y, half) for half in (evens, odds)] for x, y in (parts[:2], parts[2:])]
        first, third = [vector.shuffle(low[0], high[0], half) for half in (evens, odds)]
        second, fourth = [vector.shuffle(low[1], high[1], half) for half in (evens, odds)]
        following = [*range(1, lanes), lanes - 1]
        return [first, second, third, fourth, vector.shuffle(first, first, following), vector.shuffle(second, second, following)]

    # --- products and A^T m A -----------------------------------------------------------------------------------------------------

    def _multiply_group(self, image, panel, down, across):
        plan = self.plan
        sums = b.stack((POINTS * plan.tiles, plan.width), ir.F32Type.get())
        self.stash = b.stack((16 * plan.tiles + plan.lanes, plan.width), ir.F32Type.get())
        group = self._group(down, across)

        def point(e):
            def columns(k):
                return [b.load_vector(self.filter, [panel, e, k, v * plan.lanes], plan.lanes) for v in range(plan.vectors)]

            accumulators = [b.zero(self.kind)] * (plan.tiles * plan.vectors)
            result = tile.accumulate(
                accumulators, plan.tiles, self.shape.channels, lambda k, t: b.load(self.windows, [image, group, e, k, t]), columns
            )
            for i, vec in enumerate(result):
                t, v = divmod(i, plan.vectors)
                b.store_vector(vec, sums, [b.add(b.mul(e, plan.tiles), t), v * plan.lanes])

        b.loop(0, POINTS, 1, point, rolled=True)
        self._outputs(sums, image, panel, down, across)

    def _outputs(self, sums, image, panel, down, across):
        plan = self.plan
        pitch = 4 * plan.across
        b.loop(0, plan.down, 1, lambda row: b.loop(0, plan.across, 1, lambda t: b.loop(
            0, plan.width, plan.lanes, lambda column: self._inverse(sums, row, t, column, pitch))))  # fmt: skip
        writer = PlaneWriter(self.stash, self.y, plan, self.epilogue, (self.shape.filters, self.width))
        top, left = b.mul(down, 4 * plan.down), b.mul(across, pitch)
        rows = 4 * plan.down if self.height % (4 * plan.down) == 0 else b.minimum(4 * plan.down, b.sub(self.height, top))
        if pitch == self.width:
            writer.write((image, 0, panel), 0, b.mul(rows, self.width), b.mul(top, self.width))
            return
        columns = pitch if self.width % pitch == 0 else b.minimum(pitch, b.sub(self.width, left))
        b.loop(0, rows, 1, lambda y: writer.write(
            (image, 0, panel), b.mul(y, pitch), columns, b.add(b.mul(b.add(top, y), self.width), left)))  # fmt: skip

    def _inverse(self, sums, row, t, column, pitch):
        """One tile, one vector of filters: 36 sums to 16 pixels of the stash."""
        plan = self.plan
        number = b.add(b.mul(row, plan.across), t)
        points = [[b.load_vector(sums, [b.add((i * 6 + j) * plan.tiles, number), column], plan.lanes) for i in range(6)] for j in range(6)]
        rows = [_from_points(line) for line in points]
        for i in range(4):
            for j, vec in enumerate(_from_points([line[i] for line in rows])):
                pixel = b.add(b.mul(b.add(b.mul(row, 4), i), pitch), b.add(b.mul(t, 4), j))
                b.store_vector(vec, self.stash, [pixel, column])


def _to_points(d):
    """B^T d for six vectors."""
    even, odd = _times(-4, d[2], d[4]), _times(-4, d[1], d[3])
    outer, inner = b.minus(d[4], d[2]), b.minus(d[3], d[1])
    return [
        _times(4, d[0], _times(-5, d[2], d[4])),
        b.plus(even, odd),
        b.minus(even, odd),
        _times(2, inner, outer),
        _times(-2, inner, outer),
        _times(4, d[1], _times(-5, d[3], d[5])),
    ]


def _from_points(m):
    """A^T m for six vectors: four vectors."""
    near, near_odd = b.plus(m[1], m[2]), b.minus(m[1], m[2])
    far, far_odd = b.plus(m[3], m[4]), b.minus(m[3], m[4])
    return [b.plus(m[0], b.plus(near, far)), _times(2, far_odd, near_odd), _times(4, far, near), b.plus(_times(8, far_odd, near_odd), m[5])]


def _times(factor, x, total):
    return b.multiply_add(b.splat(x.type, float(factor)), x, total)


def emit_winograd_filter(filter, packed, shape):
    """packed[panel][point][channel][filter] = G g G^T, zeros after the last filter."""
    panels, _, channels, width = ir.MemRefType(packed.type).shape
    scalar = ir.F32Type.get()

    def transform(rows):
        """G times a list of three scalars, each one of six."""
        return [_combine(factors, rows) for factors in FILTER]

    def chunk(index):
        panel, channel = b.split(index, panels, channels)

        def one(j):
            number = b.add(b.mul(panel, width), j)
            known = shape.filters % width == 0
            there = True if known else b.less(number, shape.filters)
            source = number if known else b.minimum(number, shape.filters - 1)
            taps = [[b.load(filter, [source, channel, ky, kx]) for ky in range(3)] for kx in range(3)]
            half = [transform(column) for column in taps]
            for i in range(6):
                for k, value in enumerate(transform([half[kx][i] for kx in range(3)])):
                    if not known:
                        value = arith.select(there, value, b.zero(scalar))
                    b.store(value, packed, [panel, i * 6 + k, channel, j])

        b.loop(0, width, 1, one)

    b.parallel(panels * channels, chunk)


def _combine(factors, values):
    total = None
    for factor, value in zip(factors, values):
        if factor:
            term = arith.mulf(value, arith.constant(value.type, float(factor)))
            total = term if total is None else arith.addf(total, term)
    return total
