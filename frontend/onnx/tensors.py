"""Arrays out of ONNX's TensorProto, also those whose data lies in files beside the model, which are mapped, not read."""
from __future__ import annotations

import math
import pathlib
from dataclasses import dataclass
from typing import Sequence

import ml_dtypes
import numpy as np
import onnx
from onnx import TensorProto

from ...dialect import dtypes
from ...errors import FormatError, UnsupportedOpError
from .weights_in_file import MARK

DTYPES = {
    TensorProto.FLOAT: dtypes.float32, TensorProto.DOUBLE: dtypes.float64, TensorProto.FLOAT16: dtypes.float16, TensorProto.BFLOAT16: dtypes.bfloat16,
    TensorProto.INT8: dtypes.int8, TensorProto.INT16: dtypes.int16, TensorProto.INT32: dtypes.int32, TensorProto.INT64: dtypes.int64,
    TensorProto.UINT8: dtypes.uint8, TensorProto.UINT16: dtypes.uint16, TensorProto.UINT32: dtypes.uint32, TensorProto.UINT64: dtypes.uint64,
    TensorProto.BOOL: dtypes.bool_,
}
ELEMENT_TYPES = {dtype: number for number, dtype in DTYPES.items()}


def dtype_name(number: int) -> str:
    """The name of an ONNX element type."""
    return TensorProto.DataType.Name(number) if number in TensorProto.DataType.values() else f"element type {number}"


def element_dtype(number: int, what: str) -> np.dtype:
    """The dtype of an ONNX element type. UnsupportedOpError for one that the dialect does not have."""
    if number not in DTYPES:
        known = number in TensorProto.DataType.values() and number != TensorProto.UNDEFINED
        raise (UnsupportedOpError if known else FormatError)(f"{what} has {dtype_name(number)}; the dialect has {', '.join(map(str, DTYPES.values()))}")
    return DTYPES[number]


@dataclass(frozen=True)
class Files:
    """Where the data of tensors lies that is not in the message: the model's folder, and parts of the mapped model file."""

    folder: pathlib.Path | None = None
    mapped: Sequence[memoryview] = ()

    def data(self, tensor: TensorProto) -> memoryview | None:
        """The raw_data of a tensor for which a mark stands."""
        if not self.mapped or tensor.data_location == TensorProto.EXTERNAL:
            return None
        marks = [entry.value for entry in tensor.external_data if entry.key == MARK]
        return self.mapped[int(marks[-1])] if marks else None


def array_of(tensor: TensorProto, files: Files) -> np.ndarray:
    """The array of a TensorProto. FormatError for sizes that do not fit the data."""
    what = f"the tensor '{tensor.name}'"
    dtype = element_dtype(tensor.data_type, what)
    shape = tuple(tensor.dims)
    if any(size < 0 for size in shape):
        raise FormatError(f"{what} has a negative size: {shape}")
    if math.prod(shape) * dtype.itemsize >= 1 << 62:
        raise FormatError(f"{what} has a shape beyond any memory: {shape}")
    if tensor.data_location == TensorProto.EXTERNAL:
        return _external(tensor, what, dtype, shape, files.folder)
    data = files.data(tensor)
    if data is not None:
        return _raw(data, what, dtype, shape)
    if tensor.HasField("raw_data"):
        return _raw(tensor.raw_data, what, dtype, shape)
    return _typed(tensor, what, dtype, shape)


def _raw(data: bytes, what: str, dtype: np.dtype, shape: tuple) -> np.ndarray:
    expected = math.prod(shape) * dtype.itemsize
    if len(data) != expected:
        raise FormatError(f"{what} of shape {shape} and {dtype} takes {expected} bytes, found {len(data)}")
    return np.frombuffer(data, dtype.newbyteorder("<") if dtype != dtypes.bfloat16 else dtype).astype(dtype, copy=False).reshape(shape)


def _typed(tensor: TensorProto, what: str, dtype: np.dtype, shape: tuple) -> np.ndarray:
    field = {"f2": "int32_data", "f4": "float_data", "f8": "double_data", "i8": "int64_data", "u8": "uint64_data", "u4": "uint64_data"}
    key = f"{dtype.kind}{dtype.itemsize}" if dtype != dtypes.bfloat16 else "f2"
    values = getattr(tensor, field.get(key, "int32_data"))
    if len(values) != math.prod(shape):
        raise FormatError(f"{what} of shape {shape} takes {math.prod(shape)} elements, found {len(values)}")
    if key == "f2":
        return np.array(values, np.int64).astype(np.uint16).view(ml_dtypes.bfloat16 if dtype == dtypes.bfloat16 else np.float16).reshape(shape)
    return np.array(values).astype(dtype).reshape(shape)


def _external(tensor: TensorProto, what: str, dtype: np.dtype, shape: tuple, folder: pathlib.Path | None) -> np.ndarray:
    entries = {entry.key: entry.value for entry in tensor.external_data}
    path = external_path(entries.get("location", ""), what, folder)
    try:
        offset, size = int(entries.get("offset", 0)), path.stat().st_size
        count = int(entries.get("length", math.prod(shape) * dtype.itemsize))
    except (ValueError, OSError) as error:
        raise FormatError(f"{what} has external data that cannot be read: {error}") from None
    if count != math.prod(shape) * dtype.itemsize or offset < 0 or offset + count > size:
        raise FormatError(f"{what} of shape {shape} and {dtype} takes {math.prod(shape) * dtype.itemsize} bytes; "
                          f"'{path.name}' of {size} bytes is said to hold {count} at {offset}")
    if not count:
        return np.zeros(shape, dtype)
    return np.memmap(path, np.uint8, "r", offset, (count,)).view(np.ndarray).view(dtype).reshape(shape)


def external_path(location: str, what: str, folder: pathlib.Path | None) -> pathlib.Path:
    """The file of external data: inside the model's folder, through no link that leaves it."""
    if folder is None:
        raise FormatError(f"{what} has external data in '{location}', but the model was not read from a file: give its path")
    root = folder.resolve()
    path = (root / location).resolve()
    if not location or not path.is_relative_to(root) or pathlib.PurePath(location).is_absolute():
        raise FormatError(f"{what} has external data in '{location}', which is outside the folder of the model")
    if not path.is_file():
        raise FormatError(f"{what} has external data in '{location}', but there is no such file beside the model")
    return path


def attribute_value(attribute: onnx.AttributeProto):
    """An attribute as a Python value: numbers, text, tuples of them; tensors, graphs and types as the messages they are."""
    kinds = onnx.AttributeProto
    value = onnx.helper.get_attribute_value(attribute)
    if attribute.type == kinds.STRING:
        return _text(value, attribute.name)
    if attribute.type == kinds.STRINGS:
        return tuple(_text(v, attribute.name) for v in value)
    return tuple(value) if attribute.type in (kinds.INTS, kinds.FLOATS, kinds.GRAPHS, kinds.TENSORS) else value


def _text(value: bytes, name: str) -> str:
    try:
        return value.decode()
    except UnicodeDecodeError:
        raise FormatError(f"the attribute '{name}' is no text: {value[:20]!r}") from None
