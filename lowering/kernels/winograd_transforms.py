"""The transforms of Winograd's F(2x2, 3x3) and F(4x4, 3x3), one axis at a time, on lists of vectors; by size of the output's tile.

    y = A^T [ sum over channels of (G g G^T) * (B^T d B) ] A      for each tile of the output and its window d of the input

The points are 0, 1, -1 and infinity, for tiles of 4 also 2 and -2.
"""

from . import build as b

FILTER = {
    2: [[1, 0, 0], [1 / 2, 1 / 2, 1 / 2], [1 / 2, -1 / 2, 1 / 2], [0, 0, 1]],
    4: [[1 / 4, 0, 0], [-1 / 6, -1 / 6, -1 / 6], [-1 / 6, 1 / 6, -1 / 6], [1 / 24, 1 / 12, 1 / 6], [1 / 24, -1 / 12, 1 / 6], [0, 0, 1]],
}  # fmt: skip
"""G."""


def to_points(d):
    """B^T d for four or six vectors."""
    if len(d) == 4:
        return [b.minus(d[0], d[2]), b.plus(d[1], d[2]), b.minus(d[2], d[1]), b.minus(d[1], d[3])]
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


def from_points(m):
    """A^T m for four or six vectors: two or four vectors."""
    near, near_odd = b.plus(m[1], m[2]), b.minus(m[1], m[2])
    if len(m) == 4:
        return [b.plus(m[0], near), b.minus(near_odd, m[3])]
    far, far_odd = b.plus(m[3], m[4]), b.minus(m[3], m[4])
    return [b.plus(m[0], b.plus(near, far)), _times(2, far_odd, near_odd), _times(4, far, near), b.plus(_times(8, far_odd, near_odd), m[5])]


def _times(factor, x, total):
    return b.multiply_add(b.splat(x.type, float(factor)), x, total)
