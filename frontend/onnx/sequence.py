"""Sequences whose length is known when the model is read, and optionals: Python lists of tensors, no values at run time."""
from __future__ import annotations

import numpy as np

from ...dialect import dtypes, symbolic
from ...dialect.shapes import normalize_axis
from ...errors import FormatError
from ..ops.joining import split, stack
from ..ops.shape import moveaxis, squeeze
from ..tensor import Tensor
from .appended import Stacked
from .registry import reads
from .shape import sizes_of
from .values import as_value, Missing, Sequence, Value


def _items(node, number: int = 0) -> list[Value]:
    value = node.value(number)
    if not isinstance(value, Sequence):
        raise FormatError(f"input {number} must be a sequence")
    return value.items


@reads("SequenceConstruct")
def read_construct(node, ops):
    return Sequence([node.value(i) for i in range(len(node.inputs))])


@reads("SequenceEmpty")
def read_empty(node, ops):
    return Sequence([])


def _position(node, number: int, length: int) -> int:
    place, = node.ints(number)
    if not -length <= place < max(length, 1):
        raise FormatError(f"position {place} is outside of a sequence of {length} elements")
    return place % length if length else 0


@reads("SequenceInsert")
def read_insert(node, ops):
    items = list(_items(node))
    place = len(items) if not node.has(2) else node.ints(2)[0]
    place = place + len(items) if place < 0 else place
    return Sequence(items[:place] + [node.value(1)] + items[place:])


@reads("SequenceErase")
def read_erase(node, ops):
    items = _items(node)
    place = _position(node, 1, len(items)) if node.has(1) else len(items) - 1
    return Sequence(items[:place] + items[place + 1:])


@reads("SequenceAt")
def read_at(node, ops):
    if isinstance(node.value(0), Stacked):
        place = ops.reshape(node.tensor(1), shape=()).astype(dtypes.int64)
        return ops.gather(node.value(0).rows, place, axis=0)
    items = _items(node)
    return items[_position(node, 1, len(items))]


@reads("SequenceLength")
def read_length(node, ops):
    if isinstance(node.value(0), Stacked):
        return Value.sizes(np.array(sizes_of(node.value(0).rows)[0], object))
    return Tensor._wrap(np.asarray(len(_items(node)), np.int64))


@reads("ConcatFromSequence")
def read_concat(node, ops):
    if isinstance(node.value(0), Stacked):
        return _joined(node, ops, node.value(0).rows)
    tensors = [item.tensor for item in _items(node)]
    if node.int("new_axis", 0):
        return stack(tensors, axis=node.int("axis"))
    return ops.concat(tensors, axis=node.int("axis"))


def _joined(node, ops, rows: Tensor) -> Tensor:
    """The elements of a list, one behind the other along an axis or along a new one."""
    new = bool(node.int("new_axis", 0))
    axis = normalize_axis(node.int("axis"), rows.ndim if new else rows.ndim - 1)
    y = moveaxis(rows, 0, axis) if axis else rows
    if new:
        return y
    sizes = sizes_of(y)
    return ops.reshape(y, shape=(*sizes[:axis], symbolic.mul(sizes[axis], sizes[axis + 1]), *sizes[axis + 2:]))


@reads("SplitToSequence")
def read_split(node, ops):
    x, axis = node.tensor(0), normalize_axis(node.int("axis", 0), node.rank(0))
    size = node.shape(0)[axis]
    if not isinstance(size, int):
        node.needs_size(0, f"the number of parts of the symbolic axis {size} depends on it")
    if not node.has(1):
        parts, keep = [1] * node.steps(size, "the parts"), bool(node.int("keepdims", 1))
    else:
        given, keep = node.ints(1), True
        count = given[0]
        node.steps(len(range(0, size, count)) if not node.rank(1) else len(given), "the parts")
        parts = given if node.rank(1) else [min(count, size - i) for i in range(0, size, count)]
    pieces = split(x, parts, axis)
    return Sequence([as_value(p if keep else squeeze(p, axis)) for p in pieces])


@reads("SequenceMap")
def read_map(node, ops):
    """The body for each element: unrolled."""
    items = _items(node)
    others = [node.value(i) for i in range(1, len(node.inputs))]
    columns = []
    for i, item in enumerate(items):
        row = [item] + [o.items[i] if isinstance(o, Sequence) else o for o in others]
        columns.append(run_body(node, node.subgraph("body"), row, f"{i}/"))
    return tuple(Sequence([row[i] for row in columns]) for i in range(node.output_count))


def run_body(node, graph, arguments: list[Value], prefix: str) -> list[Value]:
    """The outputs of a subgraph for given arguments."""
    reader = node.graph.inner(prefix=prefix)
    if len(graph.input) != len(arguments):
        raise FormatError(f"the graph '{graph.name}' takes {len(graph.input)} inputs, found {len(arguments)}")
    for info, value in zip(graph.input, arguments):
        reader.scope.define(info.name, value)
    reader.initializers(graph)
    return reader.run(graph.node, [o.name for o in graph.output])


@reads("Optional")
def read_optional(node, ops):
    return node.value(0) if node.has(0) else Missing()


@reads("OptionalHasElement")
def read_has_element(node, ops):
    there = node.has(0) and not isinstance(node.inputs[0], Missing)
    return Tensor._wrap(np.asarray(there))


@reads("OptionalGetElement")
def read_get_element(node, ops):
    value = node.value(0)
    if isinstance(value, Missing):
        raise FormatError("the optional has no element")
    return value
