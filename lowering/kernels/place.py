"""Where a vector of results is about to be stored: what an epilogue sees."""

from dataclasses import dataclass

from mlir import ir
from mlir.dialects import vector

from . import build as b


@dataclass(frozen=True)
class Place:
    """`indices` are the output's indices of lane 0; the lanes run along output axis `axis`; lanes off in `mask` are not stored."""

    indices: tuple
    axis: int
    lanes: int
    mask: object = None
    pixels: bool = False
    """Axis 2 is axes 2 and 3 of the output in one; `width` is the size of axis 3."""
    width: object = None

    def operand(self, buffer, axes):
        """The vector of another operand at this place. `axes[i]` is the output axis that its axis i follows, None for an axis of size 1.

        An operand that does not follow the lanes is one scalar, broadcast; one that follows them along its last axis is one vector.
        """
        if self.pixels:
            return self._of_pixels(buffer, list(axes))
        buffer, axes = without_last_ones(buffer, list(axes), self.axis)
        indices = [0 if axis is None else self.indices[axis] for axis in axes]
        if self.axis not in axes:
            return b.broadcast(b.load(buffer, indices), self.lanes)
        position = axes.index(self.axis)
        if position == len(axes) - 1:
            return b.load_vector(buffer, indices, self.lanes, self.mask)
        return self._strided(buffer, indices, position)

    def _of_pixels(self, buffer, axes):
        """Axes 2 and 3 both followed, in order and last: one vector. Neither: a scalar. One of them: lane by lane."""
        if axes[-2:] == [2, 3]:
            flat = Place(self.indices, self.axis, self.lanes, self.mask)
            rank = len(axes)
            groups = [[axis] for axis in range(rank - 2)] + [[rank - 2, rank - 1]]
            return flat.operand(b.collapse(buffer, groups), axes[:-1])
        if 2 not in axes and 3 not in axes:
            return b.broadcast(b.load(buffer, [0 if axis is None else self.indices[axis] for axis in axes]), self.lanes)
        return self._lane_by_lane(buffer, axes)

    def _lane_by_lane(self, buffer, axes):
        result = b.zero(b.vector_type(self.lanes, b.element_type(buffer)))
        for lane in range(self.lanes):
            pixel = b.add(self.indices[2], lane)
            position = {0: self.indices[0], 1: self.indices[1], 2: b.div(pixel, self.width), 3: b.rem(pixel, self.width), None: 0}
            at = [b.minimum(position[axis], b.sub(b.dim(buffer, i), 1)) for i, axis in enumerate(axes)]
            result = vector.insert(b.load(buffer, at), result, dynamic_position=[], static_position=[lane])
        return result

    def _strided(self, buffer, indices, position):
        result = b.zero(b.vector_type(self.lanes, b.element_type(buffer)))
        last = b.sub(b.dim(buffer, position), 1)
        for lane in range(self.lanes):
            at = list(indices)
            at[position] = b.minimum(b.add(at[position], lane), last)
            result = vector.insert(b.load(buffer, at), result, dynamic_position=[], static_position=[lane])
        return result


@dataclass(frozen=True)
class RowPlace(Place):
    """A place (row, filter) of an NHWC output whose axes 0 to 2 are one; `size` is (height, width)."""

    size: tuple = ()

    def operand(self, buffer, axes):
        axes, rank = list(axes), len(axes)
        flat = Place(self.indices, 1, self.lanes, self.mask)
        if axes[-4:] == [0, 1, 2, 3]:
            return flat.operand(b.collapse(buffer, [[0, 1, 2], [3]]), [0, 1])
        if axes[-1:] == [3] and set(axes[:-1]) <= {None}:
            return flat.operand(buffer, [None] * (rank - 1) + [1])
        image, row, column = b.split(self.indices[0], None, *self.size)
        return Place((image, row, column, self.indices[1]), 3, self.lanes, self.mask).operand(buffer, axes)


def without_last_ones(buffer, axes, axis):
    """The buffer without its last axes of size 1, where what comes before them is the axis that the lanes follow."""
    last = max(0, len(axes) - 1)
    while last > 0 and axes[last] is None:
        last -= 1
    if last == len(axes) - 1 or not axes or axes[last] != axis:
        return buffer, axes
    return b.collapse(buffer, [[i] for i in range(last)] + [list(range(last, len(axes)))]), axes[: last + 1]


def finish(vec, place: Place, buffer, indices, epilogue):
    """Apply the epilogue, round to the output's element type and store."""
    if epilogue is not None:
        vec = epilogue(vec, place)
    element = b.element_type(buffer)
    if not isinstance(element, ir.IntegerType):
        vec = b.narrow(vec, element)
    b.store_vector(vec, buffer, indices, place.mask)
