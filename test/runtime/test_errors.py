"""What does not fit is refused with the names in the message; nothing ends the process."""
import numpy as np
import pytest

from onemlir import errors
from onemlir.dialect.symbolic import Dim
from onemlir.runtime import Message, Spec

F32 = np.float32
N, K = Dim.symbol("n"), Dim.symbol("inner", minimum=1)
TWO = """func.func @main(%a: tensor<?x?xf32>, %b: tensor<?xf32>) -> tensor<?x?xf32> { return %a : tensor<?x?xf32> }"""


@pytest.fixture
def two(build):
    return build(TWO, [Spec("a", (N, K), F32), Spec("b", (K,), F32)], [Spec("y", (N, K), F32)])


def test_specs_show_axis_names(two):
    assert two.inputs[0].shape == ("n", "inner") and two.outputs[0].name == "y" and two.inputs[1].dtype == np.float32


@pytest.mark.parametrize("a, b, error, text", [
    (np.zeros((2, 9), F32), np.zeros(4, F32), errors.ShapeError, "axis 'inner' is 4 in 'b' but 9 in 'a'"),
    (np.zeros(9, F32), np.zeros(9, F32), errors.ShapeError, "input 'a' has 1 axis"),
    (np.zeros((2, 0), F32), np.zeros(0, F32), errors.ShapeError, "must be at least 1"),
    (np.zeros((2, 9)), np.zeros(9, F32), errors.DTypeError, "input 'a' has dtype float64, but the model takes float32"),
    (np.zeros((2, 9), F32), ["p"], errors.DTypeError, "input 'b'"),
    (np.zeros((2, 9), F32), [1j], errors.DTypeError, "complex"),
    ([[1, 2], [3]], np.zeros(9, F32), errors.DTypeError, "input 'a'"),
])  # fmt: skip
def test_inputs_that_do_not_fit(two, a, b, error, text):
    with pytest.raises(error, match=text.replace("(", r"\(")):
        two(a, b)


def test_names_that_do_not_fit(two):
    with pytest.raises(errors.OnemlirError, match="missing: 'b'; unknown: 'c'"):
        two.run({"a": np.zeros((1, 1), F32), "c": 1})
    with pytest.raises(errors.OnemlirError, match="missing: 'a', 'b'"):
        two.run({})
    with pytest.raises(errors.ShapeError, match=r"takes 2 inputs \(a, b\), not 1"):
        two(np.zeros((1, 1), F32))


IDENTITY = "func.func @main(%x: tensor<3xf32>) -> tensor<3xf32> { return %x : tensor<3xf32> }"


class Wrapped:
    def __array__(self, dtype=None, copy=None):
        return np.array([1, 2, 3], F32)


class Exchanged:
    """What speaks DLPack and nothing else."""
    array = np.array([1, 2, 3], F32)

    def __dlpack__(self, **options):
        return self.array.__dlpack__(**options)

    def __dlpack_device__(self):
        return self.array.__dlpack_device__()


@pytest.mark.parametrize("value", [
    [1, 2, 3], (1.0, 2.0, 3.0), np.array([1, 2, 3], ">f4"), np.array([3, 2, 1], F32)[::-1], Wrapped(), Exchanged(),
    np.frombuffer(b"\0" + np.array([1, 2, 3], F32).tobytes(), np.uint8)[1:].view(F32),
])  # fmt: skip
def test_what_can_be_converted(build, value):
    session = build(IDENTITY, [Spec("x", (3,), F32)], [Spec("y", (3,), F32)])
    np.testing.assert_array_equal(session(value), [1, 2, 3])


def test_torch_tensors(build):
    torch = pytest.importorskip("torch")
    session = build(IDENTITY, [Spec("x", (3,), F32)], [Spec("y", (3,), F32)])
    np.testing.assert_array_equal(session(torch.tensor([1.0, 2.0, 3.0], requires_grad=True)), [1, 2, 3])
    np.testing.assert_array_equal(session(torch._neg_view(torch.tensor([-1.0, -2.0, -3.0]))), [1, 2, 3])


def test_bfloat16(build):
    ml_dtypes = pytest.importorskip("ml_dtypes")
    text = IDENTITY.replace("f32", "bf16")
    session = build(text, [Spec("x", (3,), ml_dtypes.bfloat16)], [Spec("y", (3,), ml_dtypes.bfloat16)])
    x = np.array([1, 2, 3], ml_dtypes.bfloat16)
    assert session(x).dtype == ml_dtypes.bfloat16
    np.testing.assert_array_equal(session(x), x)
    np.testing.assert_array_equal(session([1, 2, 3]), x)
    np.testing.assert_array_equal(session(x.view("V2")), x)  # as numpy.load gives it


def test_integers_that_do_not_survive(build):
    text = IDENTITY.replace("f32", "i8")
    session = build(text, [Spec("x", (3,), np.int8)], [Spec("y", (3,), np.int8)])
    np.testing.assert_array_equal(session([1, 2, -128]), [1, 2, -128])
    for bad in ([1, 2, 300], [1.5, 2, 3]):
        with pytest.raises(errors.DTypeError, match="'x'"):
            session(bad)


GUARD = """func.func @main(%x: tensor<i64>, %status: memref<4xi64> {om.role = "status"}) -> tensor<i64> {
  %v = tensor.extract %x[] : tensor<i64>
  %limit = arith.constant 10 : i64
  %code = arith.constant 3 : i64
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %bad = arith.cmpi sge, %v, %limit : i64
  scf.if %bad {
    memref.store %code, %status[%c0] : memref<4xi64>
    memref.store %v, %status[%c1] : memref<4xi64>
    memref.store %limit, %status[%c2] : memref<4xi64>
  }
  return %x : tensor<i64> }"""


def test_guard(build):
    messages = {3: Message("GuardError", "x is {found}, must be below {expected}")}
    session = build(GUARD, [Spec("x", (), np.int64)], [Spec("y", (), np.int64)], messages=messages)
    assert session(9) == 9
    with pytest.raises(errors.GuardError, match="x is 12, must be below 10"):
        session(12)
    assert session(5) == 5  # the status is clean again
