"""Products: einsum and its relatives against numpy, eager and recorded with symbolic axes."""
import ml_dtypes
import numpy as np
import pytest
import torch
from hypothesis import given, settings, strategies as st

from onemlir.dialect.interpreter import Interpreter
from onemlir.errors import DTypeError, OnemlirError, ShapeError, TraceError
from onemlir.frontend import ops
from onemlir.frontend.tensor import tensor
from onemlir.frontend.tracer import record

SIZES = dict(zip("abcdef", (2, 3, 4, 1, 5, 2)))
EQUATIONS = [
    "a->a", "ab->ba", "ab->a", "ab->", "ab", "ba", "aa->a", "aa->", "aa", "aba->ba", "aab,b->ab", "a,a->", "a,b->ab", "a,a->a", "ab,bc->ac", "ab,bc",
    "ab,cb->ac", "ba,bc->ca", "abc,acb->a", "abc,cb->ac", "eab,ebc->eac", "abe,ebc->aec", "ab,ab->ab", "ab,ab->", "abc,bd->acd", "ab,bc,cd->ad",
    "ab,bc,cd->", "abc,ab,b->c", "a,ab,abc->abc", "ab,b,a->", "ac,c,ab,b->a", "aaa->a", "aabb->ab", "ab,bb->ab", ",ab->ab", ",->", "cd,dc->", "adb,bd->ad",
]


def arrays_for(equation, dtype="float64", sizes=SIZES, seed=0):
    rng = np.random.default_rng(seed)
    inputs = equation.split("->")[0].split(",")
    return [np.asarray(rng.integers(-3, 4, [sizes[c] for c in labels])).astype(dtype) for labels in inputs]


@pytest.mark.parametrize("equation", EQUATIONS)
@pytest.mark.parametrize("dtype", ["float64", "int32", "uint8"])
def test_einsum_equals_numpy(equation, dtype):
    arrays = arrays_for(equation, dtype)
    got = ops.einsum(equation, *map(tensor, arrays))
    expected = np.einsum(equation, *arrays)
    assert got.dtype == expected.dtype and got.shape == expected.shape
    np.testing.assert_allclose(got.numpy(), expected)


@pytest.mark.parametrize("equation, shapes", [
    ("...ab,...bc->...ac", [(2, 3, 4), (4, 5)]), ("...ab,...bc->...ac", [(6, 1, 3, 4), (2, 4, 5)]), ("...a->...", [(2, 3, 4)]),
    ("a...b,b...->a...", [(2, 3, 4), (4, 3)]), ("...,...", [(2, 3), (3,)]), ("...a,...a", [(2, 1, 3), (5, 3)]),
    ("a...a->...a", [(3, 2, 3)]),
    ("...ab->...ba", [(2, 3)]), ("ab...,b...->...a", [(2, 3, 4), (3, 4)]), ("... a b -> ... b a", [(2, 3, 4)]),
    ("b...,a->...ab", [(2, 3), (4,)]),
    ("ab,b->a", [(2, 3), (1,)]), ("ab,ab->a", [(2, 1), (2, 3)]), ("ab,ab->ab", [(2, 1), (1, 3)]), ("ab,bc->ac", [(0, 2), (2, 3)]),
    ("ab,bc->ac", [(3, 0), (0, 2)]), ("aa->a", [(0, 0)]), ("...ii->...i", [(2, 3, 3)]), ("ab,bc,bd->cd", [(2, 1), (3, 4), (1, 2)]),
])
def test_einsum_ellipsis_and_broadcast(equation, shapes):
    arrays = [np.random.default_rng(0).standard_normal(s) for s in shapes]
    expected = np.einsum(equation, *arrays)
    got = ops.einsum(equation, *arrays)
    assert got.shape == expected.shape
    np.testing.assert_allclose(got.numpy(), expected, rtol=1e-12)


@settings(max_examples=150, deadline=None)
@given(st.data())
def test_einsum_equals_numpy_for_random_equations(data):
    sizes = {c: data.draw(st.integers(1, 3)) for c in "abcd"}
    inputs = data.draw(st.lists(st.text("abcd", max_size=3), min_size=1, max_size=3))
    used = sorted(set("".join(inputs)))
    output = "".join(data.draw(st.permutations(used))[:data.draw(st.integers(0, len(used)))]) if used else ""
    equation = ",".join(inputs) + data.draw(st.sampled_from(["", f"->{output}"]))
    arrays = arrays_for(equation, sizes=sizes)
    expected = np.einsum(equation, *arrays)
    got = ops.einsum(equation, *arrays)
    assert got.shape == np.shape(expected)
    np.testing.assert_allclose(got.numpy(), expected)


def test_einsum_takes_lists_and_promotes():
    x, y = np.arange(6).reshape(2, 3), np.ones((3, 4), np.float32)
    np.testing.assert_array_equal(ops.einsum(x, [0, 1], y, [1, 2], [2, 0]).numpy(), np.einsum(x, [0, 1], y, [1, 2], [2, 0]))
    np.testing.assert_array_equal(ops.einsum(x, [..., 0], [0, ...]).numpy(), np.einsum(x, [..., 0], [0, ...]))
    assert ops.einsum("ab,bc", x, y).dtype == np.float64
    assert ops.einsum("ab,bc", y.T.astype(ml_dtypes.bfloat16), y.astype(ml_dtypes.bfloat16)).dtype == ml_dtypes.bfloat16


RECORDED = [("aab,b->ab", "float32"), ("aa->", "float32"), ("eab,ebc->eac", "float32"), ("ab,bc,cd->ad", "float32"),
            ("abc,cb->ac", "int32"),
            ("a,b->ab", "float32"), ("ab,ab->", "float32"), ("ba,bc->ca", "float32")]


@pytest.mark.parametrize("equation, dtype", RECORDED)
def test_einsum_records_symbolic_axes(equation, dtype):
    examples, inputs = arrays_for(equation, dtype), arrays_for(equation, dtype, {c: n + 2 for c, n in SIZES.items()}, seed=1)
    axes = tuple(map(tuple, equation.split("->")[0].split(",")))
    program = record(lambda *xs: ops.einsum(equation, *xs), examples, {}, axes, "error", {}).program
    got, = Interpreter(program.weights).run(program.main, inputs)
    np.testing.assert_allclose(got, np.einsum(equation, *inputs))


def test_einsum_refuses_axes_of_different_names():
    with pytest.raises(TraceError, match="axis '[nm]'.*einsum"):
        record(lambda x, y: ops.einsum("ab,ab->", x, y), [np.ones((2, 3))] * 2, {}, {"x": ("n", None), "y": ("m", None)}, "error", {})


@pytest.mark.parametrize("equation, shapes, error, words", [
    ("ab,bc", [(2, 3)], OnemlirError, ["2 operands", "found 1"]),
    ("ab->abz", [(2, 3)], OnemlirError, ["ab->abz"]),
    ("ab->aa", [(2, 3)], OnemlirError, ["each once"]),
    ("a...->a", [(2, 3, 4)], OnemlirError, ["needs '...'"]),
    ("ab", [(2, 3, 4)], ShapeError, ["'ab'", "rank 3"]),
    ("abc", [(2, 3)], ShapeError, ["'abc'", "rank 2"]),
    ("a1", [(2, 3)], OnemlirError, ["letters"]),
    ("a..b", [(2, 3)], OnemlirError, ["..."]),
    ("ab,bc", [(2, 3), (4, 5)], ShapeError, ["'b'", "3", "4", "(2, 3)", "(4, 5)"]),
    ("aa", [(2, 3)], ShapeError, ["'a'", "2 and 3"]),
    ("abc,cb->a", [(2, 2, 3), (2, 3)], ShapeError, ["'c'"]),
])
def test_einsum_refuses(equation, shapes, error, words):
    with pytest.raises(error) as caught:
        ops.einsum(equation, *(np.ones(s) for s in shapes))
    assert all(word in str(caught.value) for word in words), caught.value


@pytest.mark.parametrize("x, y", [((3,), (3,)), ((2, 3), (3,)), ((3,), (3, 4)), ((2, 3), (3, 4)), ((), (2, 3)), ((2, 3), ()),
                                  ((2, 5, 3), (4, 3, 6)), ((3,), (4, 3, 6))])
def test_dot_equals_numpy(x, y):
    a, b = np.random.default_rng(0).standard_normal(x), np.random.default_rng(1).standard_normal(y)
    np.testing.assert_allclose(ops.dot(a, b).numpy(), np.dot(a, b), rtol=1e-12)


@pytest.mark.parametrize("axes", [0, 1, 2, ((2, 0), (1, 0)), ((-1,), (-2,)), (1, 1), ((), ())])
def test_tensordot_equals_numpy(axes):
    shapes = {2: [(2, 3, 4), (3, 4, 5)], 1: [(2, 3, 4), (4, 2, 5)], ((2, 0), (1, 0)): [(2, 3, 4), (2, 4, 5)],
              ((-1,), (-2,)): [(2, 3, 4), (2, 4, 5)],
              (1, 1): [(2, 3, 4), (2, 3, 5)]}.get(axes, [(2, 3), (4,)])
    a, b = (np.random.default_rng(0).standard_normal(s) for s in shapes)
    np.testing.assert_allclose(ops.tensordot(a, b, axes).numpy(), np.tensordot(a, b, axes), rtol=1e-12)


def test_outer_inner_vecdot():
    a, b = np.arange(6).reshape(2, 3), np.arange(4.0)
    np.testing.assert_array_equal(ops.outer(a, b).numpy(), np.outer(a, b))
    x, y = np.arange(24).reshape(2, 3, 4), np.arange(12).reshape(3, 4)
    np.testing.assert_array_equal(ops.inner(x, y).numpy(), np.inner(x, y))
    for axis, other in ((-1, y), (1, np.arange(6).reshape(2, 3, 1))):
        np.testing.assert_array_equal(ops.vecdot(x, other, axis=axis).numpy(), np.sum(x * other, axis=axis))
    assert ops.vecdot(np.ones(3, np.int8), np.ones(3, np.int8)).dtype == np.int8


@pytest.mark.parametrize("x, y", [((2, 3), (3, 4)), ((3,), (3,)), ((5, 2, 3), (3,)), ((3,), (5, 3, 2)), ((6, 1, 2, 3), (5, 3, 4)),
                                  ((2, 0), (0, 3)), ((0, 2), (2, 3))])
@pytest.mark.parametrize("dtype", ["float64", "int8", "uint16", "float16"])
def test_matmul_equals_numpy(x, y, dtype):
    a, b = (np.random.default_rng(0).integers(0, 4, s).astype(dtype) for s in (x, y))
    got = tensor(a) @ tensor(b)
    assert got.dtype == dtype
    np.testing.assert_array_equal(got.numpy(), a @ b)


@pytest.mark.parametrize("dtype, tolerance", [(torch.float32, 1e-5), (torch.float16, 1e-3), (torch.bfloat16, 8e-3)])
def test_linear_equals_torch(dtype, tolerance):
    x, w, b = (torch.randn(*s, generator=torch.Generator().manual_seed(0)).to(dtype) for s in ((2, 5, 8), (3, 8), (3,)))
    ours = [t.float().numpy().astype(str(dtype).removeprefix("torch.")) for t in (x, w, b)]
    for count in (2, 3):
        expected = torch.nn.functional.linear(x, w, b if count == 3 else None).float().numpy()
        np.testing.assert_allclose(ops.linear(*ours[:count]).numpy().astype(np.float32), expected, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("call, error, words", [
    (lambda: ops.matmul(np.ones((2, 3)), np.ones((4, 5))), ShapeError, ["3 columns", "4 rows"]),
    (lambda: ops.matmul(np.ones(()), np.ones(3)), ShapeError, ["rank-0"]),
    (lambda: ops.matmul(np.ones((2, 2), bool), np.ones((2, 2), bool)), DTypeError, ["matmul", "bool"]),
    (lambda: ops.linear(np.ones((2, 3)), np.ones((4, 5))), ShapeError, ["3 features", "takes 5"]),
    (lambda: ops.tensordot(np.ones((2, 3)), np.ones((4, 5)), 1), ShapeError, ["axis 1", "axis 0", "3", "4"]),
    (lambda: ops.tensordot(np.ones(2), np.ones(2), 2), ShapeError, ["between 0", "found 2"]),
])
def test_refused(call, error, words):
    with pytest.raises(error) as caught:
        call()
    assert all(word in str(caught.value) for word in words), caught.value
