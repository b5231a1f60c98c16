"""The size that an ELF file must have by its own header, and its machine (System V ABI, "Object Files")."""
from __future__ import annotations

import pathlib
import struct

MAGIC = b"\x7fELF"
_LOADED = 1  # PT_LOAD
# By the class byte (32 or 64 bits): the header, and the fields of a program header up to the size of its contents.
_HEADERS = {1: "16xHHIIIIIHHHHHH", 2: "16xHHIQQQIHHHHHH"}
_SEGMENTS = {1: "IIIII", 2: "IIQQQQ"}
MACHINES = {62: "x86_64", 183: "aarch64"}


def machine_of_file(path: pathlib.Path) -> str | None:
    """The machine that a library is for, as `platform.machine` calls it or in other words; None for a file that is no library."""
    with open(path, "rb") as file:
        start = file.read(20)
    if start[:4] in (b"\xcf\xfa\xed\xfe", b"\xca\xfe\xba\xbe"):
        return "macOS"
    if len(start) < 20 or not start.startswith(MAGIC):
        return None
    number = int.from_bytes(start[18:20], "little" if start[5] == 1 else "big")
    return MACHINES.get(number, f"another machine (ELF {number})")


def needed_size(path: pathlib.Path) -> int | None:
    """Bytes up to the end of the last loaded segment and of the section table; None for a file that is no ELF file.

    The dynamic loader maps segments without looking at the file's size: one that is cut short ends the process where it is read.
    """
    with open(path, "rb") as file:
        start = file.read(64)
        if not start.startswith(MAGIC):
            return None
        kind, order = start[4:5], {1: "<", 2: ">"}.get(start[5] if len(start) > 5 else 0)
        layout = _HEADERS.get(kind[0] if kind else 0)
        if order is None or layout is None:
            return 64
        if len(start) < struct.calcsize(order + layout):
            return struct.calcsize(order + layout)
        fields = struct.unpack_from(order + layout, start)
        segments, sections, segment_size, segment_count, section_size, section_count = *fields[4:6], *fields[8:12]
        ends = [segments + segment_size * segment_count, sections + section_size * section_count]
        if max(ends) > path.stat().st_size:
            return max(ends)
        file.seek(segments)
        table = file.read(segment_size * segment_count)
    ends += _segment_ends(table, order + _SEGMENTS[kind[0]], segment_size)
    return max(ends)


def _segment_ends(table: bytes, layout: str, size: int) -> list[int]:
    """Where the contents of each loaded segment end in the file; of a table that is cut short, those that are there."""
    ends = []
    for place in range(0, len(table) - struct.calcsize(layout) + 1, max(size, 1)):
        fields = struct.unpack_from(layout, table, place)
        kind, offset, length = (fields[0], fields[1], fields[4]) if len(fields) == 5 else (fields[0], fields[2], fields[5])
        if kind == _LOADED:
            ends.append(offset + length)
    return ends
