"""What the IR says about the inputs of a recording: names, axes, declared ranges."""
from __future__ import annotations

from typing import Mapping, Sequence

from mlir import ir

from ..errors import TraceError


def axis_range(axis, size: int, name: str, known: Mapping[str, list[int]]) -> dict[str, list[int]]:
    """The declared range of an axis: minimum, maximum (-1: none), multiple. TraceError for two ranges, or an example outside."""
    if isinstance(axis, str):
        return {}
    found = [axis.min, -1 if axis.max is None else axis.max, axis.multiple_of]
    if known.get(axis.name, found) != found:
        raise TraceError(f"axis '{axis.name}' of '{name}' is declared with another range than before")
    if size < axis.min or (axis.max is not None and size > axis.max) or size % axis.multiple_of:
        raise TraceError(f"axis '{axis.name}' is {size} in the example '{name}', which its declaration {axis!r} does not allow")
    return {axis.name: found}


def argument_attributes(name: str, dims: Sequence[str], ranges: Mapping[str, Sequence[int]]) -> ir.Attribute:
    """`om.name`, `om.dims` where an axis is symbolic, and `om.ranges` (three numbers an axis) where one has a range."""
    attributes = {"om.name": ir.StringAttr.get(name)}
    if any(dims):
        attributes["om.dims"] = ir.ArrayAttr.get([ir.StringAttr.get(d) for d in dims])
    if any(d in ranges for d in dims):
        attributes["om.ranges"] = ir.DenseI64ArrayAttr.get([n for d in dims for n in ranges.get(d, (0, -1, 1))])
    return ir.DictAttr.get(attributes)
