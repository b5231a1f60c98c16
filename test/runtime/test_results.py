"""Tensors to machine code: values are numpy's, whatever buffers they were put in."""
import numpy as np
import pytest

from onemlir.dialect.symbolic import Dim
from onemlir.runtime import Spec

F32 = np.float32
N = Dim.symbol("n")
VECTOR = [Spec("x", (4,), F32)]
ROWS = [Spec("x", (N, 8), F32)]


def x4():
    return np.array([1, 2, 3, 4], F32)


def add(result, a, b, type="tensor<4xf32>"):
    return f"""
      {result}_e = tensor.empty() : {type}
      {result} = linalg.add ins({a}, {b} : {type}, {type}) outs({result}_e : {type}) -> {type}"""


def test_identity_is_a_copy(build):
    session = build("func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> { return %x : tensor<4xf32> }", VECTOR, [Spec("y", (4,), F32)])
    x = x4()
    y = session(x)
    np.testing.assert_array_equal(y, x)
    assert not np.shares_memory(x, y)


def test_same_value_twice(build):
    text = f"""func.func @main(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {{
      {add("%s", "%x", "%x")}
      return %s, %s, %x : tensor<4xf32>, tensor<4xf32>, tensor<4xf32> }}"""
    session = build(text, VECTOR, [Spec(n, (4,), F32) for n in "abc"])
    a, b, c = session(x4())
    np.testing.assert_array_equal(a, 2 * x4())
    np.testing.assert_array_equal(b, a)
    np.testing.assert_array_equal(c, x4())
    assert not np.shares_memory(a, b)


def test_parameter_as_output(build):
    text = """func.func @main(%x: tensor<4xf32>, %w: tensor<3xf64> {om.role = "parameter"}) -> (tensor<3xf64>, tensor<4xf32>) {
      return %w, %x : tensor<3xf64>, tensor<4xf32> }"""
    weights = np.array([1.0, 2.0, 3.0])
    session = build(text, VECTOR, [Spec("w", (3,), np.float64), Spec("y", (4,), F32)], [weights])
    w, y = session(x4())
    w[:] = 0
    np.testing.assert_array_equal(session(x4())[0], weights)


def test_inputs_are_never_written(build):
    text = """func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
      %c0 = arith.constant 0 : index
      %f = arith.constant 9.0 : f32
      %y = tensor.insert %f into %x[%c0] : tensor<4xf32>
      return %y : tensor<4xf32> }"""
    session = build(text, VECTOR, [Spec("y", (4,), F32)])
    x = x4()
    np.testing.assert_array_equal(session(x), [9, 2, 3, 4])
    np.testing.assert_array_equal(x, x4())


def test_inputs_that_are_the_same_memory(build):
    text = f"func.func @main(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {{ {add('%s', '%x', '%y')}\n return %s : tensor<4xf32> }}"
    session = build(text, [Spec("x", (4,), F32), Spec("y", (4,), F32)], [Spec("s", (4,), F32)])
    x = x4()
    np.testing.assert_array_equal(session(x, x), 2 * x)


def test_for_that_swaps_and_doubles(build):
    text = f"""func.func @main(%x: tensor<4xf32>, %y: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {{
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c5 = arith.constant 5 : index
      %r:2 = scf.for %i = %c0 to %c5 step %c1 iter_args(%p = %x, %q = %y) -> (tensor<4xf32>, tensor<4xf32>) {{
        {add("%s", "%p", "%q")}
        scf.yield %q, %s : tensor<4xf32>, tensor<4xf32>
      }}
      return %r#0, %r#1 : tensor<4xf32>, tensor<4xf32> }}"""
    session = build(text, [Spec("x", (4,), F32), Spec("y", (4,), F32)], [Spec("p", (4,), F32), Spec("q", (4,), F32)])
    p, q = x4(), 3 * x4()
    got = session(p, q)
    for _ in range(5):
        p, q = q, p + q
    np.testing.assert_array_equal(got, (p, q))


WHILE = """func.func @main(%x: tensor<4xf32>, %limit: tensor<f32>) -> (tensor<4xf32>, tensor<i64>) {
  %c0 = arith.constant 0 : index
  %one = arith.constant 1 : i64
  %count = arith.constant dense<0> : tensor<i64>
  %bound = tensor.extract %limit[] : tensor<f32>
  %r:2 = scf.while (%p = %x, %n = %count) : (tensor<4xf32>, tensor<i64>) -> (tensor<4xf32>, tensor<i64>) {
    %v = tensor.extract %p[%c0] : tensor<4xf32>
    %go = arith.cmpf olt, %v, %bound : f32
    scf.condition(%go) %p, %n : tensor<4xf32>, tensor<i64>
  } do {
  ^bb0(%p: tensor<4xf32>, %n: tensor<i64>):
    %e = tensor.empty() : tensor<4xf32>
    %s = linalg.add ins(%p, %p : tensor<4xf32>, tensor<4xf32>) outs(%e : tensor<4xf32>) -> tensor<4xf32>
    %k = tensor.extract %n[] : tensor<i64>
    %k1 = arith.addi %k, %one : i64
    %m = tensor.insert %k1 into %n[] : tensor<i64>
    scf.yield %s, %m : tensor<4xf32>, tensor<i64>
  }
  return %r#0, %r#1 : tensor<4xf32>, tensor<i64> }"""


@pytest.mark.parametrize("limit, steps", [(0.5, 0), (2, 1), (100, 7)])
def test_while(build, limit, steps):
    session = build(WHILE, [*VECTOR, Spec("limit", (), F32)], [Spec("y", (4,), F32), Spec("n", (), np.int64)])
    y, n = session(x4(), limit)
    assert n == steps and n.shape == ()
    np.testing.assert_array_equal(y, x4() * 2**steps)


def test_while_that_grows(build):
    text = """func.func @main(%x: tensor<?xf32>) -> tensor<f32> {
      %c0 = arith.constant 0 : index
      %c100 = arith.constant 100 : index
      %r = scf.while (%p = %x) : (tensor<?xf32>) -> tensor<?xf32> {
        %n = tensor.dim %p, %c0 : tensor<?xf32>
        %go = arith.cmpi slt, %n, %c100 : index
        scf.condition(%go) %p : tensor<?xf32>
      } do {
      ^bb0(%p: tensor<?xf32>):
        %q = tensor.concat dim(0) %p, %p : (tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
        scf.yield %q : tensor<?xf32>
      }
      %zero = arith.constant dense<0.0> : tensor<f32>
      %s = linalg.reduce ins(%r : tensor<?xf32>) outs(%zero : tensor<f32>) dimensions = [0]
        (%a: f32, %b: f32) { %c = arith.addf %a, %b : f32
          linalg.yield %c : f32 }
      return %s : tensor<f32> }"""
    session = build(text, [Spec("x", (N,), F32)], [Spec("s", (), F32)])
    assert session(np.ones(3, F32)) == 192
    assert session(np.ones(100, F32)) == 100


@pytest.mark.parametrize("which", [True, False])
def test_if_with_branches_of_different_origin(build, which):
    text = f"""func.func @main(%x: tensor<4xf32>, %c: tensor<i1>) -> (tensor<4xf32>, tensor<4xf32>) {{
      %b = tensor.extract %c[] : tensor<i1>
      {add("%d", "%x", "%x")}
      %r = scf.if %b -> tensor<4xf32> {{
        {add("%t", "%d", "%x")}
        scf.yield %t : tensor<4xf32>
      }} else {{
        scf.yield %x : tensor<4xf32>
      }}
      {add("%s", "%r", "%d")}
      return %s, %r : tensor<4xf32>, tensor<4xf32> }}"""
    session = build(text, [*VECTOR, Spec("c", (), bool)], [Spec("s", (4,), F32), Spec("r", (4,), F32)])
    s, r = session(x4(), np.array(which))
    np.testing.assert_array_equal(r, x4() * (3 if which else 1))
    np.testing.assert_array_equal(s, r + 2 * x4())


CHAIN = """
#id = affine_map<(i, j) -> (i, j)>
func.func @main(%x: tensor<?x8xf32>, %w: tensor<8x8xf32> {om.role = "parameter"}) -> tensor<?x8xf32> {
  %c0 = arith.constant 0 : index
  %f0 = arith.constant 0.0 : f32
  %n = tensor.dim %x, %c0 : tensor<?x8xf32>
  %e = tensor.empty(%n) : tensor<?x8xf32>
  %z = linalg.fill ins(%f0 : f32) outs(%e : tensor<?x8xf32>) -> tensor<?x8xf32>
  %a = linalg.matmul ins(%x, %w : tensor<?x8xf32>, tensor<8x8xf32>) outs(%z : tensor<?x8xf32>) -> tensor<?x8xf32>
  %b = linalg.matmul ins(%a, %w : tensor<?x8xf32>, tensor<8x8xf32>) outs(%z : tensor<?x8xf32>) -> tensor<?x8xf32>
  %c = linalg.matmul ins(%b, %w : tensor<?x8xf32>, tensor<8x8xf32>) outs(%z : tensor<?x8xf32>) -> tensor<?x8xf32>
  %d = linalg.add ins(%c, %a : tensor<?x8xf32>, tensor<?x8xf32>) outs(%e : tensor<?x8xf32>) -> tensor<?x8xf32>
  return %d : tensor<?x8xf32> }"""


@pytest.mark.parametrize("loops_first", [False, True])
def test_dynamic_sizes(build, loops_first):
    w = np.random.default_rng(0).random((8, 8), F32)
    session = build(CHAIN, ROWS, [Spec("y", (N, 8), F32)], [w], loops_first=loops_first)
    for n in (5, 0, 1, 1000, 64, 5):
        x = np.random.default_rng(n).random((n, 8), F32)
        y = session(x)
        assert y.shape == (n, 8)
        np.testing.assert_allclose(y, x @ w @ w @ w + x @ w, rtol=1e-4)


def test_an_output_keeps_its_values(build):
    w = np.eye(8, dtype=F32)
    session = build(CHAIN, ROWS, [Spec("y", (N, 8), F32)], [w])
    first = session(np.ones((2, 8), F32))
    session(np.zeros((2, 8), F32))
    np.testing.assert_array_equal(first, np.full((2, 8), 2, F32))


def test_slices_pads_and_reshapes(build):
    text = """func.func @main(%x: tensor<4xf32>) -> (tensor<2x2xf32>, tensor<7xf32>, tensor<3xf32>) {
      %f = arith.constant -1.0 : f32
      %a = tensor.expand_shape %x [[0, 1]] output_shape [2, 2] : tensor<4xf32> into tensor<2x2xf32>
      %b = tensor.pad %x low[1] high[2] {
        ^bb0(%i: index): tensor.yield %f : f32 } : tensor<4xf32> to tensor<7xf32>
      %s = tensor.extract_slice %x[1] [3] [1] : tensor<4xf32> to tensor<3xf32>
      return %a, %b, %s : tensor<2x2xf32>, tensor<7xf32>, tensor<3xf32> }"""
    session = build(text, VECTOR, [Spec("a", (2, 2), F32), Spec("b", (7,), F32), Spec("c", (3,), F32)])
    a, b, c = session(x4())
    np.testing.assert_array_equal(a, [[1, 2], [3, 4]])
    np.testing.assert_array_equal(b, [-1, 1, 2, 3, 4, -1, -1])
    np.testing.assert_array_equal(c, [2, 3, 4])


def test_strided_insert(build):
    text = """func.func @main(%x: tensor<4x4xf32>, %y: tensor<2x2xf32>) -> tensor<4x4xf32> {
      %r = tensor.insert_slice %y into %x[1, 1] [2, 2] [1, 2] : tensor<2x2xf32> into tensor<4x4xf32>
      return %r : tensor<4x4xf32> }"""
    session = build(text, [Spec("x", (4, 4), F32), Spec("y", (2, 2), F32)], [Spec("r", (4, 4), F32)])
    x, y = np.zeros((4, 4), F32), np.array([[1, 2], [3, 4]], F32)
    got = session(x, y)
    x[1:3, 1:4:2] = y
    np.testing.assert_array_equal(got, x)


SELECT = """func.func @main(%x: tensor<?xf32>) -> (tensor<?xf32> {om.data_dependent}, tensor<f32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %f0 = arith.constant 0.0 : f32
  %n = tensor.dim %x, %c0 : tensor<?xf32>
  %e = tensor.empty(%n) : tensor<?xf32>
  %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%t = %e, %k = %c0) -> (tensor<?xf32>, index) {
    %v = tensor.extract %x[%i] : tensor<?xf32>
    %p = arith.cmpf ogt, %v, %f0 : f32
    %u = tensor.insert %v into %t[%k] : tensor<?xf32>
    %k1 = arith.addi %k, %c1 : index
    %k2 = arith.select %p, %k1, %k : index
    scf.yield %u, %k2 : tensor<?xf32>, index
  }
  %s = tensor.extract_slice %r#0[0] [%r#1] [1] : tensor<?xf32> to tensor<?xf32>
  %z = arith.constant dense<1.5> : tensor<f32>
  return %s, %z : tensor<?xf32>, tensor<f32> }"""


def test_output_whose_size_depends_on_data(build):
    session = build(SELECT, [Spec("x", (N,), F32)], [Spec("s", ("?",), F32, data_dependent=True), Spec("z", (), F32)])
    for x in (np.array([1, -2, 3, -4, 5], F32), np.array([-1], F32), np.zeros(0, F32)):
        s, z = session(x)
        np.testing.assert_array_equal(s, x[x > 0])
        assert z == 1.5


def test_large_outputs_whose_size_depends_on_data_keep_their_memory(build):
    """They are the memory that compiled code has allocated: writable, apart from each other, and valid after the session is gone."""
    session = build(SELECT, [Spec("x", (N,), F32)], [Spec("s", ("?",), F32, data_dependent=True), Spec("z", (), F32)])
    x = np.arange(1, 100_001, dtype=F32)
    first, second = session(x)[0], session(-x[::-1] + 50_001)[0]
    assert first.flags.writeable and first.flags.c_contiguous and not np.shares_memory(first, second)
    first[0] = 7
    part = second[-3:]
    del session, second
    np.testing.assert_array_equal(first, [7, *range(2, 100_001)])
    np.testing.assert_array_equal(part, [49_998, 49_999, 50_000])


def test_booleans(build):
    text = """func.func @main(%x: tensor<?xi1>, %w: tensor<2xi1> {om.role = "parameter"}) -> (tensor<?xi1>, tensor<2xi1>, tensor<3xi1>) {
      %c0 = arith.constant 0 : index
      %true = arith.constant true
      %n = tensor.dim %x, %c0 : tensor<?xi1>
      %k = arith.constant dense<[true, false, true]> : tensor<3xi1>
      %e = tensor.empty(%n) : tensor<?xi1>
      %r = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
        ins(%x : tensor<?xi1>) outs(%e : tensor<?xi1>) {
        ^bb0(%a: i1, %o: i1):
          %b = arith.xori %a, %true : i1
          linalg.yield %b : i1 } -> tensor<?xi1>
      return %r, %w, %k : tensor<?xi1>, tensor<2xi1>, tensor<3xi1> }"""
    outputs = [Spec("r", (N,), bool), Spec("w", (2,), bool), Spec("k", (3,), bool)]
    session = build(text, [Spec("x", (N,), bool)], outputs, [np.array([False, True])])
    r, w, k = session(np.array([True, False, False]))
    np.testing.assert_array_equal(r, [False, True, True])
    np.testing.assert_array_equal(w, [False, True])
    np.testing.assert_array_equal(k, [True, False, True])
