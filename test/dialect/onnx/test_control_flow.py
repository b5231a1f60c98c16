"""scf.if, scf.while and scf.for as If and Loop, from hand-made IR; expected values from Python."""
import numpy as np
import pytest

from onemlir.dialect import bindings
from onemlir.dialect.interpreter import Interpreter
from onemlir.dialect.onnx import to_onnx
from onemlir.dialect.program import Program
from onemlir.errors import UnsupportedOpError

from .conftest import checked, run_model

IF = """
func.func @main(%x: tensor<?xf32> {om.name = "x", om.dims = ["n"]}) -> (tensor<?xf32> {om.name = "y"}, tensor<?xf32> {om.name = "z"}) {
  %zero = "om.constant"() {value = dense<0.0> : tensor<f32>} : () -> tensor<f32>
  %two = "om.constant"() {value = dense<2.0> : tensor<f32>} : () -> tensor<f32>
  %sum = "om.sum"(%x) {axis = array<i64: 0>, keepdims = false} : (tensor<?xf32>) -> tensor<f32>
  %positive = "om.greater"(%sum, %zero) : (tensor<f32>, tensor<f32>) -> tensor<i1>
  %condition = tensor.extract %positive[] : tensor<i1>
  %y, %z = scf.if %condition -> (tensor<?xf32>, tensor<?xf32>) {
    %a = "om.multiply"(%x, %two) : (tensor<?xf32>, tensor<f32>) -> tensor<?xf32>
    scf.yield %a, %x : tensor<?xf32>, tensor<?xf32>
  } else {
    %b = "om.subtract"(%x, %sum) : (tensor<?xf32>, tensor<f32>) -> tensor<?xf32>
    scf.yield %b, %b : tensor<?xf32>, tensor<?xf32>
  }
  return %y, %z : tensor<?xf32>, tensor<?xf32>
}
"""

COLLATZ = """
func.func @main(%n: tensor<i64> {om.name = "n"}) -> (tensor<i64> {om.name = "steps"}) {
  %zero = "om.constant"() {value = dense<0> : tensor<i64>} : () -> tensor<i64>
  %one = "om.constant"() {value = dense<1> : tensor<i64>} : () -> tensor<i64>
  %two = "om.constant"() {value = dense<2> : tensor<i64>} : () -> tensor<i64>
  %three = "om.constant"() {value = dense<3> : tensor<i64>} : () -> tensor<i64>
  %last, %steps = scf.while (%a = %n, %b = %zero) : (tensor<i64>, tensor<i64>) -> (tensor<i64>, tensor<i64>) {
    %more = "om.greater"(%a, %one) : (tensor<i64>, tensor<i64>) -> tensor<i1>
    %go = tensor.extract %more[] : tensor<i1>
    scf.condition(%go) %a, %b : tensor<i64>, tensor<i64>
  } do {
  ^bb0(%a: tensor<i64>, %b: tensor<i64>):
    %rest = "om.remainder"(%a, %two) : (tensor<i64>, tensor<i64>) -> tensor<i64>
    %even = "om.equal"(%rest, %zero) : (tensor<i64>, tensor<i64>) -> tensor<i1>
    %half = "om.floor_divide"(%a, %two) : (tensor<i64>, tensor<i64>) -> tensor<i64>
    %triple = "om.multiply"(%a, %three) : (tensor<i64>, tensor<i64>) -> tensor<i64>
    %up = "om.add"(%triple, %one) : (tensor<i64>, tensor<i64>) -> tensor<i64>
    %next = "om.where"(%even, %half, %up) : (tensor<i1>, tensor<i64>, tensor<i64>) -> tensor<i64>
    %count = "om.add"(%b, %one) : (tensor<i64>, tensor<i64>) -> tensor<i64>
    scf.yield %next, %count : tensor<i64>, tensor<i64>
  }
  return %steps : tensor<i64>
}
"""

RUNNING_SUM = """
func.func @main(%x: tensor<?x3xf32> {om.name = "x", om.dims = ["time", ""]}) -> (tensor<?x3xf32> {om.name = "sums"}, tensor<1x3xf32> {om.name = "last"}) {
  %low = arith.constant LOW : index
  %step = arith.constant STEP : index
  %high = "om.dim"(%x) {axis = 0 : i64} : (tensor<?x3xf32>) -> index
  %null = "om.constant"() {value = dense<0.0> : tensor<f32>} : () -> tensor<f32>
  %none = "om.constant"() {value = dense<0> : tensor<i64>} : () -> tensor<i64>
  %one = "om.constant"() {value = dense<[0]> : tensor<1xi64>} : () -> tensor<1xi64>
  %start = "om.full"(%null) {shape = array<i64: 1, 3>} : (tensor<f32>) -> tensor<1x3xf32>
  %empty = "om.full"(%null, %high) {shape = array<i64: -1, 3>} : (tensor<f32>, index) -> tensor<?x3xf32>
  %sums, %last = scf.for %i = %low to %high step %step iter_args(%out = %empty, %total = %start) -> (tensor<?x3xf32>, tensor<1x3xf32>) {
    %row = "om.slice"(%x, %i) {starts = array<i64: -9223372036854775808, 0>, shape = array<i64: 1, 3>, steps = array<i64: 1, 1>} : (tensor<?x3xf32>, index) -> tensor<1x3xf32>
    %next = "om.add"(%total, %row) : (tensor<1x3xf32>, tensor<1x3xf32>) -> tensor<1x3xf32>
    %place = "om.from_size"(%i) : (index) -> tensor<i64>
    %first = "om.reshape"(%place) {shape = array<i64: 1>} : (tensor<i64>) -> tensor<1xi64>
    %starts = tensor.concat dim(0) %first, %one : (tensor<1xi64>, tensor<1xi64>) -> tensor<2xi64>
    %new = "om.dynamic_update"(%out, %next, %starts) : (tensor<?x3xf32>, tensor<1x3xf32>, tensor<2xi64>) -> tensor<?x3xf32>
    scf.yield %new, %next : tensor<?x3xf32>, tensor<1x3xf32>
  }
  return %sums, %last : tensor<?x3xf32>, tensor<1x3xf32>
}
"""


def program(text):
    return Program(bindings.parse_module(text, bindings.new_context()), {})


def outputs(text, array):
    return run_model(checked(to_onnx(program(text))), [array])


@pytest.mark.parametrize("x", [[1.0, 2.0], [-1.0, -2.0, 0.5]])
def test_if(x):
    x = np.array(x, np.float32)
    y, z = outputs(IF, x)
    np.testing.assert_array_equal(y, x * 2 if x.sum() > 0 else x - x.sum())
    np.testing.assert_array_equal(z, x if x.sum() > 0 else x - x.sum())


@pytest.mark.parametrize("n,steps", [(27, 111), (6, 8), (1, 0)])
def test_while(n, steps):
    assert outputs(COLLATZ, np.array(n))[0] == steps


@pytest.mark.parametrize("time", [0, 1, 6])
@pytest.mark.parametrize("low,step", [(0, 1), (1, 2)])
def test_for(time, low, step):
    x = np.random.default_rng(0).standard_normal((time, 3)).astype(np.float32)
    expected = np.zeros_like(x)
    expected[low::step] = x[low::step].cumsum(0)
    sums, last = outputs(RUNNING_SUM.replace("LOW", str(low)).replace("STEP", str(step)), x)
    np.testing.assert_allclose(sums, expected, rtol=1e-6)
    np.testing.assert_allclose(last[0], x[low::step].sum(0), rtol=1e-5, atol=1e-6)


def test_nested_loops_see_outer_values():
    """A loop inside a branch inside a function: the inner body uses values of all three."""
    loop = IF.replace('%a = "om.multiply"(%x, %two) : (tensor<?xf32>, tensor<f32>) -> tensor<?xf32>', """
    %c0 = arith.constant 0 : index
    %c3 = arith.constant 3 : index
    %c1 = arith.constant 1 : index
    %four = "om.multiply"(%two, %two) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    %a = scf.for %i = %c0 to %c3 step %c1 iter_args(%v = %x) -> (tensor<?xf32>) {
      %scaled = "om.multiply"(%v, %four) : (tensor<?xf32>, tensor<f32>) -> tensor<?xf32>
      %w = "om.add"(%scaled, %sum) : (tensor<?xf32>, tensor<f32>) -> tensor<?xf32>
      scf.yield %w : tensor<?xf32>
    }""")
    x = np.array([1.0, 3.0, -2.0], np.float32)
    expected = x
    for _ in range(3):
        expected = expected * 4 + x.sum()
    np.testing.assert_array_equal(outputs(loop, x)[0], expected)


def test_data_dependent_sizes_and_interpreter_agree():
    text = """
func.func @main(%x: tensor<?xi64> {om.name = "x", om.dims = ["n"]}) -> (tensor<?xi64> {om.name = "places"}, tensor<?x2xi64> {om.name = "rows"}) {
  %found = "om.nonzero"(%x) : (tensor<?xi64>) -> tensor<1x?xi64>
  %count = "om.dim"(%found) {axis = 1 : i64} : (tensor<1x?xi64>) -> index
  %flat = "om.reshape"(%found, %count) {shape = array<i64: -1>} : (tensor<1x?xi64>, index) -> tensor<?xi64>
  %top = "om.max"(%x) {axis = array<i64: 0>, keepdims = false} : (tensor<?xi64>) -> tensor<i64>
  %size = "om.to_size"(%top) : (tensor<i64>) -> index
  %rows = "om.full"(%top, %size) {shape = array<i64: -1, 2>} : (tensor<i64>, index) -> tensor<?x2xi64>
  return %flat, %rows : tensor<?xi64>, tensor<?x2xi64>
}
"""
    source = program(text)
    model = checked(to_onnx(source))
    for x in (np.array([0, 3, 0, 2]), np.array([-1, -2])):
        for a, b in zip(run_model(model, [x]), Interpreter({}).run(source.main, [x]), strict=True):
            np.testing.assert_array_equal(a, b)


def test_a_loop_over_something_that_is_no_tensor_is_refused():
    text = """
func.func @main(%x: tensor<f32> {om.name = "x"}) -> (tensor<i64> {om.name = "y"}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c5 = arith.constant 5 : index
  %n = scf.for %i = %c0 to %c5 step %c1 iter_args(%v = %c0) -> (index) {
    %w = arith.addi %v, %i : index
    scf.yield %w : index
  }
  %y = "om.from_size"(%n) : (index) -> tensor<i64>
  return %y : tensor<i64>
}
"""
    with pytest.raises(UnsupportedOpError, match=r"scf.for \(1x.*index"):
        to_onnx(program(text))
