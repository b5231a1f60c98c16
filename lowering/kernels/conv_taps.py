"""Which taps of a convolution lie inside the image, so that no padded copy is needed.

Where a size is known the answer is worked out in Python, per tile, and tiles with the same answer share one loop. Else all tiles of a width
share one, and the first and last pixels of a tile, which alone may lie on the border of the image, are checked and masked. The last pixel of
a tile may even lie behind the row: a tile for it alone would take as long as one for two.
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

        `end` is None for a whole row of known width. Where only a run can tell whether a tap lies inside, `taps` has None: ask `column_inside`;
        and the last pixel of a tile may be the column `end`, which is not there.
        """
        if end is None:
            for (start, stop), size, taps in self._column_tiles(most):
                b.loop(start, stop, size, lambda x, size=size, taps=taps: body(x, size, taps))
            return
        for size in [size for size in tile.heights_for(most) if size > 1 or most == 1]:
            rest = b.sub(b.add(end, 1 if size > 1 else 0), left)
            stop = b.add(left, b.sub(rest, b.rem(rest, size)))
            b.loop(left, stop, size, lambda x, size=size: body(x, size, self._unknown(size)))
            left = stop

    def _unknown(self, size):
        early, late = self._checked(size)
        return tuple((None if p < early or p >= late else True,) * self.axes[1].taps for p in range(size))

    def _checked(self, size):
        """How many pixels at the start of a tile may lie on the left border, and the first that may lie on the right one."""
        return self.axes[1].early, size - self.axes[1].late - 1

    def all_inside(self, x, size):
        """Whether all taps of a tile of `size` pixels from x on lie inside."""
        first, last = self.input_column(x, 0), self.input_column(b.add(x, size - 1), self.axes[1].taps - 1)
        return b.both(b.less(-1, first), b.less(last, self.size[1]))

    def column_inside(self, x, p, kx, size):
        """Whether tap kx of pixel p of a tile of `size` pixels from x on lies inside."""
        early, late = self._checked(size)
        column = self.input_column(b.add(x, p), kx)
        return b.both(p >= early or b.less(-1, column), p < late or b.less(column, self.size[1]))

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


def up_to(end, column, mask, lanes: int):
    """The column and the mask to store with: none of the lanes, at the last column, for one that is not before the end."""
    before = b.less(column, end)
    if before is True:
        return column, mask
    there = b.mask_all(before, lanes)
    return b.minimum(column, b.sub(end, 1)), there if mask is None else b.both(there, mask)


def merge_tiles(tiles):
    """(start, size, taps) of equal size and taps that follow each other, as ((start, end), size, taps)."""
    merged = []
    for start, size, taps in tiles:
        if merged and merged[-1][1:] == (size, taps):
            merged[-1] = ((merged[-1][0][0], start + size), size, taps)
        else:
            merged.append(((start, start + size), size, taps))
    return merged
