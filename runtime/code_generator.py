"""Object code of a module in the LLVM dialect, for this processor: its functions in several parts, each on a thread.

How a module is cut depends on the module alone, so the code is the same on any number of processors. There are parts of kernels, parts of
other large loop bodies (both are never inlined), one of what runs once, and the first one, which holds everything else; each kind has its
passes. The work is LLVM's, through its C interface, which runs without Python's lock; MLIR's translation to LLVM IR is not for several
threads and comes before.
"""
from __future__ import annotations

import ctypes
import functools
import os
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Sequence

from mlir import ir

from ..errors import CompileError
from ..lowering.llvm.attributes import is_support, KERNEL, SMALL, used_symbols
from ..lowering.targets import withheld
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
_NO_EFFORT, _AGGRESSIVE, _PIC, _DEFAULT_MODEL, _OBJECT = 0, 3, 2, 0, 1


@dataclass(frozen=True)
class Effort:
    """What LLVM does with a part: its passes, and the level of its back end."""

    passes: str
    level: int = _AGGRESSIVE


FULL = Effort("default<O3>")
KERNELS = Effort(
    "function(sroa,early-cse<memssa>,loop-mssa(loop-rotate,licm),loop-unroll-full,instcombine<no-verify-fixpoint>,simplifycfg,"
    "early-cse<memssa>)"
)
"""For functions that are written out in vectors: nothing there is for a vectorizer, and loops are as they should be."""
RUNS_ONCE = Effort("function(sroa,early-cse,simplifycfg)", _NO_EFFORT)
"""For what puts prepared weights together: long code with short loops, on which O3 spends more time than it saves."""
SUPPORT = Effort("default<O2>")
"""For the functions of `lowering.llvm.support`, which are the same in all modules that use them, and are kept."""

LARGE = 300
"""Operations from which on a loop body, all kernels, or all that runs once, may go to parts of their own."""
PART = 4000
"""Operations of a part, about; smaller parts would repeat what LLVM does for each module."""


def object_code(module: ir.Module) -> list[bytes]:
    """Object files that together are the module's code. The module is not changed."""
    library = _library()
    parts = parts_of(module)
    with ThreadPoolExecutor(_workers(len(parts))) as pool:
        jobs = []
        for part in parts:
            effort = _effort(part)
            key = str(part) if effort is SUPPORT else None
            jobs.append((key, None if key in _support else pool.submit(_generate, *_translate(library, part), effort)))
        objects = [_support[key] if job is None else job.result() for key, job in jobs]
    _support.update((key, found) for (key, _), found in zip(jobs, objects) if key)
    return objects


_support: dict[str, bytes] = {}


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
    """The operations by part: kernels, other large bodies and what runs once leave the first one, where there is enough of them."""
    sizes = {_name(op): _size(op) for op in operations}
    kinds = {_name(op): _kind(op, sizes[_name(op)]) for op in operations}
    by_kind = {kind: [op for op in operations if kinds[_name(op)] is kind] for kind in (RUNS_ONCE, KERNELS, FULL)}
    support = [op for op in operations if kinds[_name(op)] is SUPPORT]
    by_kind = {kind: ops if sum(sizes[_name(op)] for op in ops) >= LARGE else [] for kind, ops in by_kind.items()}
    chosen = {_name(op) for ops in (*by_kind.values(), support) for op in ops}
    groups = [[op for op in operations if _name(op) not in chosen]]
    groups += _balanced(by_kind[KERNELS], sizes) + _balanced(by_kind[FULL], sizes) + [by_kind[RUNS_ONCE], support]
    return [group for group in groups if group]


def _kind(operation: ir.Operation, size: int) -> Effort | None:
    """The kind of part that an operation goes to; None for the first one."""
    if not size:
        return None
    if is_support(_name(operation)):
        return SUPPORT
    if "no_inline" not in operation.attributes:
        return RUNS_ONCE if _has_mark(operation, SMALL) else None
    return KERNELS if is_kernel(operation) else FULL if size >= LARGE else None


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
    return _has_mark(operation, KERNEL)


def _has_mark(operation: ir.Operation, mark: str) -> bool:
    marks = operation.attributes["passthrough"] if "passthrough" in operation.attributes else ()
    return ir.StringAttr.get(mark, operation.context) in list(marks)


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


def _effort(part: ir.Module) -> Effort:
    defined = [op.operation for op in part.body.operations if len(op.operation.regions[0].blocks)]
    kinds = {_kind(op, LARGE) for op in defined}
    return kinds.pop() or FULL if len(kinds) == 1 else FULL


def _generate(context: int, module: int, effort: Effort) -> bytes:
    """Optimise a module and make object code of it; it goes, with its context."""
    library = _library()
    machine = _target_machine(library, effort.level)
    try:
        library.LLVMSetTarget(module, _triple())
        layout = library.LLVMCreateTargetDataLayout(machine)
        library.LLVMSetModuleDataLayout(module, layout)
        library.LLVMDisposeTargetData(layout)
        _optimize(library, module, machine, effort.passes)
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


def _target_machine(library: ctypes.CDLL, level: int) -> int:
    target, message = _P(), _P()
    if library.LLVMGetTargetFromTriple(_triple(), ctypes.byref(target), ctypes.byref(message)):
        raise CompileError(f"no target: {_taken(library, message.value)}")
    return library.LLVMCreateTargetMachine(target, _triple(), *_host(), level, _PIC, _DEFAULT_MODEL)


@functools.cache
def _triple() -> bytes:
    return _taken(_library(), _library().LLVMGetDefaultTargetTriple()).encode()


@functools.cache
def _host() -> tuple[bytes, bytes]:
    """This processor's name and features, as LLVM knows them, without those that a chosen target does without."""
    library = _library()
    name, features = (_taken(library, call()) for call in (library.LLVMGetHostCPUName, library.LLVMGetHostCPUFeatures))
    return name.encode(), ",".join(filter(None, (features, withheld()))).encode()


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
