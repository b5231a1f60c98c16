"""Object code of a module in the LLVM dialect, for this processor at O3: its large functions in several parts, each on a thread.

How a module is cut depends on the module alone, so the code is the same on any number of processors. A part holds some of the large loop
bodies, which are never inlined; the first one holds everything else. The work is LLVM's, through its C interface, which runs without
Python's lock; MLIR's translation to LLVM IR is not for several threads and comes before.
"""
from __future__ import annotations

import ctypes
import functools
import os
from concurrent.futures import ThreadPoolExecutor
from typing import Sequence

from mlir import ir

from ..errors import CompileError
from ..lowering.llvm.attributes import KERNEL, used_symbols
from .object_loader import llvm_library

_P, _S, _I = ctypes.c_void_p, ctypes.c_char_p, ctypes.c_int
_SIGNATURES = {
    "LLVMContextCreate": (_P, []),
    "LLVMContextDispose": (None, [_P]),
    "LLVMContextSetDiscardValueNames": (None, [_P, _I]),
    "LLVMDisposeModule": (None, [_P]),
    "LLVMSetTarget": (None, [_P, _S]),
    "LLVMSetModuleDataLayout": (None, [_P, _P]),
    "LLVMGetDefaultTargetTriple": (_P, []),
    "LLVMGetHostCPUName": (_P, []),
    "LLVMGetHostCPUFeatures": (_P, []),
    "LLVMGetTargetFromTriple": (_I, [_S, _P, _P]),
    "LLVMCreateTargetMachine": (_P, [_P, _S, _S, _S, _I, _I, _I]),
    "LLVMDisposeTargetMachine": (None, [_P]),
    "LLVMCreateTargetDataLayout": (_P, [_P]),
    "LLVMDisposeTargetData": (None, [_P]),
    "LLVMCreatePassBuilderOptions": (_P, []),
    "LLVMDisposePassBuilderOptions": (None, [_P]),
    "LLVMPassBuilderOptionsSetLoopInterleaving": (None, [_P, _I]),
    "LLVMPassBuilderOptionsSetLoopVectorization": (None, [_P, _I]),
    "LLVMPassBuilderOptionsSetSLPVectorization": (None, [_P, _I]),
    "LLVMPassBuilderOptionsSetLoopUnrolling": (None, [_P, _I]),
    "LLVMRunPasses": (_P, [_P, _S, _P, _P]),
    "LLVMGetErrorMessage": (_P, [_P]),
    "LLVMDisposeErrorMessage": (None, [_P]),
    "LLVMTargetMachineEmitToMemoryBuffer": (_I, [_P, _P, _I, _P, _P]),
    "LLVMGetBufferStart": (_P, [_P]),
    "LLVMGetBufferSize": (ctypes.c_size_t, [_P]),
    "LLVMDisposeMemoryBuffer": (None, [_P]),
    "LLVMDisposeMessage": (None, [_P]),
}
_AGGRESSIVE, _PIC, _DEFAULT_MODEL, _OBJECT = 3, 2, 0, 1

PIPELINE = "default<O3>"
KERNEL_PIPELINE = (
    "function(sroa,early-cse<memssa>,loop-mssa(loop-rotate,licm),loop-unroll-full,instcombine<no-verify-fixpoint>,simplifycfg,"
    "early-cse<memssa>)"
)
"""For functions that are written out in vectors: nothing there is for a vectorizer, and loops are as they should be."""

LARGE = 300
"""Operations of a loop body that may go to a part of its own."""
PART = 4000
"""Operations of a part, about; smaller parts would repeat what LLVM does for each module."""


def object_code(module: ir.Module) -> list[bytes]:
    """Object files that together are the module's code. The module is not changed."""
    library = _library()
    parts = parts_of(module)
    with ThreadPoolExecutor(_workers(len(parts))) as pool:
        futures = []
        for part in parts:
            futures.append(pool.submit(_generate, *_translate(library, part), _pipeline(part)))
        return [future.result() for future in futures]


def _workers(parts: int) -> int:
    available = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return max(1, min(parts, available))


# --- parts ------------------------------------------------------------------------------------------------------------------------------


def parts_of(module: ir.Module) -> list[ir.Module]:
    """Modules that define the functions of this one; where one uses what another defines, both say that it is external."""
    operations = [op.operation for op in module.body.operations]
    groups = _groups(operations)
    if len(groups) == 1:
        return [module]
    home = {_name(op): number for number, group in enumerate(groups) for op in group}
    uses = [{name for op in group for name in used_symbols(op)} for group in groups]
    shared = {name for number, names in enumerate(uses) for name in names if home.get(name, number) != number}
    known = {_name(op): op for op in operations}
    return [_part(module, group, shared, [known[n] for n in sorted(names) if home.get(n, number) != number])
            for number, (group, names) in enumerate(zip(groups, uses))]  # fmt: skip


def _groups(operations: Sequence[ir.Operation]) -> list[list[ir.Operation]]:
    """The operations by part: large bodies leave the first one, kernels for parts of kernels and others for parts of others."""
    sizes = {_name(op): _size(op) for op in operations}
    large = [op for op in operations if "no_inline" in op.attributes and sizes[_name(op)] >= LARGE]
    chosen = {_name(op) for op in large}
    groups = [[op for op in operations if _name(op) not in chosen]]
    for kernels in (True, False):
        groups += _balanced([op for op in large if is_kernel(op) == kernels], sizes)
    return groups if groups[0] else groups[1:]


def _balanced(operations: list[ir.Operation], sizes: dict[str, int]) -> list[list[ir.Operation]]:
    """Groups of about equal size: in order of size, each operation goes to the group that has least."""
    count = -(-sum(sizes[_name(op)] for op in operations) // PART)
    groups, weights = [[] for _ in range(count)], [0] * count
    for op in sorted(operations, key=lambda op: -sizes[_name(op)]):
        place = weights.index(min(weights))
        groups[place].append(op)
        weights[place] += sizes[_name(op)]
    return [group for group in groups if group]


def is_kernel(operation: ir.Operation) -> bool:
    marks = operation.attributes["passthrough"] if "passthrough" in operation.attributes else ()
    return ir.StringAttr.get(KERNEL, operation.context) in list(marks)


def _size(operation: ir.Operation) -> int:
    return sum(len(block.operations) for region in operation.regions for block in region.blocks)


def _name(operation: ir.Operation) -> str:
    return operation.attributes["sym_name"].value


def _part(module: ir.Module, group, shared: set[str], declared) -> ir.Module:
    with module.context, ir.Location.unknown():
        part = ir.Module.create()
        with ir.InsertionPoint(part.body):
            for op in group:
                copy = op.clone().operation
                if _name(op) in shared:
                    copy.attributes["linkage"] = ir.Attribute.parse("#llvm.linkage<external>")
            for op in declared:
                _declare(op)
        return part


def _declare(operation: ir.Operation) -> None:
    """The same symbol without its body or value."""
    attributes = {n: operation.attributes[n] for n in operation.attributes if n not in ("value", "initial_value")}
    attributes["linkage"] = ir.Attribute.parse("#llvm.linkage<external>")
    ir.Operation.create(operation.name, attributes=attributes, regions=len(operation.regions))


# --- LLVM -------------------------------------------------------------------------------------------------------------------------------


def _translate(library: ctypes.CDLL, part: ir.Module) -> tuple[int, int]:
    """An LLVM context and the module in it."""
    context = library.LLVMContextCreate()
    library.LLVMContextSetDiscardValueNames(context, 1)
    found = _translator()(_operation_pointer(part.operation), context)
    if not found:
        library.LLVMContextDispose(context)
        raise CompileError("the module cannot be translated to LLVM IR")
    return context, found


def _operation_pointer(operation: ir.Operation) -> int:
    get = ctypes.PYFUNCTYPE(_P, ctypes.py_object, _S)(("PyCapsule_GetPointer", ctypes.pythonapi))
    return get(operation._CAPIPtr, b"mlir.ir.Operation._CAPIPtr")


def _pipeline(part: ir.Module) -> str:
    defined = [op.operation for op in part.body.operations if len(op.operation.regions[0].blocks)]
    return KERNEL_PIPELINE if all(map(is_kernel, defined)) else PIPELINE


def _generate(context: int, module: int, pipeline: str) -> bytes:
    """Optimise a module and make object code of it; it goes, with its context."""
    library = _library()
    machine = _target_machine(library)
    try:
        library.LLVMSetTarget(module, _triple())
        layout = library.LLVMCreateTargetDataLayout(machine)
        library.LLVMSetModuleDataLayout(module, layout)
        library.LLVMDisposeTargetData(layout)
        _optimize(library, module, machine, pipeline)
        return _emit(library, module, machine)
    finally:
        library.LLVMDisposeModule(module)
        library.LLVMDisposeTargetMachine(machine)
        library.LLVMContextDispose(context)


def _optimize(library: ctypes.CDLL, module: int, machine: int, pipeline: str) -> None:
    options = library.LLVMCreatePassBuilderOptions()
    for choice in ("LoopInterleaving", "LoopVectorization", "SLPVectorization", "LoopUnrolling"):
        getattr(library, f"LLVMPassBuilderOptionsSet{choice}")(options, 1)
    error = library.LLVMRunPasses(module, pipeline.encode(), machine, options)
    library.LLVMDisposePassBuilderOptions(options)
    if error:
        text = library.LLVMGetErrorMessage(error)
        message = ctypes.string_at(text).decode(errors="replace")
        library.LLVMDisposeErrorMessage(text)
        raise CompileError(f"cannot optimise: {message}")


def _emit(library: ctypes.CDLL, module: int, machine: int) -> bytes:
    message, buffer = _P(), _P()
    if library.LLVMTargetMachineEmitToMemoryBuffer(machine, module, _OBJECT, ctypes.byref(message), ctypes.byref(buffer)):
        raise CompileError(f"cannot make machine code: {_taken(library, message.value)}")
    data = ctypes.string_at(library.LLVMGetBufferStart(buffer), library.LLVMGetBufferSize(buffer))
    library.LLVMDisposeMemoryBuffer(buffer)
    return data


def _taken(library: ctypes.CDLL, message: int) -> str:
    """The text of a message that is ours to free."""
    text = ctypes.string_at(message).decode(errors="replace")
    library.LLVMDisposeMessage(message)
    return text


def _target_machine(library: ctypes.CDLL) -> int:
    target, message = _P(), _P()
    if library.LLVMGetTargetFromTriple(_triple(), ctypes.byref(target), ctypes.byref(message)):
        raise CompileError(f"no target: {_taken(library, message.value)}")
    return library.LLVMCreateTargetMachine(target, _triple(), *_host(), _AGGRESSIVE, _PIC, _DEFAULT_MODEL)


@functools.cache
def _triple() -> bytes:
    return _taken(_library(), _library().LLVMGetDefaultTargetTriple()).encode()


@functools.cache
def _host() -> tuple[bytes, bytes]:
    """This processor's name and features, as LLVM knows them."""
    library = _library()
    return tuple(_taken(library, call()).encode() for call in (library.LLVMGetHostCPUName, library.LLVMGetHostCPUFeatures))


@functools.cache
def _library() -> ctypes.CDLL:
    library = llvm_library()
    for name, (result, arguments) in _SIGNATURES.items():
        function = getattr(library, name)
        function.restype, function.argtypes = result, arguments
    return library


@functools.cache
def _translator():
    """`mlirTranslateModuleToLLVMIR` of the bindings' library."""
    import pathlib

    from mlir import _mlir_libs

    folder = pathlib.Path(_mlir_libs.__file__).parent
    (path,) = [p for p in folder.glob("libMLIRPythonCAPI.*") if p.suffix in (".so", ".dylib")]
    function = ctypes.PyDLL(str(path)).mlirTranslateModuleToLLVMIR
    function.restype, function.argtypes = _P, [_P, _P]
    return function
