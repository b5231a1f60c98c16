"""The header of a safetensors file: its layout for a set of arrays, and a strict parser of it.

A file is the header's length (8 bytes, little-endian), the header (JSON: name -> dtype, shape, data_offsets) and the data.
Ours pads the header with spaces so that the data starts on 64 bytes. Arrays whose size is a multiple of 64 come first, so
they stay on 64; the others follow by falling item size, so each is aligned for its dtype.
Source: https://github.com/huggingface/safetensors, "Format".
"""
from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import ml_dtypes
import numpy as np

from . import strict_json
from .report import quote, refusal
from .strict_json import is_count, is_text

ALIGNMENT = 64
LARGEST_HEADER = 32 << 20
_LARGEST_RANK = 32
_LARGEST_ARRAY = 2**63 - 1
_METADATA = "__metadata__"
CHECKSUMS = "crc32"  # in the metadata: eight digits for each array, in the order of the names

DTYPES: dict[str, np.dtype] = {
    name: np.dtype(dtype)
    for name, dtype in {
        "BOOL": "?",
        "I8": "i1", "I16": "<i2", "I32": "<i4", "I64": "<i8",
        "U8": "u1", "U16": "<u2", "U32": "<u4", "U64": "<u8",
        "F16": "<f2", "F32": "<f4", "F64": "<f8",
        "BF16": ml_dtypes.bfloat16,
        "F8_E4M3": ml_dtypes.float8_e4m3fn, "F8_E4M3FNUZ": ml_dtypes.float8_e4m3fnuz,
        "F8_E5M2": ml_dtypes.float8_e5m2, "F8_E5M2FNUZ": ml_dtypes.float8_e5m2fnuz,
        **({"F8_E8M0": ml_dtypes.float8_e8m0fnu} if hasattr(ml_dtypes, "float8_e8m0fnu") else {}),
    }.items()
}
_NAMES = {dtype: name for name, dtype in DTYPES.items()}


@dataclass(frozen=True)
class Tensor:
    """One array of the file; `start` and `end` count from the first byte after the header."""

    name: str
    dtype: np.dtype
    shape: tuple[int, ...]
    start: int
    end: int


def layout(arrays: Mapping[str, tuple[np.dtype, tuple[int, ...]]], checksums: Mapping[str, int], where: str) -> tuple[bytes, list[Tensor]]:
    """The header with its length and the CRC-32 of each array, and the arrays in the order of their data."""
    tensors, offset = [], 0
    for name, (dtype, shape) in sorted(arrays.items(), key=_data_order):
        size = math.prod(shape) * dtype.itemsize
        tensors.append(Tensor(name, dtype.newbyteorder("<"), tuple(shape), offset, offset + size))
        offset += size
    return _header(tensors, checksums, where), tensors


def parse_header(data: memoryview, where: str) -> tuple[dict[str, Tensor], int, dict[str, int]]:
    """The arrays by name, in the header's order, where their data starts in `data` (the whole file), and their checksums, where it has some."""
    start = _data_start(data, where)
    header = strict_json.parse(bytes(data[8:start]), where)
    metadata = header.pop(_METADATA, {})
    _check_metadata(metadata, where)
    tensors = {name: _tensor(name, spec, where) for name, spec in header.items()}
    _check_cover(tensors.values(), len(data) - start, where)
    return tensors, start, _checksums(metadata.get(CHECKSUMS, ""), sorted(tensors))


def _checksums(text: str, names: list[str]) -> dict[str, int]:
    """The CRC-32 of each array from their digits; none where the digits are not those of so many arrays. They help a message alone."""
    if len(text) != 8 * len(names) or not set(text) <= set("0123456789abcdef"):
        return {}
    return {name: int(text[8 * i:8 * i + 8], 16) for i, name in enumerate(names)}


def check_array(name: object, dtype: np.dtype, where: str) -> None:
    """FormatError for a name or a dtype that the format cannot hold."""
    if not is_text(name) or name == _METADATA:
        raise refusal(where, f"a weight named {quote(name)}", f"a name that is text and not {_METADATA!r}")
    if dtype.newbyteorder("<") not in _NAMES:
        raise refusal(where, f"dtype {dtype} of weight {quote(name)}", f"one of {', '.join(d.name for d in _NAMES)}")


def _data_order(item: tuple[str, tuple[np.dtype, tuple[int, ...]]]) -> tuple[bool, int, str]:
    name, (dtype, shape) = item
    return math.prod(shape) * dtype.itemsize % ALIGNMENT != 0, -dtype.itemsize, name


def _header(tensors: Iterable[Tensor], checksums: Mapping[str, int], where: str) -> bytes:
    digits = "".join(f"{checksums[name]:08x}" for name in sorted(checksums))
    specs = {_METADATA: {CHECKSUMS: digits}} if digits else {}
    specs |= {
        t.name: {"dtype": _NAMES[t.dtype], "shape": list(t.shape), "data_offsets": [t.start, t.end]}
        for t in sorted(tensors, key=lambda tensor: tensor.name)
    }
    text = json.dumps(specs, separators=(",", ":"), ensure_ascii=False).encode("utf-8")
    text += b" " * (-(8 + len(text)) % ALIGNMENT)
    if len(text) > LARGEST_HEADER:
        raise refusal(where, f"a header of {len(text)} bytes", f"at most {LARGEST_HEADER}")
    return len(text).to_bytes(8, "little") + text


def _data_start(data: memoryview, where: str) -> int:
    if len(data) < 8:
        raise refusal(where, f"{len(data)} bytes", "at least the 8 bytes of the header's length")
    length = int.from_bytes(data[:8], "little")
    if length > LARGEST_HEADER:
        raise refusal(where, f"a header length of {length}", f"at most {LARGEST_HEADER}")
    if 8 + length > len(data):
        raise refusal(where, f"a header length of {length}", f"at most {len(data) - 8}, what is left of the entry")
    if (8 + length) % ALIGNMENT:
        raise refusal(where, f"data at offset {8 + length}", f"a multiple of {ALIGNMENT}")
    return 8 + length


def _check_metadata(metadata: object, where: str) -> None:
    if not (isinstance(metadata, dict) and all(is_text(value) for value in metadata.values())):
        raise refusal(where, f"{_METADATA} {quote(metadata)}", "an object whose values are text")


def _tensor(name: str, spec: object, where: str) -> Tensor:
    where = f"{where}: weight {quote(name)}"
    if not is_text(name):
        raise refusal(where, "a name with a lone surrogate", "text")
    if not (isinstance(spec, dict) and spec.keys() == {"dtype", "shape", "data_offsets"}):
        raise refusal(where, quote(spec), "an object with the keys 'dtype', 'shape' and 'data_offsets'")
    dtype = DTYPES.get(spec["dtype"]) if isinstance(spec["dtype"], str) else None
    if dtype is None:
        raise refusal(where, f"dtype {quote(spec['dtype'])}", f"one of {', '.join(DTYPES)}")
    shape = _counts(spec["shape"], "shape", f"at most {_LARGEST_RANK} sizes", where)
    offsets = _counts(spec["data_offsets"], "data_offsets", "two offsets", where)
    _check_size(dtype, shape, offsets, where)
    return Tensor(name, dtype, shape, *offsets)


def _counts(values: object, key: str, expected: str, where: str) -> tuple[int, ...]:
    if not (isinstance(values, list) and all(is_count(value) for value in values)):
        raise refusal(where, f"{key} {quote(values)}", "a list of non-negative integers")
    if len(values) > _LARGEST_RANK or (key == "data_offsets" and len(values) != 2):
        raise refusal(where, f"{key} with {len(values)} values", expected)
    return tuple(values)


def _check_size(dtype: np.dtype, shape: tuple[int, ...], offsets: tuple[int, ...], where: str) -> None:
    start, end = offsets
    if math.prod(size for size in shape if size) * dtype.itemsize > _LARGEST_ARRAY:
        raise refusal(where, f"shape {quote(list(shape))} of {dtype}", f"at most {_LARGEST_ARRAY} bytes")
    size = math.prod(shape) * dtype.itemsize
    if end - start != size:
        raise refusal(where, f"data_offsets [{start}, {end}], {end - start} bytes",
                      f"{size} bytes for shape {quote(list(shape))} of {dtype}")
    if start % dtype.itemsize:
        raise refusal(where, f"data at offset {start}", f"a multiple of {dtype.itemsize}, the item size of {dtype}")


def _check_cover(tensors: Iterable[Tensor], size: int, where: str) -> None:
    """The arrays must lie end to end: an overlap or a hole could hide or smuggle data."""
    expected = 0
    for tensor in sorted(tensors, key=lambda t: (t.start, t.end)):
        if tensor.start != expected:
            what = "overlaps the one before" if tensor.start < expected else "leaves a hole before it"
            raise refusal(f"{where}: weight {quote(tensor.name)}", f"data at offset {tensor.start}, which {what}",
                          f"offset {expected}")
        expected = tensor.end
    if expected != size:
        raise refusal(where, f"{size} bytes of data", f"{expected}, where the last weight ends")
