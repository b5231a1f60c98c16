"""The records of a zip archive, as structs, and the constants that a OneModel file uses in them.

Source: PKWARE APPNOTE 6.3.10, sections 4.3 and 4.5. The padding field is Android's zipalign field (0xD935).
"""
from __future__ import annotations

import struct
from typing import NamedTuple

ALIGNMENT = 64
FULL_16, FULL_32 = 0xFFFF, 0xFFFFFFFF  # "see the zip64 record"
LARGEST_SHORT = FULL_32 - 1
VERSION, VERSION_ZIP64 = 20, 45
UNIX = 3
REGULAR_FILE = 0o100644
DATE_1980 = 0x21  # 1980-01-01, the first day that the format can name
ZIP64_FIELD, PADDING_FIELD = 0x0001, 0xD935


class Local(NamedTuple):
    """Stands before the data of an entry."""

    signature: bytes
    version: int
    flags: int
    method: int
    time: int
    date: int
    crc: int
    packed_size: int
    size: int
    name_length: int
    extra_length: int


class Central(NamedTuple):
    """Describes an entry a second time, in the central directory."""

    signature: bytes
    made_by: int
    version: int
    flags: int
    method: int
    time: int
    date: int
    crc: int
    packed_size: int
    size: int
    name_length: int
    extra_length: int
    comment_length: int
    disk: int
    internal_attributes: int
    external_attributes: int
    offset: int


class End64(NamedTuple):
    """The end of the directory, with 64-bit fields."""

    signature: bytes
    record_size: int
    made_by: int
    version: int
    disk: int
    directory_disk: int
    disk_count: int
    count: int
    directory_size: int
    directory_offset: int


class Locator(NamedTuple):
    """Says where the End64 record is."""

    signature: bytes
    disk: int
    offset: int
    disks: int


class End(NamedTuple):
    """The last 22 bytes of the file."""

    signature: bytes
    disk: int
    directory_disk: int
    disk_count: int
    count: int
    directory_size: int
    directory_offset: int
    comment_length: int


LAYOUTS = {
    Local: struct.Struct("<4s5H3L2H"),
    Central: struct.Struct("<4s6H3L5H2L"),
    End64: struct.Struct("<4sQ2H2L4Q"),
    Locator: struct.Struct("<4sLQL"),
    End: struct.Struct("<4s4H2LH"),
}
SIGNATURES = {
    Local: b"PK\x03\x04",
    Central: b"PK\x01\x02",
    End64: b"PK\x06\x06",
    Locator: b"PK\x06\x07",
    End: b"PK\x05\x06",
}


def size_of(kind: type) -> int:
    return LAYOUTS[kind].size


def pack(record: NamedTuple) -> bytes:
    return LAYOUTS[type(record)].pack(*record)


def unpack(kind: type, data: memoryview, offset: int) -> NamedTuple:
    """The record at `offset`; the caller has checked that it lies within `data`."""
    return kind(*LAYOUTS[kind].unpack_from(data, offset))
