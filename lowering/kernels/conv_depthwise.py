"""Depthwise convolution in NCHW, one filter a channel.

Lanes run along the output's row; a tile is several output rows of one vector, so that an input row, once loaded, serves
every output row that it is a tap of. Taps outside the image are left out, by masks where only some lanes are.
"""

from mlir import ir
from mlir.dialects import arith, vector

from . import build as b
from .conv_taps import Taps
from .pack import accumulator_type
from .place import Place, finish

ROWS = 4
"""Output rows of a tile."""


class PlaneDepthwise:
    def __init__(self, x, filter, y, shape, epilogue, target):
        self.x, self.filter, self.y, self.shape, self.epilogue = x, filter, y, shape, epilogue
        self.accumulator = accumulator_type(b.element_type(x))
        self.lanes = target.lanes(b.bits(self.accumulator))
        self.kind = b.vector_type(self.lanes, self.accumulator)
        self.size = b.dim(x, 2), b.dim(x, 3)
        self.out = b.dim(y, 2), b.dim(y, 3)
        self.taps = Taps(shape.axes(), self.size, self.out)

    def emit(self):
        images, channels = b.dim(self.x, 0), b.dim(self.x, 1)
        b.parallel(b.mul(images, channels), lambda chunk: self._plane(*b.split(chunk, images, channels)))

    def _plane(self, image, channel):
        self.image, self.channel = image, channel
        self.weights = [
            [
                b.broadcast(b.widen(b.load(self.filter, [channel, ky, kx]), self.accumulator), self.lanes)
                for kx in range(self.shape.kernel[1])
            ]
            for ky in range(self.shape.kernel[0])
        ]
        if b.known(self.out[0]) and b.known(self.size[0]):
            for (start, end), height, taps in self.taps.row_tiles(ROWS):
                b.loop(start, end, height, lambda y, taps=taps: self._row(y, taps))
        else:
            b.loop(0, self.out[0], 1, self._checked_row)

    def _checked_row(self, y):
        taps = []
        for ky in range(self.shape.kernel[0]):
            at = self.taps.input_row(y, ky)
            taps.append(b.both(b.less(-1, at), b.less(at, self.size[0])))
        self._row(y, (tuple(taps),))

    def _row(self, y, taps):
        """The vectors of a row: those that need masks alone, the others in a loop."""
        safe, unsafe = self._safe_vectors()
        lanes = self.lanes
        b.loop(0, safe, lanes, lambda x: self._tile(y, taps, x, True))
        b.loop(safe, unsafe, lanes, lambda x: self._tile(y, taps, x, False))
        b.loop(unsafe, self.out[1], lanes, lambda x: self._tile(y, taps, x, True))

    def _safe_vectors(self):
        """First and end (multiples of the lanes) of the output columns whose vectors are whole and read inside the image only."""
        shape, lanes = self.shape, self.lanes
        safe = -(-shape.pads[1] // (shape.strides[1] * lanes)) * lanes
        span = shape.dilations[1] * (shape.kernel[1] - 1)
        read = shape.strides[1] * lanes + span  # columns a vector's loads touch, the spare ones of a stride included
        room = b.sub(b.add(self.size[1], shape.pads[1]), read)
        vectors = b.div(b.add(b.maximum(room, -shape.strides[1] * lanes), shape.strides[1] * lanes), shape.strides[1] * lanes)
        unsafe = b.minimum(b.mul(vectors, lanes), b.mul(b.div(self.out[1], lanes), lanes))
        return (b.minimum(safe, unsafe), unsafe) if not b.known(unsafe) else (min(safe, unsafe), unsafe)

    def _tile(self, y, taps, x, masked):
        """All taps of `len(taps)` rows of one vector of pixels."""
        shape, height = self.shape, len(taps)
        sums = [b.zero(self.kind)] * height
        rows = {}
        for r in range(height):
            for ky in range(shape.kernel[0]):
                if taps[r][ky] is not False:
                    rows.setdefault(r * shape.strides[0] + ky * shape.dilations[0], []).append((r, ky))
        for offset, users in sorted(rows.items()):
            row = b.add(b.mul(y, shape.strides[0]), offset - shape.pads[0])
            checked = taps[users[0][0]][users[0][1]]
            if checked is not True:
                row = b.minimum(b.maximum(row, 0), b.sub(self.size[0], 1))
            for kx in range(shape.kernel[1]):
                pixels, inside = self._pixels(row, x, kx, masked)
                for r, ky in users:
                    sums[r] = self._add(pixels, self.weights[ky][kx], sums[r], inside, taps[r][ky])
        mask = b.mask_first(b.sub(self.out[1], x), self.lanes) if masked else None
        for r, vec in enumerate(sums):
            at = (self.image, self.channel, b.add(y, r), x)
            finish(vec, Place(at, 3, self.lanes, mask), self.y, at, self.epilogue)

    def _add(self, pixels, weight, total, inside, row_inside):
        result = b.multiply_add(pixels, weight, total)
        if inside is not None:
            result = arith.select(inside, result, total)
        return result if row_inside is True else arith.select(row_inside, result, total)

    def _pixels(self, row, x, kx, masked):
        """The input under tap kx of a vector of output pixels, and the lanes inside the image (None: all)."""
        stride, lanes = self.shape.strides[1], self.lanes
        column = self.taps.input_column(x, kx)
        inside = self._lanes_inside(column, stride) if masked else None
        if stride == 1:
            return self._load(row, column, inside), inside
        if stride == 2:
            halves = [
                self._load(row, b.add(column, h * lanes), self._lanes_inside(b.add(column, h * lanes), 1) if masked else None)
                for h in range(2)
            ]
            return vector.shuffle(*halves, list(range(0, 2 * lanes, 2))), inside
        return self._gather(row, column, stride, inside), inside

    def _load(self, row, column, mask):
        vec = b.load_vector(self.x, [self.image, self.channel, row, column], self.lanes, mask)
        return b.widen(vec, self.accumulator)

    def _gather(self, row, column, stride, mask):
        """Lane by lane, clamped to the row."""
        result = b.zero(b.vector_type(self.lanes, b.element_type(self.x)))
        last = b.sub(self.size[1], 1)
        for lane in range(self.lanes):
            at = b.minimum(b.maximum(b.add(column, lane * stride), 0), last)
            scalar = b.load(self.x, [self.image, self.channel, row, at])
            result = vector.insert(scalar, result, dynamic_position=[], static_position=[lane])
        return b.widen(result, self.accumulator)

    def _lanes_inside(self, column, stride):
        """The lanes l with 0 <= column + l * stride < width."""
        if b.known(column) and b.known(self.size[1]):
            truths = [0 <= column + lane * stride < self.size[1] for lane in range(self.lanes)]
            return b.constant_mask(truths)
        below = b.ceil_div(b.maximum(b.sub(0, column), 0), stride)
        inside = b.mask_first(b.ceil_div(b.maximum(b.sub(self.size[1], column), 0), stride), self.lanes)
        return self._without_first(below, inside)

    def _without_first(self, count, mask):
        if b.known(count) and count == 0:
            return mask
        kind = b.vector_type(self.lanes, ir.IntegerType.get_signless(1))
        first = vector.create_mask(kind, [b.value(count)])
        ones = b.constant_mask([True] * self.lanes)
        others = arith.xori(first, ones)
        return others if mask is None else arith.andi(mask, others)
