"""The weights as one file of 64-byte aligned arrays, each content once, for the object or a file beside the library."""
from __future__ import annotations

import hashlib
import pathlib
from typing import Sequence

import numpy as np

ALIGNMENT = 64
LARGEST_INSIDE = 2_000_000_000  # beyond this, code could not reach the data with 32-bit offsets


class WeightFile:
    """The file, written level by level, so that the arrays of one level are in memory at a time."""

    def __init__(self, path: pathlib.Path):
        self.path, self.size = path, 0
        self.offsets: list[list[int]] = []
        """Where the arrays of each level lie."""
        self._places: dict[tuple, int] = {}
        self._digest = hashlib.sha256()
        self._file = open(path, "wb")

    def add(self, arrays: Sequence[np.ndarray]) -> None:
        """The arrays of one more level; one that is there already is not written again."""
        self.offsets.append([self._place(memoryview(np.ascontiguousarray(array).reshape(-1).view(np.uint8))) for array in arrays])

    def _place(self, data: memoryview) -> int:
        key = (hashlib.sha256(data).digest(), len(data))
        if key not in self._places:
            self._places[key] = self.size
            self._write(data)
            self._write(bytes(-len(data) % ALIGNMENT))
        return self._places[key]

    def _write(self, data) -> None:
        self._file.write(data)
        self._digest.update(data)
        self.size += len(data)

    def finish(self) -> None:
        """To be called after the last level: the file has one element at least."""
        if not self.size:
            self._write(bytes(ALIGNMENT))

    def __enter__(self) -> WeightFile:
        return self

    def __exit__(self, *exception) -> None:
        self._file.close()

    @property
    def digest(self) -> str:
        """SHA-256 of the file."""
        return self._digest.hexdigest()


def checksum(path: pathlib.Path) -> int:
    """The sum of (2 i + 1) word_i over the file's 64-bit words, modulo 2^64: what a C program can check quickly."""
    words = np.memmap(path, np.uint64, "r")
    total, block = 0, 1 << 20
    for start in range(0, len(words), block):
        part = np.asarray(words[start:start + block])
        factors = 2 * np.arange(start, start + len(part), dtype=np.uint64) + np.uint64(1)
        total += int((part * factors).sum(dtype=np.uint64))
    return total % 2**64


def embedding(path: pathlib.Path, symbol: str) -> str:
    """Module-level assembly for Mach-O that places the file's bytes at `symbol`, in read-only data on a page of its own."""
    lines = [".section __TEXT,__const", ".p2align 12", f"_{symbol}:", f'.incbin "{path}"', ".text"]
    return "\n".join('module asm "' + line.replace("\\", "\\5C").replace('"', "\\22") + '"' for line in lines)
