"""Compile one kernel alone, for tests, benches and tuning: a function of numpy arrays around an emitter."""

import ctypes
import re

import numpy as np
from mlir import ir
from mlir.dialects import func
from mlir.execution_engine import ExecutionEngine
from mlir.passmanager import PassManager

from .build import ROLLED

_PIPELINE = (
    "builtin.module(canonicalize,cse,lower-affine,convert-scf-to-cf,arith-expand{include-bf16=true},expand-strided-metadata,lower-affine,"
    "convert-vector-to-llvm,finalize-memref-to-llvm,convert-arith-to-llvm,convert-index-to-llvm,"
    "convert-func-to-llvm,convert-cf-to-llvm,reconcile-unrealized-casts,canonicalize,cse)"
)

_ELEMENTS = {
    "float32": "f32", "float64": "f64", "float16": "f16", "bfloat16": "bf16",
    "int8": "i8", "uint8": "i8", "int16": "i16", "int32": "i32", "int64": "i64", "bool": "i1",
}  # fmt: skip


class Compiled:
    """Call it with the arrays in the order of the emitter's arguments."""

    def __init__(self, engine, module_text):
        self.engine, self.text = engine, module_text
        self._packed = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(engine.raw_lookup("_mlir_ciface_kernel"))

    def bind(self, *arrays):
        """A call without arguments, for timing."""
        descriptors = [_descriptor(a) for a in arrays]
        pointers = [ctypes.pointer(ctypes.c_void_p(ctypes.addressof(d))) for d in descriptors]
        table = (ctypes.c_void_p * len(arrays))(*[ctypes.cast(p, ctypes.c_void_p) for p in pointers])
        entry = self._packed

        def call(_keep=(self, arrays, descriptors, pointers)):
            entry(table)

        return call

    def __call__(self, *arrays):
        self.bind(*arrays)()


def _descriptor(array):
    rank = array.ndim
    kind = type("Descriptor", (ctypes.Structure,), {"_fields_": [
        ("base", ctypes.c_void_p), ("data", ctypes.c_void_p), ("offset", ctypes.c_int64),
        ("sizes", ctypes.c_int64 * max(rank, 1)), ("strides", ctypes.c_int64 * max(rank, 1))]})  # fmt: skip
    item = array.itemsize
    return kind(array.ctypes.data, array.ctypes.data, 0, (ctypes.c_int64 * max(rank, 1))(*array.shape),
                (ctypes.c_int64 * max(rank, 1))(*[s // item for s in array.strides]))  # fmt: skip


def memref_type(shape, dtype):
    """`shape` with None for a dynamic size."""
    sizes = [ir.ShapedType.get_dynamic_size() if s is None else s for s in shape]
    return ir.MemRefType.get(sizes, ir.Type.parse(_ELEMENTS[np.dtype(dtype).name]))


def compile_kernel(emitter, *arguments, opt_level: int = 3, dump: str | None = None) -> Compiled:
    """`emitter(*memrefs)` emits the body; `arguments` are (shape, dtype) pairs. `dump` keeps an object file there."""
    with ir.Context(), ir.Location.unknown():
        module = ir.Module.create()
        with ir.InsertionPoint(module.body):
            function = func.FuncOp("kernel", ([memref_type(*a) for a in arguments], []))
            function.attributes["llvm.emit_c_interface"] = ir.UnitAttr.get()
            with ir.InsertionPoint(function.add_entry_block()):
                emitter(*function.arguments)
                func.ReturnOp([])
        module.operation.verify()
        text = str(module)
        hoist_allocas(function)
        PassManager.parse(_PIPELINE).run(module.operation)
        carry_loop_annotations(module.operation)
        engine = ExecutionEngine(module, opt_level=opt_level, enable_object_dump=dump is not None)
        compiled = Compiled(engine, text)
        if dump:
            engine.dump_to_object_file(dump)
        return compiled


def hoist_allocas(function):
    """Static scratch of a chunk moves to the function's entry, as the outliner does."""
    found = []
    function.walk(lambda op: (found.append(op), ir.WalkResult.ADVANCE)[1] if op.name == "memref.alloca" else ir.WalkResult.ADVANCE)
    for op in found:
        op.move_before(function.entry_block.operations[0])


def carry_loop_annotations(module):
    """`scf.for`'s loop annotation arrives at the back edge as `llvm.loop_annotation`; LLVM's dialect reads `loop_annotation`.

    A number of trips in it becomes weights of the branch out of the loop.
    """
    blocks = (block for function in module.regions[0].blocks[0].operations for region in function.regions for block in region.blocks)
    for block in blocks:
        op = block.operations[len(block.operations) - 1].operation if len(block.operations) else None
        if op is not None and op.name == "llvm.br" and "llvm.loop_annotation" in op.attributes:
            annotation = op.attributes["llvm.loop_annotation"]
            del op.attributes["llvm.loop_annotation"]
            trips = _TRIPS.search(str(annotation))
            if trips:
                annotation = ir.Attribute.parse(ROLLED)
                _set_trips(op.successors[0], int(trips[1]))
            op.attributes["loop_annotation"] = annotation


_TRIPS = re.compile(r"count = (\d+)")


def _set_trips(header, trips):
    """Weights of the branch at a loop's head, which goes on to its body first."""
    branch = header.operations[len(header.operations) - 1].operation
    if branch.name == "llvm.cond_br":
        branch.attributes["branch_weights"] = ir.DenseI32ArrayAttr.get([trips, 1])


def aligned(shape, dtype=np.float32, fill=None):
    """An array on a 64-byte boundary."""
    dtype = np.dtype(dtype)
    size = int(np.prod(shape)) * dtype.itemsize
    raw = np.empty(size + 64, np.uint8)
    start = -raw.ctypes.data % 64
    array = raw[start : start + size].view(dtype).reshape(shape)
    if fill is not None:
        array[...] = fill
    return array
