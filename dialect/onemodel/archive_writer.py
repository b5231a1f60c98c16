"""Writes a zip archive of stored entries whose data starts at multiples of 64, with zip64 records only where needed."""
from __future__ import annotations

import struct
import zlib
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import BinaryIO

from . import zip_records as zip_
from .zip_records import Central, End, End64, Local, Locator


@dataclass(frozen=True)
class Entry:
    """An entry to write; `chunks` gives its `size` bytes, piece by piece."""

    name: str
    size: int
    chunks: Callable[[], Iterable[bytes | memoryview]]

    @staticmethod
    def of(name: str, data: bytes) -> Entry:
        return Entry(name, len(data), lambda: [data])


def write_archive(file: BinaryIO, entries: Iterable[Entry]) -> None:
    """Write `entries` and the directory into the empty, seekable `file`."""
    directory, count = b"", 0
    for entry in entries:
        offset = file.tell()
        crc = _write_entry(file, entry, offset)
        directory += _central_header(entry, offset, crc)
        count += 1
    start = file.tell()
    file.write(directory + _end(start, len(directory), count))


def _write_entry(file: BinaryIO, entry: Entry, offset: int) -> int:
    """Write header and data; the checksum is known only after the data, so the header is written twice."""
    file.write(_local_header(entry, offset, 0))
    crc = written = 0
    for chunk in entry.chunks():
        crc = zlib.crc32(chunk, crc)
        written += file.write(chunk)
    if written != entry.size:
        raise RuntimeError(f"{entry.name}: {written} bytes written, {entry.size} announced")
    end = file.tell()
    file.seek(offset)
    file.write(_local_header(entry, offset, crc))
    file.seek(end)
    return crc


def _local_header(entry: Entry, offset: int, crc: int) -> bytes:
    name = entry.name.encode("ascii")
    extra = _zip64_field([entry.size, entry.size])
    extra += _padding(offset + zip_.size_of(Local) + len(name) + len(extra))
    size = _short(entry.size)
    record = Local(
        signature=zip_.SIGNATURES[Local],
        version=_version(size),
        flags=0, method=0, time=0, date=zip_.DATE_1980,
        crc=crc, packed_size=size, size=size,
        name_length=len(name), extra_length=len(extra),
    )
    return zip_.pack(record) + name + extra


def _central_header(entry: Entry, offset: int, crc: int) -> bytes:
    name = entry.name.encode("ascii")
    extra = _zip64_field([entry.size, entry.size, offset])
    size, offset = _short(entry.size), _short(offset)
    record = Central(
        signature=zip_.SIGNATURES[Central],
        made_by=zip_.UNIX << 8 | zip_.VERSION_ZIP64, version=_version(size, offset),
        flags=0, method=0, time=0, date=zip_.DATE_1980,
        crc=crc, packed_size=size, size=size,
        name_length=len(name), extra_length=len(extra), comment_length=0,
        disk=0, internal_attributes=0, external_attributes=zip_.REGULAR_FILE << 16,
        offset=offset,
    )
    return zip_.pack(record) + name + extra


def _end(start: int, size: int, count: int) -> bytes:
    end = End(zip_.SIGNATURES[End], 0, 0, count, count, size, _short(start), 0)
    if _short(start) == start:
        return zip_.pack(end)
    version = zip_.VERSION_ZIP64
    record_size = zip_.size_of(End64) - 12  # without the signature and this field
    end64 = End64(zip_.SIGNATURES[End64], record_size, version, version, 0, 0, count, count, size, start)
    locator = Locator(zip_.SIGNATURES[Locator], 0, start + size, 1)
    return zip_.pack(end64) + zip_.pack(locator) + zip_.pack(end)


def _version(*fields: int) -> int:
    return zip_.VERSION_ZIP64 if zip_.FULL_32 in fields else zip_.VERSION


def _short(value: int) -> int:
    """What a 32-bit field says: the value, or that it is in a zip64 record."""
    return value if value <= zip_.LARGEST_SHORT else zip_.FULL_32


def _zip64_field(values: list[int]) -> bytes:
    """The extra field with those values that do not fit 32 bits; nothing when all fit."""
    large = [value for value in values if _short(value) != value]
    return struct.pack(f"<HH{len(large)}Q", zip_.ZIP64_FIELD, 8 * len(large), *large) if large else b""


def _padding(position: int) -> bytes:
    """An extra field that ends at a multiple of 64 when it starts at `position`."""
    zeros = -(position + 6) % zip_.ALIGNMENT
    return struct.pack("<HHH", zip_.PADDING_FIELD, 2 + zeros, zip_.ALIGNMENT) + bytes(zeros)
