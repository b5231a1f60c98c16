"""Loops that append to empty lists, as scripted torch modules write them: the list is the rows of the loop, one behind the other."""
from __future__ import annotations

import onnx

from ...errors import UnsupportedOpError
from ..tensor import Tensor
from .node import OnnxNode
from .unsupported import subgraphs
from .values import as_value, Sequence, Value

FIRST = 2  # the carried values stand behind the number of steps and the condition


class Stacked(Sequence):
    """A sequence of elements of one shape, whose number is not known when the model is read: the elements along a new first axis."""

    def __init__(self, rows: Tensor):
        Value.__init__(self)
        self.rows = rows

    @property
    def items(self) -> list[Value]:
        raise UnsupportedOpError("a list that a loop appends to has as many elements as the loop has steps, which is not known when the model is read; "
                                 "ConcatFromSequence, SequenceAt and SequenceLength take it")


def without_lists(node: OnnxNode, carried: list[Value]) -> tuple[OnnxNode, list[int]] | None:
    """The loop with what it appends as further rows, and the places of the lists among the carried values; None where a list is not empty
    at first, or the body does anything else with it."""
    places = [i for i, value in enumerate(carried) if isinstance(value, Sequence)]
    body = onnx.GraphProto()
    body.CopyFrom(node.subgraph("body"))
    inserts = [_insert(body, i) if type(carried[i]) is Sequence and not carried[i].items else None for i in places]
    if not places or None in inserts or len(body.input) != FIRST + len(carried) or any(_is_list(v) for i, v in enumerate(carried) if i not in places):
        return None
    for insert in inserts:
        body.node.remove(insert)
        body.output.append(onnx.ValueInfoProto(name=insert.input[1]))
    for i in reversed(places):
        del body.input[FIRST + i], body.output[1 + i]
    proto = onnx.NodeProto()
    proto.CopyFrom(node.proto)
    next(a for a in proto.attribute if a.name == "body").g.CopyFrom(body)
    kept = [i for i in range(len(node.inputs)) if i - FIRST not in places]
    del proto.input[:]
    proto.input.extend([node.proto.input[i] for i in kept])
    return OnnxNode(node.graph, proto, node.version, [node.inputs[i] for i in kept]), places


def _is_list(value: Value | None) -> bool:
    return value is None or isinstance(value, Sequence)


def _insert(body: onnx.GraphProto, place: int) -> onnx.NodeProto | None:
    """The node that appends to a carried list, if that is all that the body does with it."""
    if len(body.input) <= FIRST + place or len(body.output) <= 1 + place:
        return None
    before, after = body.input[FIRST + place].name, body.output[1 + place].name
    found = [n for n in body.node if n.op_type == "SequenceInsert" and n.input[:1] == [before] and list(n.output) == [after] and not any(n.input[2:])]
    others = [n for n in body.node if n not in found]
    used = {name for n in others for name in n.input} | {o.name for i, o in enumerate(body.output) if i != 1 + place}
    return found[0] if len(found) == 1 and not used & {before, after} and not any(_mentions(g, {before, after}) for n in others for g in subgraphs(n)) else None


def _mentions(graph: onnx.GraphProto, names: set[str]) -> bool:
    return any(names & {*n.input} or any(_mentions(g, names) for g in subgraphs(n)) for n in graph.node) or any(o.name in names for o in graph.output)


def with_lists(results: tuple, places: list[int]) -> tuple:
    """The results of the loop that `without_lists` gave, in the order of the first one."""
    results, rows = list(results[:len(results) - len(places)]), results[len(results) - len(places):]
    for place, row in zip(places, rows):
        results.insert(place, Stacked(as_value(row).tensor))
    return tuple(results)
