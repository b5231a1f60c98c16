"""Writing ONNX files: atomically, and with weights streamed, so that they are in memory once."""
from __future__ import annotations

import os
import pathlib
from typing import BinaryIO, Callable

import numpy as np
import onnx

from ...errors import OnemlirError
from ..output_file import check_place, replacing
from ..program import Program
from .export import build_graph
from .serialize import initializer_array, little_endian, model_proto, tensor_header, tensor_proto

EXTERNAL_FROM = 1 << 30  # bytes of weights from which they are written beside the model: protobuf ends at 2 GiB
SMALL = 1024  # bytes up to which a tensor stays in the model; shape inference reads such literals
ALIGNMENT = 4096  # so that every tensor can be mapped


def save_onnx(program: Program, path, opset: int | None = None, external_data: bool | str | None = None, *,
              decompose: Callable | None = None, guards: str = "drop") -> None:
    """Write the program as an ONNX file; see `to_onnx` for opset, decompose and guards.

    external_data: True writes weights to ``<name>.data`` beside the model, a text to that file name, False into the model; None does so
    from 1 GiB of weights on. Files appear complete or not at all.
    """
    path = pathlib.Path(path)
    graph = build_graph(program, opset, decompose, guards)
    arrays = [initializer_array(v, program.weights) for v in graph.model.initializers]
    total = sum(a.nbytes for a in arrays)
    if external_data is None:
        external_data = total >= EXTERNAL_FROM
    if not external_data:
        if total >= 2**31 - 2**24:
            raise OnemlirError(f"{total} bytes of weights do not fit into one ONNX file; use external_data=True")
        with replacing(path) as file:
            _write_whole(graph, program, file)
        return
    data_path = path.with_name(_file_name(external_data, path))
    check_place(path)
    with replacing(data_path) as data:
        model = model_proto(graph, program.weights, _external(data, data_path.name))
    with replacing(path) as file:
        file.write(model.SerializeToString())


def _file_name(external_data, path: pathlib.Path) -> str:
    name = f"{path.name}.data" if external_data is True else os.fspath(external_data)
    if pathlib.PurePath(name).name != name or name == path.name:
        raise OnemlirError(f"external_data must be the name of a file beside {path.name}, found {name!r}")
    return name


def _external(data: BinaryIO, name: str) -> Callable:
    """Makes tensors whose bytes go to the data file."""
    def tensor(tensor_name: str, array: np.ndarray) -> onnx.TensorProto:
        if array.nbytes <= SMALL:
            return tensor_proto(tensor_name, array)
        data.write(b"\0" * (-data.tell() % ALIGNMENT))
        proto = tensor_header(tensor_name, array)
        proto.data_location = onnx.TensorProto.EXTERNAL
        for key, value in (("location", name), ("offset", data.tell()), ("length", array.nbytes)):
            proto.external_data.add(key=key, value=str(value))
        data.write(_bytes(array))
        return proto
    return tensor


def _write_whole(graph, program: Program, file: BinaryIO) -> None:
    """The model in one file: its messages are framed by hand, so that no second copy of the weights is made."""
    large: list[tuple[bytes, np.ndarray]] = []

    def tensor(name: str, array: np.ndarray) -> onnx.TensorProto | None:
        if array.nbytes <= SMALL:
            return tensor_proto(name, array)
        large.append((tensor_header(name, array).SerializeToString(), array))
        return None

    model = model_proto(graph, program.weights, tensor)
    head = model.graph.SerializeToString()
    model.ClearField("graph")
    frames = [(_frame(5, len(header) + len(_frame(9, a.nbytes)) + a.nbytes) + header + _frame(9, a.nbytes), a) for header, a in large]
    file.write(model.SerializePartialToString())
    file.write(_frame(7, len(head) + sum(len(frame) + a.nbytes for frame, a in frames)) + head)
    for frame, array in frames:
        file.write(frame)
        file.write(_bytes(array))


def _frame(field: int, length: int) -> bytes:
    """The start of a length-delimited protobuf field: ModelProto.graph is 7, GraphProto.initializer 5, TensorProto.raw_data 9."""
    return bytes([field << 3 | 2]) + _varint(length)


def _varint(number: int) -> bytes:
    out = bytearray()
    while number > 0x7F:
        out.append(number & 0x7F | 0x80)
        number >>= 7
    out.append(number)
    return bytes(out)


def _bytes(array: np.ndarray) -> memoryview:
    return memoryview(np.ascontiguousarray(little_endian(array)).reshape(-1).view(np.uint8))
