"""The floating-point state of a run: denormals are zero, rounding is to nearest, nothing traps, whatever the caller has set.

The entry wrapper and every part of a parallel loop set it and put the caller's back: parts run on threads of anybody. Sources: Intel SDM
volume 1, 10.2.3 (MXCSR: DAZ is bit 6, FTZ bit 15, masks of exceptions bits 7 to 12); Arm ARM, FPCR (FZ is bit 24).
"""
from __future__ import annotations

from mlir import ir

from ..targets import NEON, Target

SET, RESTORE = "om_set_float_state", "om_restore_float_state"
DECLARATIONS = f"llvm.func @{SET}() -> i64\nllvm.func @{RESTORE}(i64)\n"

_TEXT = {
    "x86_64": f"""
llvm.func internal @{SET}() -> i64 {{
  %one = llvm.mlir.constant(1 : i64) : i64
  %state = llvm.mlir.constant(40896 : i32) : i32
  %place = llvm.alloca %one x i32 : (i64) -> !llvm.ptr
  llvm.call_intrinsic "llvm.x86.sse.stmxcsr"(%place) : (!llvm.ptr) -> ()
  %old = llvm.load %place : !llvm.ptr -> i32
  llvm.store %state, %place : i32, !llvm.ptr
  llvm.call_intrinsic "llvm.x86.sse.ldmxcsr"(%place) : (!llvm.ptr) -> ()
  %wide = llvm.zext %old : i32 to i64
  llvm.return %wide : i64
}}
llvm.func internal @{RESTORE}(%old: i64) {{
  %one = llvm.mlir.constant(1 : i64) : i64
  %place = llvm.alloca %one x i32 : (i64) -> !llvm.ptr
  %state = llvm.trunc %old : i64 to i32
  llvm.store %state, %place : i32, !llvm.ptr
  llvm.call_intrinsic "llvm.x86.sse.ldmxcsr"(%place) : (!llvm.ptr) -> ()
  llvm.return
}}""",
    "aarch64": f"""
llvm.func internal @{SET}() -> i64 {{
  %state = llvm.mlir.constant(16777216 : i64) : i64
  %old = llvm.call_intrinsic "llvm.aarch64.get.fpcr"() : () -> i64
  llvm.call_intrinsic "llvm.aarch64.set.fpcr"(%state) : (i64) -> ()
  llvm.return %old : i64
}}
llvm.func internal @{RESTORE}(%old: i64) {{
  llvm.call_intrinsic "llvm.aarch64.set.fpcr"(%old) : (i64) -> ()
  llvm.return
}}""",
}


def architecture_of(target: Target) -> str:
    return "aarch64" if target.name == NEON.name else "x86_64"


def add_float_state(module: ir.Module, architecture: str) -> None:
    """Append the two functions for `x86_64` or `aarch64`, in the place of those that are there."""
    for op in list(module.body.operations):
        if "sym_name" in op.attributes and ir.StringAttr(op.attributes["sym_name"]).value in (SET, RESTORE):
            op.operation.erase()
    library = ir.Module.parse(_TEXT[architecture], module.context)
    with ir.InsertionPoint(module.body):
        for op in library.body.operations:
            op.operation.clone()
