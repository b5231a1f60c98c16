"""Joining tensors and dividing them along an axis: functions of the shape family composed of concat and slice."""
from __future__ import annotations

from typing import Sequence

from ...dialect import symbolic
from ...dialect.shapes import normalize_axis, require_equal
from ...errors import ShapeError
from ..symbolic_int import size_of
from ..tensor import Tensor
from .declared import ops
from .shape import as_tensor, atleast_1d, atleast_2d, expand_dims, ravel, sizes, slice_along, squeeze

__all__ = ["concatenate", "stack", "hstack", "vstack", "split", "chunk", "unstack", "unbind"]


def concatenate(xs: Sequence[Tensor], axis: int = 0) -> Tensor:
    """`concat` by numpy's name; axis None joins the flattened tensors."""
    return ops.concat([ravel(x) for x in xs], axis=0) if axis is None else ops.concat(list(xs), axis=axis)


def stack(xs: Sequence[Tensor], axis: int = 0) -> Tensor:
    """Tensors of one shape joined along a new axis."""
    xs = [as_tensor(x) for x in xs]
    if not xs:
        raise ShapeError("stack needs at least one tensor")
    for x in xs[1:]:
        if x.ndim != xs[0].ndim:
            raise ShapeError(f"stack: ranks differ: {xs[0].ndim} and {x.ndim}")
        for a, b in zip(sizes(xs[0]), sizes(x)):
            require_equal(a, b, f"stack: shapes differ: {sizes(xs[0])} and {sizes(x)}")
    axis = normalize_axis(axis, xs[0].ndim + 1)
    return ops.concat([expand_dims(x, axis) for x in xs], axis=axis)


def hstack(xs: Sequence[Tensor]) -> Tensor:
    """Tensors joined along axis 1, vectors along axis 0."""
    xs = [atleast_1d(x) for x in xs]
    return ops.concat(xs, axis=0 if xs[0].ndim == 1 else 1)


def vstack(xs: Sequence[Tensor]) -> Tensor:
    """Tensors joined along axis 0, vectors as rows."""
    return ops.concat([atleast_2d(x) for x in xs], axis=0)


def split(x: Tensor, sizes_or_sections, axis: int = 0) -> tuple[Tensor, ...]:
    """x divided along an axis: into equal sections for an int (numpy), into parts of the given sizes for a sequence (torch, ONNX).

    The sizes add up to the axis; one of them may be -1. ShapeError when the axis does not divide.
    """
    x = as_tensor(x)
    axis = normalize_axis(axis, x.ndim)
    size = sizes(x)[axis]
    if hasattr(sizes_or_sections, "__iter__"):
        return _parts(x, axis, _complete_sizes([size_of(s) for s in sizes_or_sections], size))
    count = int(sizes_or_sections)
    if count < 1 or (isinstance(size, int) and size % count):
        raise ShapeError(f"split: axis {axis} of size {size} does not divide into {count} equal sections; give sizes, or use chunk")
    part = symbolic.floordiv(size, count)
    require_equal(part * count, size, f"split: axis {axis} of size {size} must divide into {count} equal sections")
    return _parts(x, axis, [part] * count)


def _complete_sizes(parts: list, size) -> list:
    unknown = [i for i, part in enumerate(parts) if isinstance(part, int) and part == -1]
    if len(unknown) == 1:
        parts[unknown[0]] = size - sum(part for i, part in enumerate(parts) if i != unknown[0])
    if any(isinstance(part, int) and part < 0 for part in parts):
        raise ShapeError(f"split: sizes {parts} of an axis of size {size}")
    require_equal(sum(parts), size, f"split: sizes {parts} add up to {sum(parts)} but the axis has {size}")
    return parts


def _parts(x: Tensor, axis: int, counts: Sequence) -> tuple[Tensor, ...]:
    result, start = [], 0
    for count in counts:
        result.append(slice_along(x, axis, start, count))
        start = start + count
    return tuple(result)


def chunk(x: Tensor, chunks: int, axis: int = 0) -> tuple[Tensor, ...]:
    """x divided into at most `chunks` parts of ceil(size / chunks), the last one smaller (torch's chunk). The axis must not be symbolic."""
    x = as_tensor(x)
    axis = normalize_axis(axis, x.ndim)
    size = sizes(x)[axis]
    if not isinstance(size, int):
        raise ShapeError(f"chunk: the number of parts of the symbolic axis {size} depends on it; use split with sizes")
    if chunks < 1:
        raise ShapeError(f"chunk: the number of chunks must be positive, found {chunks}")
    part = max(-(-size // chunks), 1)
    return _parts(x, axis, [min(part, size - start) for start in range(0, max(size, 1), part)])


def unstack(x: Tensor, axis: int = 0) -> tuple[Tensor, ...]:
    """The slices of x along an axis, without that axis (array API). The axis must not be symbolic."""
    x = as_tensor(x)
    axis = normalize_axis(axis, x.ndim)
    size = sizes(x)[axis]
    if not isinstance(size, int):
        raise ShapeError(f"unstack: the number of slices of the symbolic axis {size} depends on it; fix the axis")
    return tuple(squeeze(slice_along(x, axis, i, 1), axis) for i in range(size))


def unbind(x: Tensor, axis: int = 0) -> tuple[Tensor, ...]:
    """`unstack` by torch's name."""
    return unstack(x, axis)
