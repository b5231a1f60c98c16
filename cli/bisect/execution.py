"""Executing a module of any stage between linalg and loops with upstream's passes alone, which judges the passes so far and none of the
later ones.

Arguments and results are memref descriptors: pointer, aligned pointer, offset, sizes, strides.
"""
from __future__ import annotations

import ctypes
from typing import Mapping, Sequence

import numpy as np
from mlir import ir
from mlir.execution_engine import ExecutionEngine
from mlir.passmanager import PassManager

from ...dialect import dtypes
from ...errors import GuardError
from ...lowering.buffers.checked import ALLOCATE, ARENA
from ...lowering.buffers.functions import argument_attributes, DATA_DEPENDENT, entry_functions, result_attributes, roles, symbol, walk
from ...lowering.linalg.prepare import PREPARED
from ...lowering.llvm.bits import widen_bits

TO_LOOPS = (
    "func.func(empty-tensor-to-alloc-tensor)",
    "one-shot-bufferize{bufferize-function-boundaries=true function-boundary-type-conversion=identity-layout-map "
    "unknown-type-conversion=identity-layout-map allow-return-allocs-from-loops=true}",
    "canonicalize", "func.func(convert-linalg-to-loops)",
)  # fmt: skip
TO_LLVM = (
    "lower-affine", "expand-strided-metadata", "lower-affine", "convert-scf-to-cf",
    "arith-expand{include-bf16=true}", "convert-math-to-llvm", "convert-math-to-libm", "convert-vector-to-llvm", "finalize-memref-to-llvm",
    "convert-arith-to-llvm", "convert-index-to-llvm", "convert-ub-to-llvm", "convert-func-to-llvm", "convert-cf-to-llvm",
    "reconcile-unrealized-casts",
)  # fmt: skip

# Memory of the arena and of single buffers, on 64 bytes and never freed: the process ends soon.
ALLOCATOR = """llvm.func @{name}(%context: !llvm.ptr, %bytes: i64) -> !llvm.ptr {{
  %align = llvm.mlir.constant(64 : i64) : i64
  %more = llvm.add %bytes, %align : i64
  %start = llvm.call @malloc(%more) : (i64) -> !llvm.ptr
  %address = llvm.ptrtoint %start : !llvm.ptr to i64
  %mask = llvm.mlir.constant(-64 : i64) : i64
  %next = llvm.add %address, %align : i64
  %aligned = llvm.and %next, %mask : i64
  %pointer = llvm.inttoptr %aligned : i64 to !llvm.ptr
  llvm.return %pointer : !llvm.ptr
}}
llvm.func @malloc(i64) -> !llvm.ptr
"""


def executed(module: ir.Module, inputs: Sequence[np.ndarray], weights: Mapping[str, np.ndarray],
             expected: Sequence[np.ndarray]) -> list[np.ndarray]:
    """Outputs of @main, after @prepare where there is one. expected: arrays with the shapes and dtypes of the outputs. GuardError when the
    status cell says that a check failed."""
    with module.context, ir.Location.unknown():
        functions = {symbol(f): Function(f) for f in entry_functions(module)}
        _lower(module)
        engine = ExecutionEngine(module, opt_level=1)
    known = dict(weights)
    if "prepare" in functions:
        prepare = functions["prepare"]
        results = prepare.run(engine, [], known, [np.empty(shape, dtype) for shape, dtype in prepare.results])
        known.update({f"{PREPARED}{number}": array for number, array in enumerate(results)})
    return functions["main"].run(engine, list(inputs), known, expected)


def _lower(module: ir.Module) -> None:
    for function in entry_functions(module):
        function.attributes["llvm.emit_c_interface"] = ir.UnitAttr.get()
    _define_allocators(module)
    for deallocation in walk(module.operation, "memref.dealloc"):
        deallocation.erase()
    _run(module, TO_LOOPS)
    widen_bits(module)
    _run(module, TO_LLVM)


def _run(module: ir.Module, passes: tuple[str, ...]) -> None:
    PassManager.parse(f"builtin.module({','.join(passes)})").run(module.operation)


def _define_allocators(module: ir.Module) -> None:
    declared = [op for op in module.body.operations if op.operation.name == "llvm.func" and symbol(op.operation) in (ALLOCATE, ARENA)]
    names = [symbol(op.operation) for op in declared]
    for op in declared:
        op.operation.erase()
    for number, name in enumerate(names):
        text = ALLOCATOR.format(name=name)
        for op in ir.Module.parse(text).body.operations:
            if number == 0 or symbol(op.operation) == name:
                module.body.append(op.operation.clone())


class Function:
    """How an entry function is called: read before it is lowered, for then its types are gone."""

    def __init__(self, function: ir.Operation):
        kind = ir.FunctionType(ir.TypeAttr(function.attributes["function_type"]).value)
        self.name, self.roles = symbol(function), roles(function)
        self.parameters = [ir.StringAttr(a["om.name"]).value if "om.name" in a else "" for a in argument_attributes(function)]
        self.results = [_shape_and_dtype(t) for t in self._written(function, kind)]
        self.returned = [_place(a, n) for n, a in enumerate(result_attributes(function))]

    def _written(self, function: ir.Operation, kind: ir.FunctionType) -> list[ir.Type]:
        outputs = [t for t, role in zip(kind.inputs, self.roles) if role == "output"]
        return outputs or list(kind.results)

    def run(self, engine: ExecutionEngine, inputs: list, known: Mapping[str, np.ndarray], expected: Sequence[np.ndarray]) -> list[np.ndarray]:
        written = [np.zeros(a.shape, a.dtype) for n, a in enumerate(expected) if "output" in self.roles and n not in self.returned]
        status, values, outputs = np.zeros(4, np.int64), iter(inputs), iter(written)
        give = {"input": lambda name: np.array(next(values), order="C"), "parameter": lambda name: np.array(known[name], order="C"),
                "status": lambda name: status, "output": lambda name: next(outputs)}
        arrays = [give[role](name) for role, name in zip(self.roles, self.parameters) if role in give]
        returned = _results(expected, self.returned)
        self._call(engine, returned, arrays)
        if status[0]:
            raise GuardError(f"a check of the model failed with status {status[0]} in @{self.name}")
        return self._collect(returned, written, expected)

    def _call(self, engine: ExecutionEngine, returned, arrays: list[np.ndarray]) -> None:
        """Pointers to pointers to descriptors in the order of the arguments, the results' first; the context is a null pointer."""
        descriptors = ([] if returned is None else [returned]) + [_descriptor(a) for a in arrays]
        pointers = [ctypes.pointer(ctypes.c_void_p(ctypes.addressof(d))) for d in descriptors]
        engine.invoke(self.name, *pointers, *([ctypes.pointer(ctypes.c_void_p(0))] if "context" in self.roles else []))

    def _collect(self, returned, written: list[np.ndarray], expected: Sequence[np.ndarray]) -> list[np.ndarray]:
        places = self.returned if returned is not None else []
        found, start, rest = {}, 0, iter(written)
        for place in places:
            found[place] = _array(returned, start, expected[place])
            start += 3 + 2 * expected[place].ndim
        return [found[n] if n in found else next(rest) for n in range(len(expected))]


def _place(attributes: ir.DictAttr, number: int) -> int:
    """Which of the outputs a returned value is; after om-bufferize only those are returned whose size the model finds out."""
    given = attributes[DATA_DEPENDENT] if DATA_DEPENDENT in attributes else None
    return ir.IntegerAttr(given).value if isinstance(given, ir.IntegerAttr) else number


def _results(expected: Sequence[np.ndarray], returned: list[int]):
    words = sum(3 + 2 * expected[place].ndim for place in returned)
    return (ctypes.c_int64 * words)() if words else None


def _descriptor(array: np.ndarray):
    strides = [s // max(1, array.itemsize) for s in array.strides]
    address = array.ctypes.data
    return (ctypes.c_int64 * (3 + 2 * array.ndim))(address, address, 0, *array.shape, *strides)


def _array(words, start: int, like: np.ndarray) -> np.ndarray:
    """A copy of the array that a descriptor describes."""
    rank = like.ndim
    shape, strides = list(words[start + 3:start + 3 + rank]), list(words[start + 3 + rank:start + 3 + 2 * rank])
    if not np.prod(shape, dtype=np.int64):
        return np.empty(shape, like.dtype)
    size = (1 + sum((n - 1) * s for n, s in zip(shape, strides))) * like.itemsize
    raw = np.frombuffer((ctypes.c_char * size).from_address(words[start + 1] + words[start + 2] * like.itemsize), np.uint8)
    return np.lib.stride_tricks.as_strided(raw.view(like.dtype), shape, [s * like.itemsize for s in strides]).copy()


def _shape_and_dtype(kind: ir.Type) -> tuple[tuple[int, ...], np.dtype]:
    """Sizes that are not known are 0."""
    dynamic = ir.ShapedType.get_dynamic_size()
    return tuple(0 if n == dynamic else n for n in kind.shape), dtypes.FROM_MLIR_NAME[str(kind.element_type)]
