"""Weights in safetensors files, which hold arrays by name and no code."""
from __future__ import annotations

import os
import secrets
from typing import Mapping

import numpy as np

from ...errors import FormatError


def write(path: str | os.PathLike, arrays: Mapping[str, np.ndarray]) -> None:
    """Write arrays to `path`. The file takes its place at once when all is written; when writing fails the old one stays."""
    from safetensors.numpy import save_file

    target = os.path.realpath(os.fspath(path))
    temporary = f"{target}.{secrets.token_hex(8)}.tmp"
    try:
        save_file({name: np.ascontiguousarray(a).reshape(a.shape) for name, a in arrays.items()}, temporary)
        with open(temporary, "rb+") as file:
            os.fsync(file.fileno())
        os.replace(temporary, target)
    finally:
        if os.path.exists(temporary):
            os.unlink(temporary)


def read(path: str | os.PathLike) -> dict[str, np.ndarray]:
    """All arrays of a safetensors file. Raises FormatError when it is damaged, OSError when it cannot be read."""
    from safetensors import SafetensorError
    from safetensors.numpy import load_file

    try:
        return load_file(os.fspath(path))
    except SafetensorError as error:
        raise FormatError(f"{os.fspath(path)} is no whole safetensors file: {error}") from None
