"""scf.if, scf.for and scf.while on tensors, compiled, against the interpreter."""
import numpy as np
import pytest
from onemlir.dialect.bindings import new_context, parse_module
from onemlir.dialect.interpreter import Interpreter
from onemlir.dialect.program import entry_function, Program
from onemlir.dialect.verify import check
from onemlir.runtime.jit import jit_session

HEAD = """
func.func @main(%x: tensor<?x3xf32> {om.dims = ["n", ""]}, %k: tensor<i64>) -> (tensor<?x3xf32> {om.name = "y"}) {
  %zero = "om.constant"() {value = dense<0> : tensor<i64>} : () -> tensor<i64>
  %one = "om.constant"() {value = dense<1> : tensor<i64>} : () -> tensor<i64>
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = "om.dim"(%x) {axis = 0 : i64} : (tensor<?x3xf32>) -> index
"""
BRANCH = """
  %p = "om.greater"(%k, %zero) : (tensor<i64>, tensor<i64>) -> tensor<i1>
  %c = tensor.extract %p[] : tensor<i1>
  %y = scf.if %c -> tensor<?x3xf32> {
    %a = "om.add"(%x, %x) : (tensor<?x3xf32>, tensor<?x3xf32>) -> tensor<?x3xf32>
    scf.yield %a : tensor<?x3xf32>
  } else {
    %a = "om.exp"(%x) : (tensor<?x3xf32>) -> tensor<?x3xf32>
    scf.yield %a : tensor<?x3xf32>
  }
"""
DATA_LOOP = """
  %y, %steps = scf.while (%t = %x, %i = %zero) : (tensor<?x3xf32>, tensor<i64>) -> (tensor<?x3xf32>, tensor<i64>) {
    %l = "om.less"(%i, %k) : (tensor<i64>, tensor<i64>) -> tensor<i1>
    %d = tensor.extract %l[] : tensor<i1>
    scf.condition(%d) %t, %i : tensor<?x3xf32>, tensor<i64>
  } do {
  ^bb0(%t: tensor<?x3xf32>, %i: tensor<i64>):
    %u = "om.add"(%t, %x) : (tensor<?x3xf32>, tensor<?x3xf32>) -> tensor<?x3xf32>
    %j = "om.add"(%i, %one) : (tensor<i64>, tensor<i64>) -> tensor<i64>
    scf.yield %u, %j : tensor<?x3xf32>, tensor<i64>
  }
"""
COUNTED = """
  %y = scf.for %i = %c0 to %n step %c1 iter_args(%t = %x) -> tensor<?x3xf32> {
    %ii = "om.from_size"(%i) : (index) -> tensor<i64>
    %f = "om.cast"(%ii) {dtype = f32} : (tensor<i64>) -> tensor<f32>
    %u = "om.add"(%t, %f) : (tensor<?x3xf32>, tensor<f32>) -> tensor<?x3xf32>
    scf.yield %u : tensor<?x3xf32>
  }
"""
GROWING = """
  %g = scf.for %i = %c0 to %n step %c1 iter_args(%t = %x) -> tensor<?x3xf32> {
    %u = "tensor.concat"(%t, %x) {dim = 0 : i64} : (tensor<?x3xf32>, tensor<?x3xf32>) -> tensor<?x3xf32>
    scf.yield %u : tensor<?x3xf32>
  }
  %y = "om.add"(%g, %g) : (tensor<?x3xf32>, tensor<?x3xf32>) -> tensor<?x3xf32>
"""
SWAPPING = """
  %e = "om.exp"(%x) : (tensor<?x3xf32>) -> tensor<?x3xf32>
  %y, %z = scf.for %i = %c0 to %n step %c1 iter_args(%s = %x, %t = %e) -> (tensor<?x3xf32>, tensor<?x3xf32>) {
    scf.yield %t, %s : tensor<?x3xf32>, tensor<?x3xf32>
  }
"""
TAIL = "  return %y : tensor<?x3xf32>\n}\n"


@pytest.mark.parametrize("body", (BRANCH, DATA_LOOP, COUNTED, GROWING, SWAPPING), ids=("if", "while", "for", "growing", "swapping"))
def test_against_the_interpreter(body, rng, same):
    module = parse_module(HEAD + body + TAIL, new_context())
    check(module)
    program = Program(module, {})
    session = jit_session(program, threads=1)
    for rows, count in ((2, 3), (3, 0), (1, 1), (0, 2)):
        x, k = rng.standard_normal((rows, 3)).astype(np.float32), np.array(count)
        found, = session.run(dict(zip(program.input_names, (x, k)))).values()
        expected, = Interpreter({}).run(entry_function(module), [x, k])
        same(found, np.asarray(expected), 4)
