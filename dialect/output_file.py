"""Files that are written whole or not at all, and the refusal of places where none can be."""
from __future__ import annotations

import contextlib
import os
import pathlib
import secrets
from typing import BinaryIO, Iterator


def check_place(path: str | os.PathLike) -> None:
    """Ask before long work whether a file has a place: FileNotFoundError without a folder for it, IsADirectoryError where it is one."""
    place = pathlib.Path(os.path.realpath(path))
    if not place.parent.is_dir():
        kind = NotADirectoryError if place.parent.exists() else FileNotFoundError
        raise kind(f"'{os.fspath(path)}' cannot be written: there is no folder '{place.parent}'")
    if place.is_dir():
        raise IsADirectoryError(f"'{os.fspath(path)}' cannot be written: it is a folder")


@contextlib.contextmanager
def replacing(path: str | os.PathLike) -> Iterator[BinaryIO]:
    """A new file beside `path` that takes its place when the block ends, or vanishes on an error.

    OSError names `path`: as `check_place` has it, for what no file can replace, such as a device, and for what the system refuses.
    """
    check_place(path)
    target = os.path.realpath(path)
    if os.path.exists(target) and not os.path.isfile(target):
        raise OSError(f"'{os.fspath(path)}' cannot be written: it is no regular file")
    folder = os.path.dirname(target)
    temporary = os.path.join(folder, f".onemlir-{secrets.token_hex(8)}.tmp")
    try:
        with os.fdopen(os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666), "wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, target)
    except BaseException as error:
        with contextlib.suppress(OSError):
            os.unlink(temporary)
        if isinstance(error, OSError) and error.filename in (temporary, None) and error.errno is not None:
            why = error.strerror if error.filename is None else f"no file can be made in '{folder}' ({error.strerror})"
            raise type(error)(f"'{os.fspath(path)}' cannot be written: {why}") from error
        raise
    _sync_folder(folder)


def write_file(path: str | os.PathLike, content: str | bytes) -> None:
    """Write a file whole or not at all, text in UTF-8; what is there and no regular file, such as a device, is written to as it is.

    OSError names `path`: as `check_place` has it, and for what the system refuses.
    """
    data = content.encode("utf-8") if isinstance(content, str) else content
    if os.path.exists(path) and not os.path.isfile(path) and not os.path.isdir(path):
        try:
            with open(path, "wb") as device:
                device.write(data)
        except OSError as error:
            raise type(error)(f"'{os.fspath(path)}' cannot be written: {error.strerror}") from error
        return
    with replacing(path) as file:
        file.write(data)


def _sync_folder(folder: str) -> None:
    """Make the new name last through a power failure, where the file system can."""
    with contextlib.suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
