"""Maximum over windows, f32, without a padded copy.

NHWC: lanes are channels; a tap outside of the image reads the nearest pixel inside, which is in the same window. NCHW: a chunk is one plane. For each row of the output the rows of its windows are first joined, column by column, into one row on the stack with
-infinity at both ends; then each vector of outputs is the maximum of as many vectors of that row as the window is wide. Rows outside of the
image are replaced by the nearest one inside.
"""

import math
from dataclasses import dataclass

from mlir import ir
from mlir.dialects import arith, vector

from ..targets import Target, host
from . import build as b

WIDEST = 4096
"""Columns of a row on the stack, at most."""


@dataclass(frozen=True)
class PoolShape:
    """`pads` is (top, left, bottom, right); sizes are known."""

    height: int
    width: int
    kernel: tuple[int, int]
    strides: tuple[int, int]
    pads: tuple[int, int, int, int]

    def covers(self, rows: int, columns: int) -> bool:
        """Whether each window of so many rows and columns of outputs holds a pixel."""
        inside = all((out - 1) * step - pad < size for out, step, pad, size in
                     zip((rows, columns), self.strides, self.pads, (self.height, self.width)))  # fmt: skip
        return inside and all(pad < size for pad, size in zip(self.pads, self.kernel * 2))

    def has_kernel(self, rows: int, columns: int) -> bool:
        """Whether `emit_max_pool` computes so many rows and columns in NCHW: a row fits the stack."""
        return self.covers(rows, columns) and self.strides[1] <= 2 and self.kernel[1] <= 16 and 2 * columns + self.width < WIDEST


def emit_max_pool(x, y, shape: PoolShape, target: Target | None = None, layout: str = "nchw"):
    """Emit y = max_pool(x) for x and y [n, c, h, w], or [n, h, w, c] with the layout `"nhwc"`."""
    kind = _ChannelsLast if layout == "nhwc" else _MaxPool
    kind(x, y, shape, (target or host()).lanes(32)).emit()


class _ChannelsLast:
    def __init__(self, x, y, shape, lanes):
        self.x, self.y, self.shape, self.lanes = x, y, shape, lanes
        self.size = b.dim(x, 1), b.dim(x, 2)

    def emit(self):
        images, rows = b.dim(self.y, 0), b.dim(self.y, 1)
        b.parallel(b.mul(images, rows), lambda chunk: self._row(*b.split(chunk, images, rows)))

    def _row(self, image, y):
        rows = self._taps(0, y)
        channels = b.dim(self.x, 3)
        whole = b.sub(channels, b.rem(channels, self.lanes))

        def pixel(x):
            taps = [(row, column) for column in self._taps(1, x) for row in rows]

            def channel(at, mask):
                vec = _largest(b.load_vector(self.x, [image, *tap, at], self.lanes, mask) for tap in taps)
                b.store_vector(vec, self.y, [image, y, x, at], mask)

            b.loop(0, whole, self.lanes, lambda at: channel(at, None), rolled=True)
            rest = b.sub(channels, whole)
            b.when(b.less(0, rest), lambda: channel(whole, b.mask_first(rest, self.lanes)))

        b.loop(0, b.dim(self.y, 2), 1, pixel)

    def _taps(self, axis, position):
        """The pixels of a window along one axis, the nearest inside for those outside."""
        first = b.sub(b.mul(position, self.shape.strides[axis]), self.shape.pads[axis])
        last = b.sub(self.size[axis], 1)
        return [b.minimum(b.maximum(b.add(first, tap), 0), last) for tap in range(self.shape.kernel[axis])]


class _MaxPool:
    def __init__(self, x, y, shape, lanes):
        self.x, self.y, self.shape, self.lanes = x, y, shape, lanes
        self.kind = b.vector_type(lanes, ir.F32Type.get())
        self.rows, self.columns = b.dim(y, 2), b.dim(y, 3)

    def emit(self):
        images, channels = b.dim(self.x, 0), b.dim(self.x, 1)
        b.parallel(b.mul(images, channels), lambda chunk: self._plane(*b.split(chunk, images, channels)))

    def _plane(self, image, channel):
        lanes, (_, step) = self.lanes, self.shape.strides
        length = max(self.shape.pads[1] + self.shape.width, -(-self.columns // lanes) * lanes * step + self.shape.kernel[1]) + 2 * lanes
        self.row = b.stack((-(-length // lanes) * lanes,), ir.F32Type.get())
        lowest = b.splat(self.kind, -math.inf)
        b.loop(0, -(-length // lanes) * lanes, lanes, lambda at: b.store_vector(lowest, self.row, [at]))
        b.loop(0, self.rows, 1, lambda y: self._row(image, channel, y))

    def _row(self, image, channel, y):
        top = b.sub(b.mul(y, self.shape.strides[0]), self.shape.pads[0])
        rows = [b.minimum(b.maximum(b.add(top, ky), 0), self.shape.height - 1) for ky in range(self.shape.kernel[0])]
        self._vectors(self.shape.width, lambda at, mask: self._join([image, channel], rows, at, mask))
        self._vectors(self.columns, lambda at, mask: self._store([image, channel, y], at, mask))

    def _vectors(self, count, body):
        """Whole vectors, then the rest under a mask."""
        whole = count // self.lanes * self.lanes
        b.loop(0, whole, self.lanes, lambda at: body(at, None))
        if whole < count:
            body(whole, b.mask_first(count - whole, self.lanes))

    def _join(self, plane, rows, at, mask):
        vec = _largest(b.load_vector(self.x, [*plane, row, at], self.lanes, mask) for row in rows)
        b.store_vector(vec, self.row, [b.add(at, self.shape.pads[1])], mask)

    def _store(self, place, at, mask):
        taps = (self._every(b.add(b.mul(at, self.shape.strides[1]), kx)) for kx in range(self.shape.kernel[1]))
        b.store_vector(_largest(taps), self.y, [*place, at], mask)

    def _every(self, at):
        """Elements of the joined row from `at` on, in steps of the stride."""
        first = b.load_vector(self.row, [at], self.lanes)
        if self.shape.strides[1] == 1:
            return first
        return vector.shuffle(first, b.load_vector(self.row, [b.add(at, self.lanes)], self.lanes), list(range(0, 2 * self.lanes, 2)))


def _largest(vectors):
    """Lane by lane; a NaN wins."""
    result = None
    for vec in vectors:
        result = vec if result is None else arith.maximumf(result, vec)
    return result
