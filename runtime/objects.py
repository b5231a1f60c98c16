"""Several object files as one piece of data, as caches and pickles keep them: a mark, their number, their sizes, then the files."""
from __future__ import annotations

import struct
from typing import Sequence

MARK = b"om.objects\0\0\0\0\0\0"


def join_objects(objects: Sequence[bytes]) -> bytes:
    """One piece of data of several object files; a single one is itself."""
    if len(objects) == 1:
        return objects[0]
    return MARK + struct.pack(f"<{1 + len(objects)}Q", len(objects), *map(len, objects)) + b"".join(objects)


def split_objects(data: bytes) -> list[bytes]:
    """The object files of `join_objects`. ValueError where sizes do not fit the data."""
    if not data.startswith(MARK):
        return [data]
    try:
        (count,) = struct.unpack_from("<Q", data, len(MARK))
        sizes = struct.unpack_from(f"<{count}Q", data, len(MARK) + 8)
    except struct.error:
        raise ValueError("object files: the table of sizes is cut off") from None
    start = len(MARK) + 8 * (1 + count)
    if start + sum(sizes) != len(data):
        raise ValueError(f"object files: sizes say {start + sum(sizes)} bytes, found {len(data)}")
    objects = []
    for size in sizes:
        objects.append(data[start:start + size])
        start += size
    return objects
