"""Depthwise convolution of bytes, NHWC: four taps of a column are the four bytes of a word, of which one instruction adds the products.

A step reads as many bytes of channels as a vector has from up to four rows of the image, and interleaves them: a word then holds the four
rows of one channel. Such words serve every pixel of the tile that has the column under a tap. Rows beyond the image are read as zeros.
"""

from mlir import ir
from mlir.dialects import vector

from ..targets import Target
from . import build as b
from .byte_matmul import WORD, Words
from .conv_taps import Taps, up_to
from .place import Place, finish
from .shapes import ConvShape

SHARE = 16
"""Bytes within which vectors are interleaved by one instruction."""


def depthwise_words_shape(shape: ConvShape, target: Target) -> tuple:
    """The sizes of the filters in words: [four rows of taps][kx][channel], zeros beyond the last row and the last channel."""
    lanes = target.lanes(32)
    return (-(-shape.kernel[0] // WORD), shape.kernel[1], -(-shape.channels // lanes) * lanes)


class ByteDepthwise:
    """`x` [n, h, w, c / 4] are words of four channels; the shape's channels are bytes."""

    def __init__(self, x, words, y, shape, epilogue, target, rolled):
        self.x, self.words, self.y, self.shape, self.epilogue, self.rolled = x, words, y, shape, epilogue, rolled
        self.lanes = target.lanes(32)
        self.pixels = max(1, target.registers // 2 // WORD - (target.registers < 32))
        self.size, self.out = (b.dim(x, 1), b.dim(x, 2)), (b.dim(y, 1), b.dim(y, 2))
        self.taps = Taps(shape.axes(), self.size, self.out)
        self.kind = b.vector_type(self.lanes, ir.F32Type.get())

    def emit(self):
        images = b.dim(self.x, 0)
        b.parallel(b.mul(images, self.out[0]), lambda chunk: self._row(*b.split(chunk, images, self.out[0])))

    def _row(self, image, y):
        self.image, self.line = image, y
        self.tile = b.stack((self.pixels * WORD, self.lanes), ir.F32Type.get()) if self.rolled else None
        end = None if b.known(self.out[1]) and b.known(self.size[1]) else self.out[1]
        whole, step = self.shape.channels // (WORD * self.lanes) * WORD * self.lanes, WORD * self.lanes

        def block(first, channels):
            """All pixels of the row, of `channels` from `first` on."""
            rows = [self._tap_row(ky, channels) for ky in range(self.shape.kernel[0])]
            self.taps.columns(0, end, self.pixels, lambda x, size, taps: self._tile(rows, x, size, taps, first, channels))

        b.loop(0, whole, step, lambda first: block(first, step), rolled=True)
        if whole < self.shape.channels:
            block(whole, self.shape.channels - whole)

    def _tap_row(self, ky, channels):
        """The image's row under a row of taps, or the nearest one, and which words of it are read: none of them beyond the image."""
        row, count = self.taps.input_row(self.line, ky), channels // WORD
        if not any(self.shape.pads):
            return row, b.mask_first(count, self.lanes)
        inside = b.both(b.less(-1, row), b.less(row, self.size[0]))
        return b.minimum(b.maximum(row, 0), b.sub(self.size[0], 1)), b.mask_first(b.select(inside, count, 0), self.lanes)

    def _tile(self, rows, x, size, taps, first, channels):
        vectors, along = -(-channels // self.lanes), self.taps.axes[1]
        sums = [b.zero(self.kind)] * (size * vectors)
        users = {}
        for p in range(size):
            for kx in range(along.taps):
                if taps[p][kx] is not False:
                    users.setdefault(p * along.stride + kx * along.spacing, []).append((p, kx))
        for offset in sorted(users):
            column = b.add(b.mul(x, along.stride), offset + along.start)
            column = column if b.known(self.size[1]) else b.minimum(column, b.sub(self.size[1], 1))
            for group in range(0, len(rows), WORD):
                words = self._interleaved(rows[group : group + WORD], column, first, vectors)
                for p, kx in users[offset]:
                    for v in range(vectors):
                        at = p * vectors + v
                        sums[at] = Words.multiply_add(words[v], self._weights(group // WORD, kx, first, v), sums[at])
        self._store(sums, x, size, first, channels, vectors)

    def _weights(self, group, kx, first, v):
        return b.load_vector(self.words, [group, kx, b.add(first, v * self.lanes)], self.lanes)

    def _interleaved(self, rows, column, first, vectors):
        """Vectors of words: of each channel, in order, the bytes in up to four rows."""
        bytes_ = [self._bytes(row, mask, column, first) for row, mask in rows]
        nothing = b.zero(bytes_[0].type)
        bytes_ += [nothing] * (WORD - len(bytes_))
        halves = [[self._unpacked(*pair, 1, upper) for pair in (bytes_[:2], bytes_[2:])] for upper in (False, True)]
        words = [self._unpacked(*halves[v // 2], 2, bool(v % 2)) for v in range(vectors)]
        return [vector.bitcast(self.kind, word) for word in words]

    def _bytes(self, row, mask, column, first):
        """The bytes of channels in the order from which `_interleaved` makes neighbours: it works within 16 bytes, of which each result takes
        four. So the first four of each 16 are those of the first result, and so on."""
        words = b.load_vector(self.x, [self.image, row, column, b.div(first, WORD)], self.lanes, mask)
        shares = self.lanes // WORD
        order = [shares * i + share for share in range(shares) for i in range(WORD)]
        ordered = vector.shuffle(words, words, order)
        return vector.bitcast(b.vector_type(WORD * self.lanes, ir.IntegerType.get_signless(8)), ordered)

    def _unpacked(self, left, right, width, upper):
        """Elements of `width` bytes of two vectors in turns, from the lower or upper half of each 16 bytes."""
        total, order = WORD * self.lanes, []
        for start in range(0, total, SHARE):
            for element in range(SHARE // 2 // width):
                at = start + (SHARE // 2 if upper else 0) + element * width
                order += [*range(at, at + width), *range(total + at, total + at + width)]
        return vector.shuffle(left, right, order)

    def _store(self, sums, x, size, first, channels, vectors):
        def put(vec, p, v):
            mask = b.mask_first(channels - v * self.lanes, self.lanes)
            column = b.add(x, p)
            if not (b.known(self.out[1]) and b.known(self.size[1])):
                column, mask = up_to(self.out[1], column, mask, self.lanes)
            at = (self.image, self.line, column, b.add(first, v * self.lanes))
            finish(vec, Place(at, 3, self.lanes, mask), self.y, at, self.epilogue)

        if not self.rolled:
            for i, vec in enumerate(sums):
                put(vec, *divmod(i, vectors))
            return
        for i, vec in enumerate(sums):
            b.store_vector(vec, self.tile, [i, 0])
        for v in range(vectors):
            b.loop(0, size, 1, lambda p, v=v: put(b.load_vector(self.tile, [b.add(b.mul(p, vectors), v), 0], self.lanes), p, v))
