"""Outlining, and text of what comes after."""
import pytest
from mlir import ir

from onemlir.lowering.llvm import assembly, llvm_ir, to_llvm
from onemlir.lowering.llvm.outline import outline_parallel
from onemlir.lowering.targets import AVX2, NEON

TEXT = """
func.func @main(%x: memref<?xf32>, %y: memref<?xf32> {om.role = "output"}, %context: !llvm.ptr {om.role = "context"}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %f = arith.constant 3.0 : f32
  %n = memref.dim %x, %c0 : memref<?xf32>
  scf.parallel (%i) = (%c0) to (%n) step (%c1) {
    %a = memref.load %x[%i] : memref<?xf32>
    %b = arith.mulf %a, %f : f32
    memref.store %b, %y[%i] : memref<?xf32>
    scf.reduce
  }
  return }"""


@pytest.fixture
def module():
    with ir.Context() as context, ir.Location.unknown():
        context.enable_multithreading(False)
        yield ir.Module.parse(TEXT)


def test_constants_move_into_the_body(module):
    outline_parallel(module)
    module.operation.verify()
    text = str(module)
    assert "func.func private @om_body_0(%arg0: memref<?xf32>, %arg1: memref<?xf32>, %arg2: index, %arg3: index, %arg4: index)" in text
    assert "scf.parallel" not in text


def test_host_code_uses_full_vectors(module):
    signatures = to_llvm(module, AVX2)
    assert [s.symbol for s in signatures] == ["entry"]
    text = llvm_ir(module, cpu="x86-64-v3", triple="x86_64-unknown-linux-gnu")
    assert "<8 x float>" in text and "vector.memcheck" not in text
    assert "ymm" in assembly(module, cpu="x86-64-v3", triple="x86_64-unknown-linux-gnu")


def test_another_architecture(module):
    to_llvm(module, NEON)
    assert "fmul\tv" in assembly(module, triple="aarch64-unknown-linux-gnu")
