"""Compiles one module with a loop over a buffer for every function and dtype; `run` calls them."""

import ctypes
import subprocess
from pathlib import Path

import llvm
import ml_dtypes
import numpy as np
import pytest
from mlir.dialects.llvm import translate_module_to_llvmir
from mlir.execution_engine import ExecutionEngine
from mlir.ir import Context, InsertionPoint, Location, Module, Operation, WalkResult
from mlir.passmanager import PassManager

import onemlir.lowering.math as expansions
from onemlir.lowering.math import ULP, expand_math

BINARY = ("math.atan2", "math.powf")
NARROW = ("math.exp", "math.log", "math.tanh", "math.sin", "math.erf", "math.powf", "sigmoid")
DTYPES = {"f32": np.float32, "f64": np.float64, "f16": np.float16, "bf16": ml_dtypes.bfloat16}
PIPELINE = (
    "builtin.module(canonicalize,cse,arith-expand{include-bf16=true},convert-scf-to-cf,expand-strided-metadata,"
    "convert-vector-to-llvm,finalize-memref-to-llvm,convert-math-to-llvm,convert-func-to-llvm,convert-arith-to-llvm,"
    "convert-cf-to-llvm,reconcile-unrealized-casts)"
)


def loop(symbol: str, dtype: str, body: str) -> str:
    """A function that stores `%r`, which the body makes of `%a` and `%b`, for each pair of elements."""
    buffer = f"memref<?x{dtype}>"
    return f"""
func.func @{symbol}(%x: {buffer}, %z: {buffer}, %y: {buffer}) attributes {{llvm.emit_c_interface}} {{
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = memref.dim %x, %c0 : {buffer}
  scf.for %i = %c0 to %n step %c1 {{
    %a = memref.load %x[%i] : {buffer}
    %b = memref.load %z[%i] : {buffer}
    {body}
    memref.store %r, %y[%i] : {buffer}
  }}
  return
}}"""


def call_of(name: str, dtype: str) -> str:
    if name == "math.sincos":
        return f"%r, %r1 = math.sincos %a : {dtype}"
    if "." not in name:
        return f'%r = "test.{name}"(%a) : ({dtype}) -> {dtype}'
    return f"%r = {name} %a{', %b' if name in BINARY else ''} : {dtype}"


def parse(text: str) -> Module:
    context = Context()
    context.allow_unregistered_dialects = True
    return Module.parse(text, context)


def expand(module: Module) -> Module:
    """`expand_math`, and the plain functions where the text says `test.sigmoid`."""
    found: list[Operation] = []

    def collect(op: Operation) -> WalkResult:
        found.extend([op] if op.name.startswith("test.") else [])
        return WalkResult.ADVANCE

    module.operation.walk(collect)
    for op in found:
        with InsertionPoint(op), op.location:
            op.results[0].replace_all_uses_with(getattr(expansions, op.name[5:])(op.operands[0]))
        op.operation.erase()
    expand_math(module)
    assert module.operation.verify()
    return module


def lower(module: Module) -> Module:
    with module.context, Location.unknown():
        PassManager.parse(PIPELINE).run(module.operation)
    return module


class _Descriptor(ctypes.Structure):
    _fields_ = [("allocated", ctypes.c_void_p), ("aligned", ctypes.c_void_p)] + [
        (name, ctypes.c_int64) for name in ("offset", "size", "stride")
    ]


class Compiled:
    """The compiled functions, called as `compiled("math.exp", x)` by the dtype of x."""

    def __init__(self, text: str):
        self.engine = ExecutionEngine(lower(expand(parse(text))), opt_level=3)

    def __call__(self, name: str, x: np.ndarray, z: np.ndarray | None = None) -> np.ndarray:
        dtype = next(key for key, value in DTYPES.items() if x.dtype == value)
        y = np.empty_like(x)
        descriptors = [_Descriptor(a.ctypes.data, a.ctypes.data, 0, a.size, 1) for a in (x, x if z is None else z, y)]
        pointers = [ctypes.c_void_p(ctypes.addressof(d)) for d in descriptors]
        packed = (ctypes.c_void_p * 3)(*map(ctypes.addressof, pointers))
        address = self.engine.raw_lookup(f"_mlir_ciface_{name.split('.')[-1]}_{dtype}")
        ctypes.CFUNCTYPE(None, ctypes.c_void_p)(address)(ctypes.addressof(packed))
        return y


EXTRA = {
    "square": "%c = arith.constant 2.0 : {0}\n%r = math.powf %a, %c : {0}",
    "root": "%c = arith.constant 0.5 : {0}\n%r = math.powf %a, %c : {0}",
    "seventh": "%c = arith.constant 7 : i32\n%r = math.fpowi %a, %c : {0}, i32",
    "fpowi": "%c = arith.fptosi %b : {0} to i32\n%r = math.fpowi %a, %c : {0}, i32",
    "cosine": "%r1, %r = math.sincos %a : {0}",
    "ipowi": "%c = arith.fptosi %a : {0} to i32\n%d = arith.fptosi %b : {0} to i32\n"
    "%e = math.ipowi %c, %d : i32\n%r = arith.sitofp %e : i32 to {0}",
    "ipowi5": "%c = arith.fptosi %a : {0} to i32\n%d = arith.constant 5 : i32\n"
    "%e = math.ipowi %c, %d : i32\n%r = arith.sitofp %e : i32 to {0}",
    "vector": "%v = vector.broadcast %a : {0} to vector<2x3x{0}>\n%w = math.tanh %v : vector<2x3x{0}>\n"
    "%u = math.sin %w : vector<2x3x{0}>\n%r = vector.extract %u[1, 2] : {0} from vector<2x3x{0}>",
}


@pytest.fixture(scope="session")
def compiled() -> Compiled:
    wanted = [(name, dtype) for name in ULP for dtype in ("f32", "f64")]
    wanted += [(name, dtype) for name in NARROW for dtype in ("f16", "bf16")]
    functions = [loop(f"{name.split('.')[-1]}_{dtype}", dtype, call_of(name, dtype)) for name, dtype in wanted]
    functions += [loop(f"{name}_f64", "f64", body.format("f64")) for name, body in EXTRA.items()]
    functions += [loop(f"{name}_f32", "f32", body.format("f32")) for name, body in EXTRA.items()]
    return Compiled("\n".join(functions))


@pytest.fixture(scope="session")
def optimized_ir():
    """LLVM IR of loops over some functions after `opt -O3` for a machine with 512-bit vectors."""
    names = ("math.exp", "math.log", "math.tanh", "math.erf", "math.sin", "sigmoid")
    module = lower(expand(parse("\n".join(loop(name.split(".")[-1], "f32", call_of(name, "f32")) for name in names))))
    tool = Path(llvm.__path__[0]) / "bin" / "opt"
    flags = ["-O3", "-S", "-mtriple=x86_64-linux-gnu", "-mcpu=x86-64-v4", "-mattr=-prefer-256-bit"]
    text = translate_module_to_llvmir(module.operation)
    return subprocess.run([tool, *flags], input=text, capture_output=True, text=True, check=True).stdout


@pytest.fixture
def expanded_text():
    """The text of a module after `expand_math`."""
    return lambda text: str(expand(parse(text)))
