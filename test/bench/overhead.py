"""What one call of a tiny model costs here and in onnxruntime: python test/bench/overhead.py"""
import timeit

import numpy as np
import onnx
import onnxruntime
from mlir import ir
from mlir.passmanager import PassManager
from onnx import helper

from onemlir.dialect.symbolic import Dim
from onemlir.lowering.buffers import bufferize, plan_memory
from onemlir.lowering.llvm import to_llvm
from onemlir.runtime import Session, Spec
from onemlir.runtime.engine import compile_module

TEXT = """
func.func @main(%x: tensor<?x4xf32>) -> tensor<?x4xf32> {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?x4xf32>
  %e = tensor.empty(%n) : tensor<?x4xf32>
  %y = linalg.add ins(%x, %x : tensor<?x4xf32>, tensor<?x4xf32>) outs(%e : tensor<?x4xf32>) -> tensor<?x4xf32>
  return %y : tensor<?x4xf32> }"""


def ours():
    with ir.Context():
        module = ir.Module.parse(TEXT)
        bufferize(module)
        plan_memory(module)
        PassManager.parse("builtin.module(func.func(convert-linalg-to-loops))").run(module.operation)
        to_llvm(module)
        batch = Dim.symbol("batch")
        return Session(compile_module(module), [Spec("x", (batch, 4), np.float32)], [Spec("y", (batch, 4), np.float32)])


def theirs():
    value = [helper.make_tensor_value_info(n, onnx.TensorProto.FLOAT, ["batch", 4]) for n in "xy"]
    graph = helper.make_graph([helper.make_node("Add", ["x", "x"], ["y"])], "g", value[:1], value[1:])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    return onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])


def microseconds(call) -> float:
    number = 20000
    return min(timeit.repeat(call, number=number, repeat=7)) / number * 1e6


if __name__ == "__main__":
    x = np.ones((2, 4), np.float32)
    session, other = ours(), theirs()
    assert np.array_equal(session(x), other.run(None, {"x": x})[0])
    print(f"onemlir session(x)        {microseconds(lambda: session(x)):6.2f} us")
    print(f"onemlir session.run(dict) {microseconds(lambda: session.run({'x': x})):6.2f} us")
    print(f"onnxruntime run           {microseconds(lambda: other.run(None, {'x': x})):6.2f} us")
