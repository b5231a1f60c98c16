"""Reads a OneModel file: checks its structure, then maps the weights.

Checked by every `read`: the archive's structure, the checksums of manifest and graph, the manifest's keys, and the
weights' header, whose digest stands in the manifest. The data of the weights is not touched, so that a file of many
gigabytes opens at once; `verify=True` or `Weights.verify` compares its checksum, as `load_program` does unless there are many.
A checksum finds damage, not an adversary: who can write the file can make it say anything that the format can say.
"""
from __future__ import annotations

import hashlib
import mmap
import os
import stat
import zlib
from collections.abc import Iterator, Mapping

import numpy as np

from . import manifest as manifest_
from . import safetensors, strict_json
from .archive_reader import Stored, read_directory
from .report import entry_of, quote, refusal
from .writer import GRAPH_ENTRY, LARGEST_GRAPH, WEIGHTS_ENTRY

_ENTRIES = (manifest_.ENTRY, GRAPH_ENTRY, WEIGHTS_ENTRY)
_CHUNK_BYTES = 16 << 20


class Weights(Mapping[str, np.ndarray]):
    """The arrays of a OneModel file by name: read-only views of the mapped file, made when asked for.

    The mapping lives as long as one of its arrays. Replacing the file (as `write` does) leaves the arrays as they are;
    cutting it short in place makes the system kill the process that reads them, as with any mapped file.
    """

    def __init__(self, data: memoryview, crc: int, where: str):
        self._data = data
        self._crc = crc
        self._where = where
        self._tensors, self._start, self._checksums = safetensors.parse_header(data, where)
        self._arrays: dict[str, np.ndarray] = {}

    def __getitem__(self, name: str) -> np.ndarray:
        if name not in self._arrays:
            self._arrays[name] = self._view(self._tensors[name])
        return self._arrays[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._tensors)

    def __len__(self) -> int:
        return len(self._tensors)

    def __repr__(self) -> str:
        return f"<{len(self)} weights, {self.nbytes} bytes, of {self._where}>"

    @property
    def nbytes(self) -> int:
        return len(self._data) - self._start

    @property
    def header_sha256(self) -> str:
        return hashlib.sha256(self._data[: self._start]).hexdigest()

    def verify(self) -> None:
        """Read all weights; raise FormatError, which names the first damaged one, when they are not those that were written.

        The pages that were read are given back.
        """
        if _crc_of(self._data) != self._crc:
            for name, expected in self._checksums.items():
                tensor = self._tensors[name]
                _check_crc(self._data[self._start + tensor.start:self._start + tensor.end], expected, f"{self._where}: weight {quote(name)}")
            _check_crc(self._data, self._crc, self._where)
        for name in self:
            self[name]

    def _view(self, tensor: safetensors.Tensor) -> np.ndarray:
        array = np.ndarray(tensor.shape, tensor.dtype, buffer=self._data, offset=self._start + tensor.start)
        if tensor.dtype == np.bool_ and array.size and array.view(np.uint8).max() > 1:
            raise refusal(f"{self._where}: weight {quote(tensor.name)}", "a bool that is neither 0 nor 1", "0 or 1")
        return array


def read(path: str | os.PathLike, *, verify: bool = False) -> tuple[dict, str, Weights]:
    """The manifest, the text of the graph, and the weights, mapped, of the file at `path`.

    With `verify` all weights are read once and their checksum compared. Raises FormatError for a file that is damaged,
    truncated, tampered with or from a newer version, and OSError when it cannot be opened.
    """
    path = os.fspath(path)
    data = _mapped(path)
    entries = read_directory(data, path)
    manifest = _read_manifest(data, entries, path)
    graph = _text(_checked(data, entries[GRAPH_ENTRY], LARGEST_GRAPH, path), entry_of(path, GRAPH_ENTRY))
    weights = _read_weights(data, entries[WEIGHTS_ENTRY], manifest, path)
    if verify:
        weights.verify()
    return manifest, graph, weights


def _mapped(path: str) -> memoryview:
    if not stat.S_ISREG(os.stat(path).st_mode):
        raise refusal(path, "a folder, pipe or device", "a regular file")
    with open(path, "rb") as file:
        if os.fstat(file.fileno()).st_size == 0:
            raise refusal(path, "an empty file", "a OneModel file")
        return memoryview(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ))


def _read_manifest(data: memoryview, entries: dict[str, Stored], path: str) -> dict:
    """The manifest; its version is judged before anything that a newer version may do differently."""
    where = entry_of(path, manifest_.ENTRY)
    if manifest_.ENTRY not in entries:
        raise refusal(path, f"no entry {manifest_.ENTRY!r}", f"the entries {', '.join(_ENTRIES)}")
    raw = _checked(data, entries[manifest_.ENTRY], manifest_.LARGEST, path)
    manifest = strict_json.parse(raw, where)
    manifest_.check_version(manifest, where)
    if tuple(entries) != _ENTRIES:
        raise refusal(path, f"the entries {quote(list(entries))}", f"{', '.join(_ENTRIES)}, in this order")
    manifest_.check(manifest, where)
    return manifest


def _read_weights(data: memoryview, entry: Stored, manifest: dict, path: str) -> Weights:
    where = entry_of(path, WEIGHTS_ENTRY)
    weights = Weights(data[entry.start : entry.start + entry.size], entry.crc, where)
    if weights.header_sha256 != manifest["weights_header_sha256"]:
        raise refusal(where, f"a header with SHA-256 {weights.header_sha256}",
                      f"{manifest['weights_header_sha256']}, as in {manifest_.ENTRY}",
                      "the weights are damaged or those of another file")
    return weights


def _checked(data: memoryview, entry: Stored, largest: int, path: str) -> bytes:
    """A copy of the entry's data, its checksum compared."""
    where = entry_of(path, entry.name)
    if entry.size > largest:
        raise refusal(where, f"{entry.size} bytes", f"at most {largest}")
    content = bytes(data[entry.start : entry.start + entry.size])
    _check_crc(memoryview(content), entry.crc, where)
    return content


def _check_crc(content: memoryview, expected: int, where: str) -> None:
    crc = _crc_of(content)
    if crc != expected:
        raise refusal(where, f"checksum {crc:#010x}", f"{expected:#010x}", "the file is damaged")


def _crc_of(content: memoryview) -> int:
    crc = 0
    for start in range(0, len(content), _CHUNK_BYTES):
        crc = zlib.crc32(content[start : start + _CHUNK_BYTES], crc)
        if isinstance(content.obj, mmap.mmap) and hasattr(mmap, "MADV_DONTNEED"):
            content.obj.madvise(mmap.MADV_DONTNEED)
    return crc


def _text(raw: bytes, where: str) -> str:
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError as error:
        raise refusal(where, f"byte {raw[error.start]:#04x} at offset {error.start}", "UTF-8 text") from None
