"""Maxima and means over windows of two or three axes, floats, without a padded copy. f16 and bf16 are compared and summed as f32.

NHWC: lanes are channels. NCHW: a chunk is one channel. For each row of the output the rows of its windows are first joined, column by
column, into one row on the stack with -infinity at both ends; then each vector of outputs is the maximum of as many vectors of that row
as the window is wide. A tap outside of the image reads the nearest pixel inside, which is in the same window; a mean reads zeros there.
"""

import functools
import itertools
import math
from dataclasses import dataclass

from mlir.dialects import arith, vector

from ..targets import Target, host
from . import build as b
from .pack import accumulator_type

WIDEST = 4096
"""Columns of a row on the stack, at most."""


@dataclass(frozen=True)
class PoolShape:
    """An entry for each axis, of `pads` all lows, then all highs. A size is None where known only at run time."""

    size: tuple[int | None, ...]
    kernel: tuple[int, ...]
    strides: tuple[int, ...]
    pads: tuple[int, ...]
    divisor: int | None = None
    """The sum of a window is divided by it; None is the maximum."""
    inside: bool = False
    """All taps are known to be inside of the image."""

    def covers(self, out: tuple[int, ...]) -> bool:
        """Whether each window of outputs of this size holds a pixel; along an axis of unknown size, there are no outputs of no pixels then."""
        axes = zip(out, self.strides, self.pads, self.pads[len(out):], self.kernel, self.size)
        return all(low < taps and high < taps and (low + high < taps if size is None else (count - 1) * step - low < size)
                   for count, step, low, high, taps, size in axes)  # fmt: skip

    def has_kernel(self, out: tuple[int, ...]) -> bool:
        """Whether `emit_pool` computes outputs of this size in NCHW: a row fits the stack."""
        known = None not in self.size
        return known and self.covers(out) and self.strides[-1] <= 2 and self.kernel[-1] <= 16 and 2 * out[-1] + self.size[-1] < WIDEST

    def taps(self, axis: int, position, size) -> list[tuple]:
        """The pixels of a window along one axis of this size, the nearest inside for those outside, and whether a pixel counts."""
        first, last = b.sub(b.mul(position, self.strides[axis]), self.pads[axis]), b.sub(size, 1)
        places = [b.add(first, tap) for tap in range(self.kernel[axis])]
        if self.inside:
            return [(place, True) for place in places]
        counts = lambda place: self.divisor is None or b.both(b.less(-1, place), b.less(place, size))
        return [(b.minimum(b.maximum(place, 0), last), counts(place)) for place in places]


def emit_pool(x, y, shape: PoolShape, target: Target | None = None, layout: str = "nchw"):
    """Emit y = pool(x) for x and y [n, c, h, w], or [n, h, w, c] with the layout `"nhwc"`; with a depth before h for three axes."""
    kind = _ChannelsLast if layout == "nhwc" else _ChannelsFirst
    kind(x, y, shape, target or host()).emit()


class _Windows:
    def __init__(self, x, y, shape, target):
        self.x, self.y, self.shape = x, y, shape
        self.element, self.wide = b.element_type(x), accumulator_type(b.element_type(x))
        self.lanes = target.lanes(b.bits(self.wide))
        self.kind = b.vector_type(self.lanes, self.wide)

        self.start = -math.inf if shape.divisor is None else 0.0

    def _load(self, indices, counts, mask):
        """Pixels, or zeros where they do not count."""
        if counts is not True:
            every = b.mask_all(counts, self.lanes)
            mask = every if mask is None else arith.andi(mask, every)
        return b.widen(b.load_vector(self.x, indices, self.lanes, mask), self.wide)

    def _fold(self, vectors):
        """Lane by lane the largest, where a NaN wins, or the sum."""
        return functools.reduce(arith.maximumf if self.shape.divisor is None else arith.addf, vectors)

    def _store(self, vec, indices, mask):
        divisor = self.shape.divisor or 1
        if divisor & (divisor - 1):
            vec = arith.divf(vec, b.splat(self.kind, float(divisor)))
        elif divisor > 1:
            vec = arith.mulf(vec, b.splat(self.kind, 1 / divisor))
        b.store_vector(b.narrow(vec, self.element), self.y, indices, mask)


class _ChannelsLast(_Windows):
    def emit(self):
        images, *lines, self.columns, self.channels = (b.dim(self.y, axis) for axis in range(b.rank(self.y)))
        self.size = [b.dim(self.x, axis) for axis in range(1, b.rank(self.x) - 1)]
        b.parallel(functools.reduce(b.mul, lines, images), lambda chunk: self._row(*b.split(chunk, images, *lines)))

    def _row(self, image, *line):
        lines = [self.shape.taps(axis, place, self.size[axis]) for axis, place in enumerate(line)]
        whole = b.sub(self.channels, b.rem(self.channels, self.lanes))

        def pixel(x):
            columns = self.shape.taps(len(line), x, self.size[-1])
            taps = [_together(*tap, column) for column in columns for tap in itertools.product(*lines)]
            everywhere = functools.reduce(b.both, (counts for _, counts in taps))
            b.when(everywhere, lambda: window(x, [(place, True) for place, _ in taps]), lambda: window(x, taps))

        def window(x, taps):
            def channel(at, mask):
                vectors = (self._load([image, *place, at], counts, mask) for place, counts in taps)
                self._store(self._fold(vectors), [image, *line, x, at], mask)

            b.loop(0, whole, self.lanes, lambda at: channel(at, None), rolled=True)
            rest = b.sub(self.channels, whole)
            b.when(b.less(0, rest), lambda: channel(whole, b.mask_first(rest, self.lanes)))

        b.loop(0, self.columns, 1, pixel)


class _ChannelsFirst(_Windows):
    def emit(self):
        images, channels = b.dim(self.x, 0), b.dim(self.x, 1)
        self.lines, self.columns = [b.dim(self.y, axis) for axis in range(2, b.rank(self.y) - 1)], b.dim(self.y, b.rank(self.y) - 1)
        b.parallel(b.mul(images, channels), lambda chunk: self._channel(*b.split(chunk, images, channels)))

    def _channel(self, image, channel):
        lanes, shape = self.lanes, self.shape
        length = max(self.left + shape.size[-1], -(-self.columns // lanes) * lanes * shape.strides[-1] + shape.kernel[-1]) + 2 * lanes
        self.row = b.stack((-(-length // lanes) * lanes,), self.wide)
        start = b.splat(self.kind, self.start)
        b.loop(0, -(-length // lanes) * lanes, lanes, lambda at: b.store_vector(start, self.row, [at]))
        b.loop(0, math.prod(self.lines), 1, lambda number: self._row([image, channel], b.split(number, *self.lines)))

    @property
    def left(self):
        """Pixels before a row."""
        return self.shape.pads[len(self.shape.size) - 1]

    def _row(self, plane, line):
        axes = (self.shape.taps(axis, place, self.shape.size[axis]) for axis, place in enumerate(line))
        lines = [_together(*taps) for taps in itertools.product(*axes)]
        b.each_vector(self.shape.size[-1], self.lanes, lambda at, mask: self._join(plane, lines, at, mask))
        b.each_vector(self.columns, self.lanes, lambda at, mask: self._finish([*plane, *line], at, mask))

    def _join(self, plane, lines, at, mask):
        vec = self._fold(self._load([*plane, *line, at], counts, mask) for line, counts in lines)
        b.store_vector(vec, self.row, [b.add(at, self.left)], mask)

    def _finish(self, place, at, mask):
        taps = (self._every(b.add(b.mul(at, self.shape.strides[-1]), kx)) for kx in range(self.shape.kernel[-1]))
        self._store(self._fold(taps), [*place, at], mask)

    def _every(self, at):
        """Elements of the joined row from `at` on, in steps of the stride."""
        first = b.load_vector(self.row, [at], self.lanes)
        if self.shape.strides[-1] == 1:
            return first
        return vector.shuffle(first, b.load_vector(self.row, [b.add(at, self.lanes)], self.lanes), list(range(0, 2 * self.lanes, 2)))


def _together(*taps):
    """The place of a pixel along all axes, and whether it counts."""
    return [place for place, _ in taps], functools.reduce(b.both, (counts for _, counts in taps))
