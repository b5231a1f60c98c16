"""Reads the directory of a OneModel archive, and refuses every byte that it cannot account for.

The file must be exactly: entries end to end from offset 0, the central directory, the end records, nothing else. So
prepended or appended data, holes and overlapping entries do not exist in an accepted file. Entries are stored, not
encrypted, regular files with plain names, described alike by their local and their central header. No data is read here.
"""
from __future__ import annotations

import re
import stat
import struct
from dataclasses import dataclass

from . import zip_records as zip_
from .report import entry_of, quote, refusal
from .zip_records import Central, End, End64, Local, Locator

_LARGEST_DIRECTORY = 1 << 20
_MOST_ENTRIES = 1024
_REWRITE = "unpack it and write it again with onemlir"


@dataclass(frozen=True)
class Stored:
    """Where an entry's data lies in the file, and its checksum."""

    name: str
    start: int
    size: int
    crc: int


def read_directory(data: memoryview, path: str) -> dict[str, Stored]:
    """The entries by name, in the order of the file."""
    _refuse_archive_of_torch(data, path)
    start, end, count = _directory_bounds(data, path)
    entries: dict[str, Stored] = {}
    position, expected_offset = start, 0
    for _ in range(count):
        header, name, extra, position = _central_at(data, position, end, path)
        _check_header(header, name, path)
        if name in entries:
            raise refusal(path, f"the entry {quote(name)} twice", "each entry once")
        entry = _local_at(data, header, name, extra, expected_offset, start, path)
        entries[name] = entry
        expected_offset = entry.start + entry.size
    if position != end:
        raise refusal(path, f"{end - position} bytes after the last of {count} directory records", "none")
    if expected_offset != start:
        raise refusal(path, f"{start - expected_offset} bytes between the last entry and the directory", "none")
    return entries


def _refuse_archive_of_torch(data: memoryview, path: str) -> None:
    """FormatError for what torch.jit.save and torch.save write: an archive that begins with a folder of data."""
    if re.match(rb"PK\x03\x04.{26}[^/]+/(data\.pkl|data/)", bytes(data[:512]), re.DOTALL):
        raise refusal(path, "an archive of torch", "a OneModel file",
                      "read it with torch.jit.load or torch.load, then record it with om.trace")


def _directory_bounds(data: memoryview, path: str) -> tuple[int, int, int]:
    """Start and end of the central directory, and its number of records."""
    last = len(data) - zip_.size_of(End)
    end = zip_.unpack(End, data, last) if last >= 0 else None
    if end is None or end.signature != zip_.SIGNATURES[End]:
        raise refusal(path, f"no end record in the last {zip_.size_of(End)} bytes", "the end of a OneModel file",
                      "the file is truncated, has data appended, or is of another kind")
    if end.comment_length:
        raise refusal(path, f"a comment of {end.comment_length} bytes announced", "none", "the file is truncated")
    closing = last
    if zip_.FULL_32 in (end.directory_offset, end.directory_size) or zip_.FULL_16 in (end.count, end.disk_count):
        end, closing = _end64(data, last, path)
    if end.disk or end.directory_disk or end.disk_count != end.count:
        raise refusal(path, "an archive split over several files", "a single file")
    if end.count > _MOST_ENTRIES or end.directory_size > _LARGEST_DIRECTORY:
        raise refusal(path, f"a directory of {end.count} entries in {end.directory_size} bytes",
                      f"at most {_MOST_ENTRIES} in {_LARGEST_DIRECTORY}")
    if end.directory_offset + end.directory_size != closing:
        raise refusal(path, f"a directory at {end.directory_offset} of {end.directory_size} bytes",
                      f"its end at {closing}", "data was inserted, prepended or cut out")
    return end.directory_offset, closing, end.count


def _end64(data: memoryview, last: int, path: str) -> tuple[End64, int]:
    locator_at = last - zip_.size_of(Locator)
    record_at = locator_at - zip_.size_of(End64)
    if record_at < 0:
        raise refusal(path, "no room for zip64 records", "them before the end record")
    locator, record = zip_.unpack(Locator, data, locator_at), zip_.unpack(End64, data, record_at)
    found = locator.signature, record.signature, locator.offset, locator.disk, locator.disks, record.record_size
    expected = zip_.SIGNATURES[Locator], zip_.SIGNATURES[End64], record_at, 0, 1, zip_.size_of(End64) - 12
    if found != expected:
        raise refusal(path, f"zip64 end records {quote(found)}", quote(expected))
    return record, record_at


def _central_at(data: memoryview, position: int, end: int, path: str) -> tuple[Central, str, dict[int, bytes], int]:
    """The record at `position`, its name and extra fields, and where the next one starts."""
    name_at = position + zip_.size_of(Central)
    if name_at > end:
        raise refusal(path, f"a directory that ends within a record at {position}", "a whole record")
    header = zip_.unpack(Central, data, position)
    if header.signature != zip_.SIGNATURES[Central]:
        raise refusal(path, f"signature {quote(header.signature)} at {position}", quote(zip_.SIGNATURES[Central]))
    extra_at = name_at + header.name_length
    following = extra_at + header.extra_length
    if following > end or header.comment_length:
        raise refusal(path, f"a directory record at {position} that is too long or has a comment", "neither")
    name = _name(bytes(data[name_at:extra_at]), path)
    extra = _extra_fields(bytes(data[extra_at:following]), {zip_.ZIP64_FIELD}, entry_of(path, name))
    return header, name, extra, following


def _name(raw: bytes, path: str) -> str:
    """The entry's name, if it could not lead a zip tool out of the folder into which it unpacks."""
    if not raw or not all(0x20 <= byte < 0x7F for byte in raw):
        raise refusal(path, f"an entry named {quote(raw)}", "a name in printable ASCII")
    name = raw.decode("ascii")
    if name.startswith("/") or "\\" in name or ":" in name or {"..", ".", ""} & set(name.split("/")):
        raise refusal(path, f"an entry named {quote(name)}", "a plain relative name, without '..'")
    return name


def _check_header(header: Central, name: str, path: str) -> None:
    where = entry_of(path, name)
    if header.flags & 1:
        raise refusal(where, "an encrypted entry", "a readable one")
    if header.method:
        raise refusal(where, f"compression method {header.method}", "0 (stored)", _REWRITE)
    if header.flags:
        raise refusal(where, f"flags {header.flags:#06x}", "none", _REWRITE)
    if header.version > zip_.VERSION_ZIP64 or header.disk:
        raise refusal(where, f"zip version {header.version}, disk {header.disk}", f"at most {zip_.VERSION_ZIP64}, 0")
    kind = stat.S_IFMT(header.external_attributes >> 16)
    if kind not in (0, stat.S_IFREG) or header.external_attributes & 0x10:
        raise refusal(where, f"file type {kind:#o} (a link, folder or device)", "a regular file")


def _local_at(
    data: memoryview, central: Central, name: str, extra: dict[int, bytes], expected: int, limit: int, path: str
) -> Stored:
    """The entry's data, once its local header at `expected` has been found to say the same as `central`."""
    where = entry_of(path, name)
    packed_size, size, offset = _large_sizes(central, extra, where)
    if offset != expected:
        what = "overlaps the entry before" if offset < expected else "leaves unused bytes before it"
        raise refusal(where, f"offset {offset}, which {what}", f"{expected}")
    name_at = offset + zip_.size_of(Local)
    if name_at > limit:
        raise refusal(where, f"a local header at {offset}", f"its end before the directory at {limit}")
    local = zip_.unpack(Local, data, offset)
    extra_at = name_at + local.name_length
    start = extra_at + local.extra_length
    if local.signature != zip_.SIGNATURES[Local] or start > limit:
        raise refusal(where, f"signature {quote(local.signature)} at {offset}", "a whole local header")
    if bytes(data[name_at:extra_at]) != name.encode("ascii"):
        raise refusal(where, f"the name {quote(bytes(data[name_at:extra_at]))} in the local header", quote(name))
    _check_same(local, central, where)
    local_extra = _extra_fields(bytes(data[extra_at:start]), {zip_.ZIP64_FIELD, zip_.PADDING_FIELD}, where)
    if _large_sizes(local, local_extra, where)[:2] != (packed_size, size) or packed_size != size:
        raise refusal(where, "sizes that differ between or within the headers", f"{size} bytes in each")
    if size > limit - start:
        raise refusal(where, f"{size} bytes of data at {start}", f"at most {limit - start} before the directory")
    if start % zip_.ALIGNMENT:
        raise refusal(where, f"data at offset {start}", f"a multiple of {zip_.ALIGNMENT}", _REWRITE)
    return Stored(name, start, size, central.crc)


def _check_same(local: Local, central: Central, where: str) -> None:
    for field in ("flags", "method", "time", "date", "crc", "packed_size", "size"):
        here, there = getattr(local, field), getattr(central, field)
        if here != there:
            raise refusal(where, f"{field} {here} in the local header", f"{there}, as in the directory")
    if local.version > zip_.VERSION_ZIP64:
        raise refusal(where, f"zip version {local.version}", f"at most {zip_.VERSION_ZIP64}")


def _extra_fields(raw: bytes, known: set[int], where: str) -> dict[int, bytes]:
    fields: dict[int, bytes] = {}
    position = 0
    while position < len(raw):
        if position + 4 > len(raw):
            raise refusal(where, "an extra field that is cut off", "whole fields")
        kind, size = struct.unpack_from("<HH", raw, position)
        value = raw[position + 4 : position + 4 + size]
        if kind not in known or kind in fields or len(value) != size:
            raise refusal(where, f"extra field {kind:#06x} of {size} bytes, unknown, repeated or cut off",
                          "only sizes and padding", _REWRITE)
        fields[kind] = value
        position += 4 + size
    if any(fields.get(zip_.PADDING_FIELD, b"")[2:]):
        raise refusal(where, "data hidden in the padding", "zeros")
    return fields


def _large_sizes(header: Local | Central, extra: dict[int, bytes], where: str) -> tuple[int, int, int]:
    """Packed size, size and offset (0 in a local header), from the zip64 field where the short ones are full."""
    short = {"size": header.size, "packed_size": header.packed_size, "offset": getattr(header, "offset", 0)}
    full = [key for key, value in short.items() if value == zip_.FULL_32]
    field = extra.get(zip_.ZIP64_FIELD, b"")
    if len(field) != 8 * len(full):
        raise refusal(where, f"a zip64 field of {len(field)} bytes", f"{8 * len(full)}")
    short.update(zip(full, struct.unpack(f"<{len(full)}Q", field)))
    return short["packed_size"], short["size"], short["offset"]
