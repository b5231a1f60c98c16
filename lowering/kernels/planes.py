"""From a stash [pixel][filter] to the planes of an NCHW output, through squares in registers, with the epilogue."""

from . import build as b
from .place import Place, finish
from .transpose import transpose_square


class PlaneWriter:
    def __init__(self, stash, y, plan, epilogue, sizes):
        """`sizes` are the filters of a group and the output's width."""
        self.stash, self.plan, self.epilogue = stash, plan, epilogue
        self.per_group, self.width = sizes
        self.flat = b.collapse(y, [[0], [1], [2, 3]])

    def write(self, where, pixel, count, start):
        """Pixels `pixel` … of the stash to the planes, from position `start` on; `where` is (image, group, panel)."""
        lanes = self.plan.lanes
        whole = b.sub(count, b.rem(count, lanes))

        def squares(offset, pixels):
            b.loop(
                0, self.plan.width, lanes, lambda column: self._square(where, b.add(pixel, offset), pixels, column, b.add(start, offset))
            )

        b.loop(0, whole, lanes, lambda offset: squares(offset, None))
        rest = b.sub(count, whole)
        if not b.known(rest) or rest:
            b.when(b.less(0, rest), lambda: squares(whole, rest))

    def _square(self, where, pixel, pixels, column, position):
        """One square; `pixels` of it are there (None: all)."""
        image, group, panel = where
        lanes = self.plan.lanes
        mask = None if pixels is None else b.mask_first(pixels, lanes)
        first = b.add(b.mul(panel, self.plan.width), column)
        square = [b.load_vector(self.stash, [b.add(pixel, i), column], lanes) for i in range(lanes)]
        for i, vec in enumerate(transpose_square(square)):
            number = b.add(first, i)

            def put(vec=vec, number=number):
                at = (image, b.add(b.mul(group, self.per_group), number), position)
                finish(vec, Place(at, 2, lanes, mask, pixels=True, width=self.width), self.flat, at, self.epilogue)

            b.when(True if self.per_group % self.plan.width == 0 else b.less(number, self.per_group), put)
