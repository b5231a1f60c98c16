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

    def operand(self, buffer, axes):
        """The vector of another operand at this place. `axes[i]` is the output axis that its axis i follows, None for an axis of size 1.

        An operand that does not follow the lanes is one scalar, broadcast; one that follows them along its last axis is one vector.
        """
        indices = [0 if axis is None else self.indices[axis] for axis in axes]
        if self.axis not in axes:
            return b.broadcast(b.load(buffer, indices), self.lanes)
        position = axes.index(self.axis)
        if position == len(axes) - 1:
            return b.load_vector(buffer, indices, self.lanes, self.mask)
        return self._strided(buffer, indices, position)

    def _strided(self, buffer, indices, position):
        result = b.zero(b.vector_type(self.lanes, b.element_type(buffer)))
        last = b.sub(b.dim(buffer, position), 1)
        for lane in range(self.lanes):
            at = list(indices)
            at[position] = b.minimum(b.add(at[position], lane), last)
            result = vector.insert(b.load(buffer, at), result, dynamic_position=[], static_position=[lane])
        return result


def finish(vec, place: Place, buffer, indices, epilogue):
    """Apply the epilogue, round to the output's element type and store."""
    if epilogue is not None:
        vec = epilogue(vec, place)
    element = b.element_type(buffer)
    if not isinstance(element, ir.IntegerType):
        vec = b.narrow(vec, element)
    b.store_vector(vec, buffer, indices, place.mask)
