"""Outlining, and text of what comes after."""
import pytest
from mlir import ir

import onemlir as om
from onemlir import ops
from onemlir.lowering.compilation import lower
from onemlir.lowering.llvm import assembly, llvm_ir, to_llvm
from onemlir.lowering.llvm.attributes import NoAlias
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


KERNEL = """
func.func @main(%x: memref<?x4xf32>, %y: memref<?x4xf32> {om.role = "output"}, %context: !llvm.ptr {om.role = "context"}) {
  func.call @om_kernel_0(%x, %y) : (memref<?x4xf32>, memref<?x4xf32>) -> ()
  return
}
func.func private @om_kernel_0(%x: memref<?x4xf32>, %y: memref<?x4xf32>) {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %n = memref.dim %x, %c0 : memref<?x4xf32>
  scf.parallel (%i) = (%c2) to (%n) step (%c2) {
    %a = memref.load %x[%i, %c0] : memref<?x4xf32>
    memref.store %a, %y[%i, %c0] : memref<?x4xf32>
    scf.reduce
  } {om.explicit, om.grain = 7 : i64}
  return
}"""


def test_function_of_a_kernel_becomes_the_body():
    with ir.Context() as context, ir.Location.unknown():
        context.enable_multithreading(False)
        module = ir.Module.parse(KERNEL)
        outline_parallel(module)
        module.operation.verify()
        text = str(module)
        assert "private @om_body_0" in text and "scf.parallel" not in text and "om_kernel" not in text
        assert "arith.ceildivsi" in text.partition("@main")[2].partition("return")[0]
        (signature,) = to_llvm(module, AVX2)
    assert signature.kept == [1, 3, 8, 14]  # the pointer and the rows of x, the pointer of y, the context


CHUNK = """
func.func @main(%x: memref<4xf32>, %y: memref<4xf32> {om.role = "output"}, %context: !llvm.ptr {om.role = "context"}) {
  func.call @om_kernel_0(%x, %y) : (memref<4xf32>, memref<4xf32>) -> ()
  func.call @om_kernel_0(%y, %y) : (memref<4xf32>, memref<4xf32>) -> ()
  return
}
func.func private @om_kernel_0(%x: memref<4xf32>, %y: memref<4xf32>) attributes {om.explicit} {
  %c0 = arith.constant 0 : index
  %a = vector.load %x[%c0] : memref<4xf32>, vector<4xf32>
  vector.store %a, %y[%c0] : memref<4xf32>, vector<4xf32>
  return
}"""


def test_a_kernel_of_one_chunk_is_compiled_once():
    with ir.Context() as context, ir.Location.unknown():
        context.enable_multithreading(False)
        module = ir.Module.parse(CHUNK)
        to_llvm(module, AVX2)
        text = str(module)
    assert text.count("llvm.call @om_body_0(") == 2 and text.count("vector<4xf32>, !llvm.ptr") == 1


def test_small_loops_of_equal_shape_are_one_function():
    def layers(x):
        for _ in range(4):
            x = ops.softmax(x) * 3
        return x

    text = str(lower(om.trace(layers, om.zeros((4, 16))), until="llvm"))
    assert text.count("call @om_body_") > 20 and text.count("llvm.func internal @om_body_") < 10


def test_buffers_of_a_body_are_apart_in_all_calls():
    with ir.Context() as context, ir.Location.unknown():
        context.enable_multithreading(False)
        module = ir.Module.parse("""
            func.func @main(%x: memref<4xf32>, %y: memref<4xf32> {om.role = "output"}, %n: index) {
              func.call @om_body_0(%y, %y, %n, %n, %n) : (memref<4xf32>, memref<4xf32>, index, index, index) -> ()
              func.call @om_body_0(%x, %y, %n, %n, %n) : (memref<4xf32>, memref<4xf32>, index, index, index) -> ()
              return }
            func.func private @om_body_0(memref<4xf32>, memref<4xf32>, index, index, index)""")
        assert NoAlias(module).positions["om_body_0"] == []


def test_host_code_uses_full_vectors(module):
    signatures = to_llvm(module, AVX2)
    assert [s.symbol for s in signatures] == ["entry"]
    text = llvm_ir(module, cpu="x86-64-v3", triple="x86_64-unknown-linux-gnu")
    assert "<8 x float>" in text and "vector.memcheck" not in text
    assert "ymm" in assembly(module, cpu="x86-64-v3", triple="x86_64-unknown-linux-gnu")


def test_another_architecture(module):
    to_llvm(module, NEON)
    assert "fmul\tv" in assembly(module, triple="aarch64-unknown-linux-gnu")
