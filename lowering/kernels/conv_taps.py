"""Which taps of a convolution lie inside the image, so that no padded copy is needed.

Where a size is known the answer is worked out in Python, per tile, and tiles with the same answer share one loop; else the middle of the
image, where every tap lies inside, runs without checks, and the few pixels on its border run alone with checks.
"""

from . import build as b
from . import tile


class Taps:
    def __init__(self, axes, size, out):
        """`axes` are the two `Axis`, `size` and `out` (height, width) of the input and the output, as indices."""
        self.axes, self.size, self.out = axes, size, out

    def input_row(self, y, ky):
        return self._input(0, y, ky)

    def input_column(self, x, kx):
        return self._input(1, x, kx)

    def _input(self, axis, position, tap):
        along = self.axes[axis]
        return b.add(b.mul(position, along.stride), b.add(b.mul(tap, along.spacing), along.start))

    def inside(self, axis, position, tap) -> bool:
        """For a known position and size."""
        return 0 <= self._input(axis, position, tap) < self.size[axis]

    def row_tiles(self, rows: int):
        """Tiles of `rows` rows of an image of known height: ((first, end), rows, taps inside by row), equal neighbours merged."""
        tiles = []
        for y in range(0, self.out[0], rows):
            height = min(rows, self.out[0] - y)
            taps = tuple(tuple(self.inside(0, y + r, ky) for ky in range(self.axes[0].taps)) for r in range(height))
            tiles.append((y, height, taps))
        return merge_tiles(tiles)

    def always_inside(self, axis: int) -> bool:
        """Whether no tap of any output lies outside, as far as is known."""
        along, size, out = self.axes[axis], self.size[axis], self.out[axis]
        if along.start < 0 or not (b.known(size) and b.known(out)):
            return False
        return out == 0 or self._input(axis, out - 1, along.taps - 1) < size

    def tap_rows(self, y):
        """First and end of the tap rows inside the image, for one output row."""
        along = self.axes[0]
        if self.always_inside(0):
            return 0, along.taps
        start = b.add(b.mul(y, along.stride), along.start)
        low = b.ceil_div(b.maximum(b.sub(0, start), 0), along.spacing)
        room = b.maximum(b.sub(self.size[0], start), 0)
        return b.minimum(low, along.taps), b.minimum(b.ceil_div(room, along.spacing), along.taps)

    def columns(self, left, end, most: int, body):
        """Cut the output columns left … end into tiles of at most `most`: `body(x, size, taps inside by pixel)`.

        `end` is None for a whole row of known width.
        """
        if end is None:
            for (start, stop), size, taps in self._column_tiles(most):
                b.loop(start, stop, size, lambda x, size=size, taps=taps: body(x, size, taps))
            return
        every = ((True,) * self.axes[1].taps,)

        def middle(start, stop):
            tile.for_each_tile(b.sub(stop, start), most, lambda x, size: body(b.add(start, x), size, every * size))

        if self.always_inside(1):
            middle(left, end)
            return
        safe, unsafe = self._safe_columns(left, end)
        b.loop(left, safe, 1, lambda x: body(x, 1, self._checked(x)))
        middle(safe, unsafe)
        b.loop(unsafe, end, 1, lambda x: body(x, 1, self._checked(x)))

    def _column_tiles(self, most):
        """As `row_tiles`, but evenly cut, so that at most two widths occur."""
        width, tiles, start = self.out[1], [], 0
        count = -(-width // most)
        for i in range(count):
            size = width // count + (i < width % count)
            taps = tuple(tuple(self.inside(1, start + p, kx) for kx in range(self.axes[1].taps)) for p in range(size))
            tiles.append((start, size, taps))
            start += size
        return merge_tiles(tiles)

    def _safe_columns(self, left, end):
        """First and end of the columns whose taps all lie inside."""
        along = self.axes[1]
        span = along.spacing * (along.taps - 1) + along.start
        safe = b.minimum(b.maximum(left, max(0, -(along.start // along.stride))), end)
        room = b.maximum(b.sub(b.add(self.size[1], along.stride - 1), span), 0)
        return safe, b.minimum(b.maximum(b.div(room, along.stride), safe), end)

    def _checked(self, x):
        """Conditions for the taps of one column."""
        taps = []
        for kx in range(self.axes[1].taps):
            at = self.input_column(x, kx)
            taps.append(b.both(b.less(-1, at), b.less(at, self.size[1])))
        return (tuple(taps),)


def merge_tiles(tiles):
    """(start, size, taps) of equal size and taps that follow each other, as ((start, end), size, taps)."""
    merged = []
    for start, size, taps in tiles:
        if merged and merged[-1][1:] == (size, taps):
            merged[-1] = ((merged[-1][0][0], start + size), size, taps)
        else:
            merged.append(((start, start + size), size, taps))
    return merged
