"""`compile_program`: a program becomes a shared library, object file, archive or executable, with a C header."""
from __future__ import annotations

import contextlib
import os
import pathlib
import re
import shutil
import stat
import tempfile
from dataclasses import dataclass
from typing import Sequence

import numpy as np

from ...dialect.output_file import check_place, replacing
from ...dialect.size_checks import size_checks
from ...errors import CompileError
from ..cached import registered_here
from ..forking import whole_in_child
from ..isolation import isolated_compile, Limits
from ..jit import specs
from ..mapped import release_pages
from .assemble import object_file
from .binding import Binding, Codes
from .calls import (level_function, OPTIONS, OTHER_WEIGHTS, POOL_STATE, public_functions, run_function, WEIGHTS_BESIDE, WEIGHTS_CHECK,
                    WEIGHTS_INSIDE)
from .choosing import choice, constructors, destructors
from .emitter import Constants
from .header import header_text
from .levels import compile_level
from .link import archive, executable, shared_library
from .machines import Machine, machine_of
from .metadata import metadata
from .processors import thread_count
from .queries import descriptor, error_function, other_functions, signature_functions
from .support import CHECKS
from .weights import checksum, LARGEST_INSIDE, WeightFile

KINDS = {".so": "library", ".dylib": "library", ".o": "object", ".a": "archive", "": "executable", ".exe": "executable"}


@whole_in_child()
def compile_program(program, path, *, target: str = "", cpu: str = "", threads: int | None = None, name: str | None = None,
                    weights: str | os.PathLike | None = None, executable: bool = False, header: bool = True, isolate: bool = False,
                    time_limit: float | None = None, memory_limit: int | None = None) -> pathlib.Path:  # fmt: skip
    """Compile a program ahead of time.

    path: the file to write; its suffix says what: .so or .dylib, .o, .a, none for an executable. A header NAME.h is written beside it.
    target: "" for this machine, or a triple such as "aarch64-linux-gnu". cpu: "native", a processor or level ("x86-64-v3"), or several
    levels with commas, of which the best is chosen when the library is loaded. threads: threads of a run unless the caller says
    otherwise; all processors without. name: prefix of the C functions; the file's name unless given. weights: write the weights to
    this file instead of into the library. isolate: compile in a child process, with limits in seconds and bytes; not where something is
    registered in this process that the child does not know. Raises CompileError; FileNotFoundError where there is no folder for a file,
    another OSError where one cannot be written, and then none is.
    """
    path = pathlib.Path(path)
    for place in (path, weights):
        if place is not None:
            check_place(place)
    _check_apart(path, name, weights, header)
    if isolate and not registered_here():
        options = {"target": target, "cpu": cpu, "threads": threads, "name": name, "weights": weights, "executable": executable,
                   "header": header}
        isolated_compile(program, path, options, Limits(time_limit, memory_limit))
        return path
    kind = "executable" if executable else KINDS.get(path.suffix)
    if kind is None:
        raise CompileError(f"cannot tell from '{path.name}' what to write: use .so, .dylib, .o, .a, or no suffix for an executable")
    if threads is not None and threads < 1:
        raise CompileError(f"threads must be at least 1, not {threads}")
    name = c_name(name or path.name.split(".")[0])
    machine = machine_of(target, cpu)
    with tempfile.TemporaryDirectory(prefix="onemlir-") as folder:
        library = Library(program, machine, name, threads or 0, pathlib.Path(folder), pathlib.Path(weights) if weights else None)
        library.write(path, kind, header)
    return path


def _check_apart(path: pathlib.Path, name: str | None, weights, header: bool) -> None:
    """CompileError where two of the files to write are one."""
    if weights is None:
        return
    header_file = path.parent / f"{c_name(name or path.name.split('.')[0])}.h"
    for other, what in ((path, "what is compiled"), *([(header_file, "the header")] if header else [])):
        if os.path.realpath(weights) == os.path.realpath(other):
            raise CompileError(f"'{weights}' cannot hold the weights: it is {what}; give the weights a file of their own")


def c_name(text: str) -> str:
    """A C identifier of a file's name."""
    found = re.sub(r"[^A-Za-z0-9_]", "_", text)
    return f"model_{found}" if not found or found[0].isdigit() else found


@dataclass
class Library:
    """One compilation: the parts of the library and where they are put together."""

    program: object
    machine: Machine
    name: str
    threads: int
    folder: pathlib.Path
    beside: pathlib.Path | None

    def write(self, path: pathlib.Path, kind: str, header: bool) -> None:
        from ... import __version__ as version

        self.version = version
        self.inputs, self.outputs = specs(self.program)
        self._compile_levels()
        if self.weight_file.size > LARGEST_INSIDE and self.beside is None:
            self.beside = path.with_suffix(".weights")
        if self.beside and kind == "executable" and self.beside.absolute().parent != path.absolute().parent:
            raise CompileError(f"an executable looks for its weights in its own folder: {self.beside} is not beside {path}")
        exported, text = self.interface()
        built = self.folder / f"{self.name}.o"
        object_file(built, self.folder, self.machine, text, self.levels, self.parallel, exported, self._embedded())
        header_file = self.folder / f"{self.name}.h"
        beside = self.beside.name if self.beside else None
        header_file.write_text(header_text(self.name, version, self.inputs, self.outputs, beside), encoding="utf-8")
        files = [(self._linked(path, kind, built, header_file), path)]
        files += [(header_file, path.parent / f"{self.name}.h")] if header else []
        files += [(self.weight_file.path, self.beside)] if self.beside else []
        place_all(files)

    def _compile_levels(self) -> None:
        """Code of each level; its weights go to the file, and out of memory, before the next one is compiled."""
        self.levels, self.weight_file = [], WeightFile(self.folder / "weights.bin")
        with self.weight_file:
            for number in range(len(self.machine.levels)):
                level = compile_level(self.program, self.machine, number)
                self.weight_file.add(level.parameters)
                level.parameters = [without_memory(array) for array in level.parameters]
                self.levels.append(level)
                release_pages(map(np.asarray, self.program.weights.values()))
            self.weight_file.finish()

    @property
    def parallel(self) -> bool:
        return any(level.parallel for level in self.levels)

    @property
    def symbol(self) -> str:
        return f"{self.name}_weights_data"

    def _embedded(self) -> tuple[pathlib.Path, str] | None:
        return None if self.beside else (self.weight_file.path, self.symbol)

    def _linked(self, path: pathlib.Path, kind: str, built: pathlib.Path, header: pathlib.Path) -> pathlib.Path:
        """The finished file of a kind, from the object file."""
        finished = self.folder / path.name if kind != "object" else built
        if kind == "library":
            shared_library(built, finished, self.machine)
        elif kind == "archive":
            archive(built, finished)
        elif kind == "executable":
            finished = self.folder / "program"
            executable(built, header, finished, self.machine, self.name, self.beside)
        return finished

    def interface(self) -> tuple[list[str], str]:
        """The exported names, and the LLVM IR of the C interface."""
        codes = Codes(dict(self.levels[0].messages))
        constants = Constants()
        self.checks = size_checks(self.program)
        binding = Binding(self.inputs, self.outputs, codes, self.checks)
        needs_check = self.machine.architecture == "x86_64" and any(level.features for level in self.levels)
        processors = ", ".join(level.level.cpu for level in self.levels)
        parts = [
            CHECKS, thread_count(self.machine), OPTIONS, binding.text(),
            WEIGHTS_BESIDE + self._weights_check() if self.beside else WEIGHTS_INSIDE.format(symbol=self.symbol),
            *self._level_functions(len(binding.size_slot)),
            run_function(len(self.levels), self.inputs, self.outputs, len(binding.axes), binding.size_slot, parallel=self.parallel,
                         threads=self.threads),
            public_functions(self.name, len(self.inputs), len(self.outputs)),
            error_function(self.name, constants, codes.messages, processors),
            signature_functions(self.name, constants, "input", self.inputs),
            signature_functions(self.name, constants, "output", self.outputs),
            other_functions(self.name, constants, self.version, self.inputs, self.outputs, len(binding.axes), self.threads),
            descriptor(constants, self._metadata(codes), len(self.levels), self.parallel, None if self.beside else self.symbol),
            choice([level.features for level in self.levels], needs_check), POOL_STATE if self.parallel else "",
            constructors(["om_count_threads"] + ["om_choose"] * needs_check + ["om_start_pool"] * self.parallel),
            destructors(["om_stop_pool"] * self.parallel),
            "" if self.beside else f"@{self.symbol} = external hidden constant i8\n",
            '!0 = !{!"branch_weights", i32 2000, i32 1}\n', constants.text(),
        ]  # fmt: skip
        text = "".join(parts)
        exported = re.findall(rf"^define \w+ @({self.name}_\w+)\(", text, flags=re.M) + ["onemlir_library"]
        return exported, text

    def _weights_check(self) -> str:
        file = self.weight_file
        return WEIGHTS_CHECK.format(name=self.name, size=file.size, words=file.size // 8, checksum=checksum(file.path), code=OTHER_WEIGHTS)

    def _level_functions(self, sizes: int) -> list[str]:
        parts = []
        for number, level in enumerate(self.levels):
            parts.append(f"declare i32 @om_level_{number}_entry(ptr)\n")
            parts.append(level_function(number, self.weight_file.offsets[number], self.inputs, self.outputs, sizes))
        return [*parts, "declare void @om_level_0_onemlir_free(ptr)\ndeclare void @om_level_0_onemlir_release(ptr)\n"]

    def _metadata(self, codes: Codes) -> str:
        beside = {"file": self.beside.name, "size": self.weight_file.size, "sha256": self.weight_file.digest} if self.beside else None
        levels = [(level.level.cpu, offsets, level.parameters) for level, offsets in zip(self.levels, self.weight_file.offsets)]
        return metadata(self.name, self.version, self.inputs, self.outputs, codes.messages, self.program.structure, levels,
                        self.threads, beside, self.checks)


def without_memory(array: np.ndarray) -> np.ndarray:
    """An array of the same shape and dtype that holds one element."""
    return np.broadcast_to(np.zeros((), array.dtype), array.shape)


def place_all(files: Sequence[tuple[pathlib.Path, pathlib.Path]]) -> None:
    """Put finished files (source, destination) in their places, each in one step and none before all are written there."""
    with contextlib.ExitStack() as stack:
        for source, destination in files:
            file = stack.enter_context(replacing(destination))
            with open(source, "rb") as content:
                shutil.copyfileobj(content, file, 1 << 20)
            os.fchmod(file.fileno(), stat.S_IMODE(source.stat().st_mode))
