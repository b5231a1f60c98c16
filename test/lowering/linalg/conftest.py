"""Compiles small graphs of om ops through linalg, upstream's bufferization and our loops, and compares them with the references."""
from __future__ import annotations

import ctypes

import ml_dtypes
import numpy as np
import pytest
from mlir import ir
from mlir.dialects import func
from mlir.execution_engine import ExecutionEngine
from mlir.passmanager import PassManager

from onemlir.dialect import bindings, dtypes
from onemlir.dialect.build import mlir_type
from onemlir.dialect.graph import GraphBuilder
from onemlir.dialect.interpreter import Interpreter
from onemlir.dialect.program import entry_function
from onemlir.dialect.shapes import TensorType
from onemlir.dialect.symbolic import Dim
from onemlir.lowering.linalg import LOWERINGS
from onemlir.lowering.linalg.convert import to_linalg
from onemlir.lowering.linalg.fuse import fuse_elementwise
from onemlir.lowering.loops import linalg_to_loops
from onemlir.lowering.math import expand_math
from onemlir.lowering.om.decompose import decompose

BUFFERIZE = ("builtin.module(canonicalize,cse,one-shot-bufferize{bufferize-function-boundaries=1 allow-return-allocs-from-loops=1 "
             "function-boundary-type-conversion=identity-layout-map unknown-type-conversion=identity-layout-map})")
LLVM = ("builtin.module(canonicalize,cse,arith-expand{include-bf16=true},expand-strided-metadata,lower-affine,convert-scf-to-cf,"
        "convert-vector-to-llvm,finalize-memref-to-llvm,convert-math-to-llvm,convert-func-to-llvm,convert-arith-to-llvm,convert-index-to-llvm,"
        "convert-cf-to-llvm,reconcile-unrealized-casts)")


def graph(build, types) -> ir.Module:
    """A module whose @main is `build(ops, *nodes)`."""
    with bindings.new_context(), ir.Location.unknown():
        module = ir.Module.create()
        with ir.InsertionPoint(module.body):
            function = func.FuncOp("main", ir.FunctionType.get([mlir_type(t) for t in types], []))
        block = function.add_entry_block()
        builder = GraphBuilder()
        nodes = [builder.node(v, t) for v, t in zip(block.arguments, types)]
        with ir.InsertionPoint(block):
            results = build(builder.ops, *nodes)
            results = [r for r in (results if isinstance(results, (tuple, list)) else (results,))]
            func.ReturnOp([r.value for r in results])
        operation = function.operation
        operation.attributes["function_type"] = ir.TypeAttr.get(ir.FunctionType.get([a.type for a in block.arguments], [r.value.type for r in results]))
        dims = [ir.ArrayAttr.get([ir.StringAttr.get("" if isinstance(s, int) else str(s)) for s in t.shape]) for t in types]
        operation.attributes["arg_attrs"] = ir.ArrayAttr.get([ir.DictAttr.get({"om.dims": d}) for d in dims])
        return module


def run_passes(module: ir.Module, text: str) -> None:
    with module.context, ir.Location.unknown():
        assert module.operation.verify()
        PassManager.parse(text).run(module.operation)


def linalg(module: ir.Module) -> list[tuple[str, str]]:
    """Lower @main to linalg in place; gives what failed checks say."""
    with module.context, ir.Location.unknown():
        decompose(entry_function(module), keep=LOWERINGS)
        to_linalg(module)
        fuse_elementwise(module)
    assert module.operation.verify()
    return [tuple(ir.StringAttr(s).value for s in ir.ArrayAttr(pair)) for pair in ir.ArrayAttr(module.operation.attributes["om.messages"])]


def machine_code(module: ir.Module) -> ExecutionEngine:
    """The engine of a module at the linalg stage."""
    with module.context, ir.Location.unknown():
        main = entry_function(module)
        fixed = ir.DictAttr.get({"bufferization.writable": ir.BoolAttr.get(False)})
        arguments = main.regions[0].blocks[0].arguments
        main.attributes["arg_attrs"] = ir.ArrayAttr.get([fixed if isinstance(a.type, ir.RankedTensorType) else ir.DictAttr.get({}) for a in arguments])
    run_passes(module, BUFFERIZE)
    with module.context, ir.Location.unknown():
        main = entry_function(module)
        main.attributes["llvm.emit_c_interface"] = ir.UnitAttr.get()
        linalg_to_loops(module)
        expand_math(module)
    run_passes(module, LLVM)
    return ExecutionEngine(module, opt_level=1)


def descriptor(rank: int) -> type[ctypes.Structure]:
    sizes = [("sizes", ctypes.c_int64 * rank), ("strides", ctypes.c_int64 * rank)] if rank else []
    fields = [("allocated", ctypes.c_void_p), ("aligned", ctypes.c_void_p), ("offset", ctypes.c_int64), *sizes]
    return type(f"Descriptor{rank}", (ctypes.Structure,), {"_fields_": fields})


def described(array: np.ndarray) -> ctypes.Structure:
    """The memref descriptor of a contiguous array."""
    found = descriptor(array.ndim)(array.ctypes.data, array.ctypes.data, 0)
    for axis in range(array.ndim):
        found.sizes[axis], found.strides[axis] = array.shape[axis], array.strides[axis] // array.itemsize
    return found


def array_of(found: ctypes.Structure, rank: int, dtype: np.dtype) -> np.ndarray:
    """A copy of what a descriptor describes."""
    shape, strides = (list(found.sizes), list(found.strides)) if rank else ([], [])
    extent = 1 + sum((n - 1) * s for n, s in zip(shape, strides)) if all(n > 0 for n in shape) else 0
    data = ctypes.string_at(found.aligned + found.offset * dtype.itemsize, extent * dtype.itemsize)
    flat = np.frombuffer(data, dtype)
    return np.lib.stride_tricks.as_strided(flat, shape, [s * dtype.itemsize for s in strides]).copy() if extent else np.empty(shape, dtype)


class Compiled:
    """A graph as machine code; calling it gives its results, `status` holds the failed check's (code, found, expected)."""

    def __init__(self, build, types):
        self.types = types
        self.source = graph(build, types)
        lowered = graph(build, types)
        self.messages = linalg(lowered)
        self.results = [(t.rank, dtypes.FROM_MLIR_NAME[str(t.element_type)]) for t in
                        (ir.RankedTensorType(v) for v in ir.FunctionType(ir.TypeAttr(entry_function(self.source).attributes["function_type"]).value).results)]
        self.engine = machine_code(lowered)
        self.status = np.zeros(4, np.int64)

    def __call__(self, *arrays: np.ndarray) -> list[np.ndarray]:
        self.status[:] = 0
        arrays = [np.ascontiguousarray(a).reshape(np.shape(a)) for a in arrays]
        arguments = [described(a) for a in (*arrays, self.status)]
        structure = type("Results", (ctypes.Structure,), {"_fields_": [(f"r{i}", descriptor(rank)) for i, (rank, _) in enumerate(self.results)]})
        results = structure()
        pointers = [ctypes.c_void_p(ctypes.addressof(d)) for d in (results, *arguments)]
        packed = (ctypes.c_void_p * len(pointers))(*map(ctypes.addressof, pointers))
        ctypes.CFUNCTYPE(None, ctypes.c_void_p)(self.engine.raw_lookup("_mlir_ciface_main"))(ctypes.addressof(packed))
        return [array_of(getattr(results, f"r{i}"), rank, dtype) for i, (rank, dtype) in enumerate(self.results)]

    def error(self) -> tuple | None:
        """(class, message with numbers) of the check that failed in the last call."""
        if not self.status[0]:
            return None
        kind, message = self.messages[self.status[0] - 1]
        return kind, message.replace("{found}", str(self.status[1])).replace("{expected}", str(self.status[2]))

    def reference(self, *arrays: np.ndarray) -> list[np.ndarray]:
        return [np.asarray(r) for r in Interpreter({}).run(entry_function(self.source), list(arrays))]


TOLERANCE = {np.dtype(np.float16): 2e-3, np.dtype(ml_dtypes.bfloat16): 1.6e-2, np.dtype(np.float32): 2e-6, np.dtype(np.float64): 1e-12}


def assert_same(found: np.ndarray, expected: np.ndarray, scale: float = 1, what: str = "") -> None:
    """Equal shapes, dtypes and elements; floats within `scale` times the tolerance of their dtype."""
    assert found.shape == expected.shape, f"{what}: shape {found.shape}, expected {expected.shape}"
    assert found.dtype == expected.dtype, f"{what}: dtype {found.dtype}, expected {expected.dtype}"
    if not dtypes.is_floating(expected.dtype):
        np.testing.assert_array_equal(found, expected, what)
        return
    tolerance = TOLERANCE[expected.dtype] * scale
    wide = (lambda a: a.astype(np.float64))
    np.testing.assert_allclose(wide(found), wide(expected), rtol=tolerance, atol=tolerance, err_msg=what)


def type_of(array: np.ndarray, axes=()) -> TensorType:
    """The type of an array; `axes` names axes that are symbolic (None or "" for fixed ones)."""
    names = list(axes) + [None] * (array.ndim - len(axes))
    return TensorType(tuple(Dim.symbol(name) if name else size for size, name in zip(array.shape, names)), array.dtype)


@pytest.fixture(scope="session")
def compiled():
    """`compiled(build, *examples, axes=[...])` with examples that are arrays."""
    def compile_graph(build, *examples, axes=()):
        axes = list(axes) + [()] * (len(examples) - len(axes))
        return Compiled(build, [type_of(np.asarray(x), a) for x, a in zip(examples, axes)])
    return compile_graph


@pytest.fixture(scope="session")
def agrees(compiled):
    """Compile once and compare with the reference on the examples and on further sets of inputs."""
    def check(build, *examples, axes=(), more=(), scale: float = 1):
        code = compiled(build, *examples, axes=axes)
        for arrays in (examples, *more):
            found, expected = code(*arrays), code.reference(*arrays)
            assert code.error() is None
            for number, (f, e) in enumerate(zip(found, expected)):
                assert_same(f, e, scale, f"result {number} of {len(expected)} for shapes {[np.shape(a) for a in arrays]}")
        return code
    return check


@pytest.fixture
def rng():
    return np.random.default_rng(0)
