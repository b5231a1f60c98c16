"""The arena, checked allocation, and that nothing leaks."""
import ctypes
import mmap
import resource

import numpy as np
import pytest

import onemlir as om
from onemlir import errors, nn, ops
from onemlir.dialect.symbolic import Dim
from onemlir.runtime import Spec

F32 = np.float32
N = Dim.symbol("n")
OUTER = """
func.func @main(%x: tensor<?xf32>) -> tensor<f32> {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?xf32>
  %e = tensor.empty(%n, %n) : tensor<?x?xf32>
  %o = linalg.generic {
    indexing_maps = [affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
    ins(%x, %x : tensor<?xf32>, tensor<?xf32>) outs(%e : tensor<?x?xf32>) {
    ^bb0(%a: f32, %b: f32, %c: f32):
      %p = arith.mulf %a, %b : f32
      linalg.yield %p : f32 } -> tensor<?x?xf32>
  %z = arith.constant dense<0.0> : tensor<f32>
  %s = linalg.reduce ins(%o : tensor<?x?xf32>) outs(%z : tensor<f32>) dimensions = [0, 1]
    (%a: f32, %b: f32) { %c = arith.addf %a, %b : f32
      linalg.yield %c : f32 }
  return %s : tensor<f32> }"""


def test_too_large_is_an_error(build):
    session = build(OUTER, [Spec("x", (N,), F32)], [Spec("s", (), F32)])
    assert session(np.ones(10, F32)) == 100
    for n in (10_000_000, 1 << 30):  # 400 TB and 4 EB
        with pytest.raises(errors.OnemlirError, match="not enough memory"):
            session(np.empty(n, F32))
    assert session(np.ones(20, F32)) == 400


GROW = """
func.func @main(%x: tensor<?xf32>, %limit: tensor<i64>) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %l = tensor.extract %limit[] : tensor<i64>
  %end = arith.index_cast %l : i64 to index
  %r = scf.for %i = %c0 to %end step %c1 iter_args(%p = %x) -> tensor<?xf32> {
    %q = tensor.concat dim(0) %p, %p : (tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
    scf.yield %q : tensor<?xf32>
  }
  %n = tensor.dim %x, %c0 : tensor<?xf32>
  %s = tensor.extract_slice %r[0] [%n] [1] : tensor<?xf32> to tensor<?xf32>
  return %s : tensor<?xf32> }"""


def test_too_large_inside_a_loop(build, monkeypatch):
    monkeypatch.setattr("onemlir.runtime.session._physical_memory", lambda: 1 << 30)  # doubling up to the machine's own memory takes minutes
    session = build(GROW, [Spec("x", (N,), F32), Spec("limit", (), np.int64)], [Spec("y", (N,), F32)])
    x = np.arange(5, dtype=F32)
    np.testing.assert_array_equal(session(x, 4), x)
    before = resident()
    for _ in range(3):
        with pytest.raises(errors.OnemlirError, match="not enough memory"):
            session(np.zeros(3 << 16, F32), 60)
    assert resident() < before + (1 << 28)
    np.testing.assert_array_equal(session(x, 4), x)


def resident() -> int:
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * resource.getpagesize()


@pytest.mark.parametrize("text, inputs", [(OUTER, ()), (GROW, (np.array(5),))])
def test_many_runs_do_not_grow(build, text, inputs):
    specs = [Spec("x", (N,), F32), Spec("limit", (), np.int64)][: 1 + len(inputs)]
    session = build(text, specs, [Spec("y", () if text is OUTER else (N,), F32)])
    x = np.ones(100, F32)
    for _ in range(200):
        session(x, *inputs)
    before = resident()
    for _ in range(5000):
        session(x, *inputs)
    assert resident() - before < 2 << 20


CHAIN = """
func.func @main(%x: tensor<?xf32>, %limit: tensor<i64>) -> tensor<?xf32> {
  %l = tensor.extract %limit[] : tensor<i64>
  %k = arith.index_cast %l : i64 to index
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?xf32>
  %a = tensor.extract_slice %x[0] [%k] [1] : tensor<?xf32> to tensor<?xf32>
  %b = tensor.concat dim(0) %a, %a : (tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
  %c = tensor.concat dim(0) %b, %b, %b : (tensor<?xf32>, tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
  %d = tensor.concat dim(0) %c, %x : (tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
  %s = tensor.extract_slice %d[0] [%n] [1] : tensor<?xf32> to tensor<?xf32>
  return %s : tensor<?xf32> }"""


def test_large_memory_of_sizes_that_depend_on_data_is_kept_for_the_next_run(build):
    """No page is touched for the first time in later runs of equal or fewer elements, and no more is held than was in use at once."""
    session = build(CHAIN, [Spec("x", (N,), F32), Spec("limit", (), np.int64)], [Spec("y", (N,), F32)])
    x = np.arange(1 << 20, dtype=F32)
    runs = {}
    for k in (1 << 19, 1 << 19, 1 << 17, 1 << 19):
        for _ in range(5):
            np.testing.assert_array_equal(session(x, k)[:k], x[:k])
        before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
        for _ in range(4):
            session(x, k)
        runs.setdefault(k, []).append(resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before)
    result = 4 * x.nbytes // resource.getpagesize()  # each run returns a new array
    assert max(runs[1 << 19]) < result + 500
    after = resident()
    for k in range(1 << 16, 1 << 19, 1 << 14):
        session(x, k)
    assert resident() < after + (96 << 20)  # 24 runs of up to 30 MB; what is given back to the C library may stay there


def test_sessions_do_not_leak(build):
    session = build(OUTER, [Spec("x", (N,), F32)], [Spec("s", (), F32)])
    compiled, x = session._compiled, np.ones(2000, F32)
    sizes = []
    for _ in range(20):
        other = type(session)(compiled, session.inputs, session.outputs, threads=1)
        other(x)
        del other
        sizes.append(resident())
    assert sizes[-1] - sizes[4] < 8 << 20  # an arena has 16 MB


def test_too_large_an_output_of_unknown_size(build):
    text = """func.func @main(%limit: tensor<i64>) -> (tensor<?xf32> {om.data_dependent}) {
      %l = tensor.extract %limit[] : tensor<i64>
      %n = arith.index_cast %l : i64 to index
      %f = arith.constant 2.0 : f32
      %e = tensor.empty(%n) : tensor<?xf32>
      %r = linalg.fill ins(%f : f32) outs(%e : tensor<?xf32>) -> tensor<?xf32>
      return %r : tensor<?xf32> }"""
    session = build(text, [Spec("limit", (), np.int64)], [Spec("y", ("?",), F32, data_dependent=True)])
    np.testing.assert_array_equal(session(3), [2, 2, 2])
    for absurd in (1 << 50, 1 << 62, (1 << 63) - 1):
        with pytest.raises(errors.OnemlirError, match="not enough memory"):
            session(absurd)
    assert session(0).shape == (0,)


class Guarded:
    """Arrays that start or end where the memory that may be touched does; what lies around them in it is watched."""

    def __init__(self, at_end: bool):
        self.at_end, self.made = at_end, []

    def empty(self, shape, dtype) -> np.ndarray:
        page, count = mmap.PAGESIZE, int(np.prod(shape)) * np.dtype(dtype).itemsize
        whole = -(-count // page) * page
        memory = mmap.mmap(-1, whole + 2 * page)
        start = ctypes.addressof(ctypes.c_char.from_buffer(memory))
        raw = np.frombuffer(memory, np.uint8)
        raw[page:-page] = 0xA5
        first = page + (whole - count if self.at_end else 0)
        for closed in (0, page + whole):
            assert ctypes.CDLL(None).mprotect(ctypes.c_void_p(start + closed), ctypes.c_size_t(page), 0) == 0
        self.made.append((raw[page:first], raw[first + count : page + whole]))
        return raw[first : first + count].view(dtype).reshape(shape)

    def copy(self, array) -> np.ndarray:
        array = np.asarray(array)
        made = self.empty(array.shape, array.dtype)
        made[...] = array
        return made


@pytest.mark.skipif(not hasattr(ctypes.CDLL(None), "mprotect"), reason="needs mprotect")
def test_nothing_outside_of_inputs_weights_and_outputs_is_touched():
    rng = np.random.default_rng(0)
    draw = lambda *shape: rng.standard_normal(shape).astype(F32)
    kernel, deep, matrix, lstm = om.tensor(draw(5, 3, 3, 3)), om.tensor(draw(3, 1, 3, 3)), om.tensor(draw(33, 17)), nn.LSTM(5, 3)

    def function(image, rows, steps):
        return (ops.conv2d(image, kernel, padding=1), ops.conv2d(image, deep, groups=3, stride=2), ops.max_pool2d(image, 2), rows @ matrix,
                ops.softmax(rows, axis=1), rows.T + 1, ops.take(rows, [-1, 0], axis=0), lstm(steps)[0])  # fmt: skip
    arrays = draw(1, 3, 7, 5), draw(7, 33), draw(2, 1, 5)
    session = om.trace(function, *map(om.tensor, arrays), check=False).session(threads=1)
    expected = session(*arrays)
    for at_end in (True, False):
        guarded = Guarded(at_end)
        other = type(session)(session._compiled, session.inputs, session.outputs, [guarded.copy(p) for p in session._parameters], threads=1)
        other.allocate = guarded.empty
        for found, wanted in zip(other(*map(guarded.copy, arrays)), expected):
            np.testing.assert_array_equal(found, wanted)
        assert all((around == 0xA5).all() for pair in guarded.made for around in pair)
