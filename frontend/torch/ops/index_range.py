"""Indices that torch counts from 0 alone, where the ops of this project count negative ones from the end."""
from __future__ import annotations

from ....dialect import dtypes, symbolic
from ....dialect.declare import REGISTRY
from ....errors import IndexRangeError
from ... import ops
from ...dispatch import current_recorder
from ...locations import user_line
from ...size_rules import literal
from ...symbolic_int import size_of
from ...tensor import Tensor

NEGATIVE = "{what}: an index into axis {axis} must not be negative; found {found}, in an axis of size {expected}"


def require_not_negative(what: str, index: Tensor, x: Tensor, axis: int) -> None:
    """IndexRangeError for a negative index into an axis of x: at once, or, from a recording, at the run that meets it."""
    axis %= x.ndim
    size = x.shape[axis]
    if not index.is_recorded:
        if index.size and (index._array < 0).any():
            raise IndexRangeError(NEGATIVE.format(what=what, found=index._array.min(), axis=axis, expected=size))
        return
    low = _smallest(index)
    message = NEGATIVE.format(what=what, found="{found}", axis=axis, expected="{expected}") + f", at {literal(str(user_line()))}"
    current_recorder().apply(REGISTRY["om.guard"], [low >= 0, low, size], {"message": message, "kind": "IndexRangeError"})


def _smallest(index: Tensor) -> Tensor:
    """The smallest element; of no elements, 0."""
    if any(symbolic.less_equal(1, size_of(size)) is not True for size in index.shape):
        index = ops.concat([ops.reshape(index, shape=(-1,)), ops.zeros((1,), index.dtype)], axis=0)
    return ops.min(index).astype(dtypes.int64)
