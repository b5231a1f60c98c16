"""The compile cache: object code of just-in-time sessions in the user's cache folder.

An entry is one file: a JSON header, its checksum and the object code. It is written beside its place and moved there, so that several
processes at once see whole entries only; one that is damaged is compiled again. The least recently used go first when the folder is too
large. `ONEMLIR_CACHE` names the folder, or is `0` or `off` for none; `ONEMLIR_CACHE_SIZE` is the limit in MiB.
"""
from __future__ import annotations

import hashlib
import json
import os
import pathlib
import sys
import tempfile
from dataclasses import dataclass
from typing import Any, Iterator

MAGIC = b"onemlir cache 1\n"
SUFFIX = ".code"
DEFAULT_MEBIBYTES = 1024
OFF = ("0", "off", "no", "false")


@dataclass(frozen=True)
class Entry:
    """A file of the cache."""

    path: pathlib.Path
    size: int
    used: float
    """Seconds since the epoch."""


def folder() -> pathlib.Path | None:
    """Where entries are kept; None where the cache is off."""
    chosen = os.environ.get("ONEMLIR_CACHE", "")
    if chosen.lower() in OFF:
        return None
    if chosen:
        return pathlib.Path(chosen)
    try:
        home = pathlib.Path.home()
    except RuntimeError:
        return None  # a user without a home
    if sys.platform == "darwin":
        return home / "Library" / "Caches" / "onemlir"
    return pathlib.Path(os.environ.get("XDG_CACHE_HOME") or home / ".cache") / "onemlir"


def limit() -> int:
    """Bytes that the cache may hold."""
    try:
        return int(os.environ.get("ONEMLIR_CACHE_SIZE", DEFAULT_MEBIBYTES)) << 20
    except ValueError:
        return DEFAULT_MEBIBYTES << 20


def key_of(*parts: bytes | str) -> str:
    digest = hashlib.sha256()
    for part in parts:
        data = part.encode() if isinstance(part, str) else part
        digest.update(len(data).to_bytes(8, "little"))
        digest.update(data)
    return digest.hexdigest()


def read(key: str) -> tuple[Any, bytes] | None:
    """The header and code of an entry; None where there is none that is whole."""
    place = _place(key)
    if place is None:
        return None
    try:
        data = place.read_bytes()
        os.utime(place)
    except OSError:
        return None
    parsed = _parse(data)
    if parsed is None:
        place.unlink(missing_ok=True)
    return parsed


def write(key: str, header: Any, code: bytes) -> None:
    """Keep an entry. A folder that cannot be written to is no error: the next session compiles again."""
    place = _place(key)
    if place is None:
        return
    content = json.dumps(header, separators=(",", ":")).encode()
    body = len(content).to_bytes(8, "little") + content + code
    try:
        place.parent.mkdir(parents=True, exist_ok=True)
        handle, temporary = tempfile.mkstemp(dir=place.parent, prefix=".new-")
        with os.fdopen(handle, "wb") as file:
            file.write(MAGIC + hashlib.sha256(body).digest() + body)
        os.replace(temporary, place)
        evict()
    except OSError:
        return


def entries() -> Iterator[Entry]:
    """All entries, in no order."""
    root = folder()
    if root is None or not root.is_dir():
        return
    for path in root.glob(f"*{SUFFIX}"):
        try:
            status = path.stat()
        except OSError:
            continue  # another process has just removed it
        yield Entry(path, status.st_size, status.st_mtime)


def evict(most: int | None = None) -> int:
    """Remove the least recently used entries until the rest has at most `most` bytes; how many were removed."""
    most = limit() if most is None else most
    total, removed = 0, 0
    for entry in sorted(entries(), key=lambda e: e.used, reverse=True):
        total += entry.size
        if total > most:
            entry.path.unlink(missing_ok=True)
            removed += 1
    return removed


def clear() -> int:
    """Remove all entries; how many there were."""
    return evict(-1)


def _place(key: str) -> pathlib.Path | None:
    root = folder()
    return root / f"{key}{SUFFIX}" if root else None


def _parse(data: bytes) -> tuple[Any, bytes] | None:
    start = len(MAGIC) + 32
    body = data[start:]
    if not data.startswith(MAGIC) or hashlib.sha256(body).digest() != data[len(MAGIC):start]:
        return None
    size = int.from_bytes(body[:8], "little")
    return json.loads(body[8:8 + size]), body[8 + size:]
