"""Reading a model file without copying its weights: they stay where they are in the mapped file, and only the rest is parsed.

A protobuf message is a row of fields: a key (number and wire type), then a value. The weights are the field `raw_data` of the tensors in
the field `initializer` of the field `graph`; a copy of the message without them is parsed. Source: Protocol Buffers, "Encoding".
"""
from __future__ import annotations

from typing import Iterator, NamedTuple

GRAPH, INITIALIZER, RAW_DATA = 7, 5, 9  # of ModelProto, GraphProto, TensorProto
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


def without_weights(data: memoryview) -> tuple[bytes, dict[int, memoryview]]:
    """The message without large raw_data of initializers, and those by the initializer's number. ValueError, IndexError: no such message."""
    found: dict[int, memoryview] = {}
    parts: list = []
    for field in _fields(data, 0, len(data)):
        if (field.number, field.wire) == (GRAPH, 2):
            if found:
                raise ValueError("two graphs")
            parts += _encoded(GRAPH, _graph(data, field, found))
        else:
            parts.append(data[field.start:field.end])
    return (b"".join(parts) if found else bytes(data)), found


def _graph(data: memoryview, graph: Field, found: dict) -> list:
    parts, number = [], 0
    for field in _fields(data, graph.value, graph.end):
        if (field.number, field.wire) == (INITIALIZER, 2):
            parts += _encoded(INITIALIZER, _tensor(data, field, number, found))
            number += 1
        else:
            parts.append(data[field.start:field.end])
    return parts


def _tensor(data: memoryview, tensor: Field, number: int, found: dict) -> list:
    parts = []
    for field in _fields(data, tensor.value, tensor.end):
        if (field.number, field.wire) == (RAW_DATA, 2) and field.end - field.value > SMALL and number not in found:
            found[number] = data[field.value:field.end]
        else:
            parts.append(data[field.start:field.end])
    return parts
