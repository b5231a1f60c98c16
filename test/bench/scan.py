"""A scan of 1,000 small steps beside the same loop written by hand in IR, one thread: python test/bench/scan.py

Each step is c = c / 2 + x; y = c * x on rows of a few elements. By hand it is an scf.for over memrefs, one load and store an element,
translated by the same code generator. Medians of interleaved rounds in one process.
"""
from __future__ import annotations

import statistics
import time

import numpy as np
from mlir import ir

import onemlir as om
from onemlir import ops
from onemlir.lowering.llvm import to_llvm
from onemlir.runtime import Session, Spec
from onemlir.runtime.engine import compile_module

STEPS, WIDTHS, ROUNDS, CALLS = 1000, (1, 4, 16, 64, 256), 31, 5

BY_HAND = """
func.func @main(%c: memref<WxTYPE>, %xs: memref<STEPSxWxTYPE>, %last: memref<WxTYPE> {om.role = "output"},
                %ys: memref<STEPSxWxTYPE> {om.role = "output"}, %context: !llvm.ptr {om.role = "context"}) {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %width = arith.constant W : index
  %steps = arith.constant STEPS : index
  %half = arith.constant 0.5 : TYPE
  memref.copy %c, %last : memref<WxTYPE> to memref<WxTYPE>
  scf.for %k = %zero to %steps step %one {
    scf.for %j = %zero to %width step %one {
      %old = memref.load %last[%j] : memref<WxTYPE>
      %x = memref.load %xs[%k, %j] : memref<STEPSxWxTYPE>
      %less = arith.mulf %old, %half : TYPE
      %new = arith.addf %less, %x : TYPE
      %y = arith.mulf %new, %x : TYPE
      memref.store %new, %last[%j] : memref<WxTYPE>
      memref.store %y, %ys[%k, %j] : memref<STEPSxWxTYPE>
    }
  }
  return
}"""


def by_hand(width: int) -> Session:
    text = BY_HAND.replace("STEPS", str(STEPS)).replace("W", str(width)).replace("TYPE", "f32")
    with ir.Context():
        module = ir.Module.parse(text)
        to_llvm(module)
        specs = [Spec(name, shape, np.float32) for name, shape in (("c", (width,)), ("xs", (STEPS, width)))]
        return Session(compile_module(module), specs, specs, threads=1)


def recorded(width: int) -> Session:
    def step(carry, x):
        carry = carry * 0.5 + x
        return carry, carry * x

    return om.trace(lambda c, xs: ops.scan(step, c, xs), om.zeros((width,)), om.zeros((STEPS, width))).session(threads=1)


def seconds(session: Session, arrays) -> float:
    start = time.perf_counter()
    for _ in range(CALLS):
        session(*arrays)
    return (time.perf_counter() - start) / CALLS


def main() -> None:
    for width in WIDTHS:
        sessions = recorded(width), by_hand(width)
        arrays = np.ones(width, np.float32), np.random.default_rng(0).standard_normal((STEPS, width)).astype(np.float32)
        for a, b in zip(*(session(*arrays) for session in sessions)):
            np.testing.assert_allclose(a, b, rtol=1e-5, atol=1e-6)
        rounds = [[seconds(session, arrays) for session in sessions] for _ in range(ROUNDS)]
        scan, hand = (statistics.median(column) for column in zip(*rounds))
        print(f"width {width:4}: scan {scan * 1e6:8.1f} us, by hand {hand * 1e6:8.1f} us, ratio {statistics.median(a / b for a, b in rounds):.2f}")


if __name__ == "__main__":
    main()
