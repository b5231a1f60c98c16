"""The weights as one file of 64-byte aligned arrays, each content once, put into the object by the assembler's `.incbin`."""
from __future__ import annotations

import hashlib
import pathlib
from dataclasses import dataclass
from typing import Sequence

import numpy as np

ALIGNMENT = 64
LARGEST_INSIDE = 2_000_000_000  # beyond this, code could not reach the data with 32-bit offsets


@dataclass
class WeightFile:
    """Where the arrays of each level lie in the file."""

    path: pathlib.Path
    offsets: list[list[int]]
    size: int
    digest: str
    """SHA-256 of the file."""


def write_weights(path: pathlib.Path, levels: Sequence[Sequence[np.ndarray]]) -> WeightFile:
    """Write the parameters of all levels; an array that several of them use is written once."""
    places: dict[tuple, int] = {}
    digest, size, offsets = hashlib.sha256(), 0, []
    with open(path, "wb") as file:
        for parameters in levels:
            offsets.append([])
            for array in parameters:
                data = memoryview(np.ascontiguousarray(array).reshape(-1).view(np.uint8))
                key = (hashlib.sha256(data).digest(), len(data))
                if key not in places:
                    places[key] = size
                    padding = bytes(-len(data) % ALIGNMENT)
                    for part in (data, padding):
                        file.write(part)
                        digest.update(part)
                    size += len(data) + len(padding)
                offsets[-1].append(places[key])
        if not size:
            file.write(bytes(ALIGNMENT))
            digest.update(bytes(ALIGNMENT))
            size = ALIGNMENT
    return WeightFile(path, offsets, size, digest.hexdigest())


def checksum(path: pathlib.Path) -> int:
    """The sum of (2 i + 1) word_i over the file's 64-bit words, modulo 2^64: what a C program can check quickly."""
    words = np.memmap(path, np.uint64, "r")
    total, block = 0, 1 << 20
    for start in range(0, len(words), block):
        part = np.asarray(words[start:start + block])
        factors = 2 * np.arange(start, start + len(part), dtype=np.uint64) + np.uint64(1)
        total += int((part * factors).sum(dtype=np.uint64))
    return total % 2**64


def embedding(path: pathlib.Path, symbol: str, system: str) -> str:
    """Module-level assembly that places the file's bytes at `symbol`, in read-only data on a page of its own."""
    if system == "darwin":
        lines = [".section __TEXT,__const", ".p2align 12", f"_{symbol}:", f'.incbin "{path}"', ".text"]
    else:
        lines = [f'.section .rodata.{symbol},"a",@progbits', ".p2align 12", f"{symbol}:", f'.incbin "{path}"', ".text"]
    return "\n".join('module asm "' + line.replace("\\", "\\5C").replace('"', "\\22") + '"' for line in lines)
