"""Putting the weights into an object file without a tool that reads them: the assembler reserves a section, whose bytes are appended here.

Format: System V ABI, ELF-64 little-endian: e_shoff at 40, e_shentsize at 58, e_shnum at 60, e_shstrndx at 62; of a section header
sh_name at 0, sh_offset at 24, sh_size at 32.
"""
from __future__ import annotations

import pathlib
import shutil
import struct
from typing import BinaryIO

from ...errors import CompileError

PAGE = 4096
_HEADER = struct.Struct("<IIQQQQIIQQ")
_OFFSET, _SIZE = 4, 5


def reserve(section: str, symbol: str) -> str:
    """Module-level assembly of a read-only section with a symbol at its start, which `fill` gives its bytes."""
    lines = [f'.section {section},"a",@progbits', ".p2align 12", f"{symbol}:", ".quad 0", ".text"]
    return "\n".join('module asm "' + line.replace('"', "\\22") + '"' for line in lines)


def fill(object_file: pathlib.Path, section: str, contents: pathlib.Path) -> None:
    """Append a file to an ELF object as the bytes of a section; the file is copied in pieces."""
    with open(object_file, "r+b") as file:
        place, header = _find(file, section)
        file.seek(0, 2)
        begin = -(-file.tell() // PAGE) * PAGE
        file.write(bytes(begin - file.tell()))
        with open(contents, "rb") as source:
            shutil.copyfileobj(source, file, 1 << 20)
        header[_OFFSET], header[_SIZE] = begin, contents.stat().st_size
        file.seek(place)
        file.write(_HEADER.pack(*header))


def _find(file: BinaryIO, section: str) -> tuple[int, list[int]]:
    """Where the header of a section is, and its fields."""
    file.seek(0)
    start = file.read(64)
    (table,), (size, count, names) = struct.unpack_from("<Q", start, 40), struct.unpack_from("<HHH", start, 58)
    file.seek(table)
    headers = [list(_HEADER.unpack(file.read(size)[:_HEADER.size])) for _ in range(count)]
    file.seek(headers[names][_OFFSET])
    texts = file.read(headers[names][_SIZE])
    for number, header in enumerate(headers):
        if texts[header[0]:texts.index(b"\0", header[0])].decode() == section:
            return table + number * size, header
    raise CompileError(f"the object file {file.name} has no section {section}")
