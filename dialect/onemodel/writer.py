"""Writes a OneModel file: all of it or nothing, and the same bytes for the same content."""
from __future__ import annotations

import hashlib
import os
import zlib
from collections.abc import Iterable, Iterator, Mapping

import numpy as np

from ..output_file import replacing
from . import manifest as manifest_
from . import safetensors
from .archive_writer import Entry, write_archive
from .report import entry_of, quote, refusal

GRAPH_ENTRY = "graph.mlir"
WEIGHTS_ENTRY = "weights.safetensors"
LARGEST_GRAPH = 256 << 20
_CHUNK_BYTES = 1 << 20


def write(path: str | os.PathLike, manifest: Mapping, graph: str, weights: Mapping[str, np.ndarray]) -> None:
    """Write a model to `path`, replacing what was there once everything is on the disk.

    `manifest` has the keys described in `onemlir.dialect.onemodel.manifest`; those that the writer sets are overwritten,
    so what `read` gave can be written again. `weights` is streamed: it is asked for one array at a time, twice (its
    shape and checksum, then its data), and no more than a few MB of it are copied.
    Raises FormatError for content that the format cannot hold.
    """
    path = os.fspath(path)
    entries = _entries(path, manifest, graph, weights)
    with replacing(path) as file:
        write_archive(file, entries)


def _entries(path: str, manifest: Mapping, graph: str, weights: Mapping[str, np.ndarray]) -> list[Entry]:
    where = entry_of(path, WEIGHTS_ENTRY)
    kinds, checksums = {}, {}
    for name, array in weights.items():
        kinds[name] = _kind(name, array, where)
        safetensors.check_array(name, array.dtype, where)
        checksums[name] = _checksum(np.asarray(array))
    header, tensors = safetensors.layout(kinds, checksums, where)
    digest = hashlib.sha256(header).hexdigest()
    size = len(header) + (tensors[-1].end if tensors else 0)
    return [
        Entry.of(manifest_.ENTRY, manifest_.to_bytes(manifest, digest, entry_of(path, manifest_.ENTRY))),
        Entry.of(GRAPH_ENTRY, _graph_bytes(graph, entry_of(path, GRAPH_ENTRY))),
        Entry(WEIGHTS_ENTRY, size, lambda: _weight_chunks(header, tensors, weights, where)),
    ]


def _kind(name: str, array: np.ndarray, where: str) -> tuple[np.dtype, tuple[int, ...]]:
    if not isinstance(array, (np.ndarray, np.generic)):
        raise refusal(where, f"a {type(array).__name__} for weight {quote(name)}", "a numpy array")
    return array.dtype, array.shape


def _checksum(array: np.ndarray) -> int:
    crc = 0
    for chunk in _array_chunks(array, array.dtype.newbyteorder("<")):
        crc = zlib.crc32(chunk, crc)
    return crc


def _graph_bytes(graph: str, where: str) -> bytes:
    try:
        data = graph.encode("utf-8")
    except UnicodeEncodeError as error:
        raise refusal(where, f"a lone surrogate at character {error.start}", "text") from None
    if len(data) > LARGEST_GRAPH:
        raise refusal(where, f"{len(data)} bytes of text", f"at most {LARGEST_GRAPH}", "large arrays belong into weights")
    return data


def _weight_chunks(
    header: bytes, tensors: Iterable[safetensors.Tensor], weights: Mapping[str, np.ndarray], where: str
) -> Iterator[bytes | memoryview]:
    yield header
    for tensor in tensors:
        yield from _tensor_chunks(tensor, weights, where)


def _tensor_chunks(
    tensor: safetensors.Tensor, weights: Mapping[str, np.ndarray], where: str
) -> Iterator[memoryview]:
    """Asks for the array only now, and drops it before the next one is asked for."""
    array = np.asarray(weights[tensor.name])
    if (array.dtype.newbyteorder("<"), array.shape) != (tensor.dtype, tensor.shape):
        raise refusal(where, f"weight {quote(tensor.name)} as {array.dtype}{list(array.shape)} when written",
                      f"{tensor.dtype}{list(tensor.shape)}, as when its header was written")
    yield from _array_chunks(array, tensor.dtype)


def _array_chunks(array: np.ndarray, dtype: np.dtype) -> Iterator[memoryview]:
    """The elements in row-major order as bytes of `dtype`; only a chunk that needs rearranging is copied."""
    flat = array.reshape(-1) if array.flags.c_contiguous else array.flat
    step = _CHUNK_BYTES // dtype.itemsize
    for start in range(0, array.size, step):
        piece = np.ascontiguousarray(flat[start : start + step], dtype=dtype).view(np.uint8)
        yield memoryview(piece if dtype != np.bool_ else (piece != 0).view(np.uint8))
