"""Reading a model file without copying its weights: they stay where they are in the mapped file, and only the rest is parsed.

A protobuf message is a row of fields: a key (number and wire type), then a value. The weights are the field `raw_data` of tensors, which
are initializers of graphs or attributes of nodes; a copy of the message is parsed in which a mark stands for each large one.
Source: Protocol Buffers, "Encoding".
"""
from __future__ import annotations

from typing import Iterator, NamedTuple

NESTED = {("model", 7): "graph", ("model", 25): "function", ("function", 7): "node", ("graph", 1): "node", ("graph", 5): "tensor",
          ("node", 5): "attribute", ("attribute", 5): "tensor", ("attribute", 6): "graph"}
"""The messages in which tensors lie: (message, number of the field) -> message."""
RAW_DATA, EXTERNAL_DATA = 9, 13  # of TensorProto
MARK = "onemlir:mapped"  # key of the entry that stands for raw_data; its value is the number among what was found
SMALL = 1 << 12  # bytes up to which raw_data is parsed with the rest


class Field(NamedTuple):
    """Where a field begins, where its value begins, and where it ends."""

    number: int
    wire: int
    start: int
    value: int
    end: int


def _varint(data: memoryview, place: int) -> tuple[int, int]:
    result = shift = 0
    while shift < 70:
        byte = data[place]
        result |= (byte & 127) << shift
        place, shift = place + 1, shift + 7
        if byte < 128:
            return result, place
    raise ValueError("a number of more than 10 bytes")


def _fields(data: memoryview, place: int, end: int) -> Iterator[Field]:
    """The fields between two places. ValueError or IndexError for what is no message."""
    while place < end:
        start = place
        key, place = _varint(data, place)
        wire = key & 7
        if wire == 0:
            value, (_, stop) = place, _varint(data, place)
        elif wire in (1, 5):
            value, stop = place, place + (8 if wire == 1 else 4)
        elif wire == 2:
            size, value = _varint(data, place)
            stop = value + size
        else:
            raise ValueError(f"wire type {wire}")
        if stop > end:
            raise ValueError("a field goes beyond its message")
        yield Field(key >> 3, wire, start, value, stop)
        place = stop


def _encoded(number: int, parts: list) -> list:
    """A field of bytes that consist of parts."""
    header = bytearray()
    for value in (number << 3 | 2, sum(len(p) for p in parts)):
        while value > 127:
            header.append(value & 127 | 128)
            value >>= 7
        header.append(value)
    return [header, *parts]


def without_weights(data: memoryview) -> tuple[bytes, list[memoryview]]:
    """The message with marks in the place of large raw_data, and what the marks stand for. ValueError, IndexError: no such message."""
    found: list[memoryview] = []
    parts = _without(data, "model", 0, len(data), found)
    return (b"".join(parts) if found else bytes(data)), found


def _without(data: memoryview, kind: str, start: int, end: int, found: list[memoryview]) -> list:
    parts: list = []
    for field in _fields(data, start, end):
        large = field.wire == 2 and field.end - field.value > SMALL
        inner = NESTED.get((kind, field.number)) if large else None
        if inner is not None:
            parts += _encoded(field.number, _without(data, inner, field.value, field.end, found))
        elif large and kind == "tensor" and field.number == RAW_DATA:
            parts += _encoded(EXTERNAL_DATA, [*_encoded(1, [MARK.encode()]), *_encoded(2, [str(len(found)).encode()])])
            found.append(data[field.value:field.end])
        else:
            parts.append(data[field.start:field.end])
    return parts
