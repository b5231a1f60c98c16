"""f32 products on the matrix unit against numpy in f64: parts, odd sizes known and not, epilogues, numbers that parts cannot express."""
import numpy as np
import pytest

mlir = pytest.importorskip("mlir.ir")

from mlir.dialects import arith  # noqa: E402
from onemlir.frontend import nn  # noqa: E402
from onemlir.frontend.tensor import tensor  # noqa: E402
from onemlir.lowering import targets  # noqa: E402
from onemlir.lowering.compilation import lower  # noqa: E402
from onemlir.lowering.kernels.parts import emit_split_left, emit_split_right, left_shape, right_shape  # noqa: E402
from onemlir.lowering.kernels.split_matmul import emit_split_matmul  # noqa: E402
from onemlir.lowering.kernels.standalone import aligned, compile_kernel  # noqa: E402

random = np.random.default_rng(0)
needs_unit = pytest.mark.skipif(not targets.host().matrix_unit, reason="this processor has no matrix unit, or the system does not allow it")


def numbers(*shape):
    return random.standard_normal(shape).astype(np.float32)


def as_float(parts):
    return (parts.view(np.uint16).astype(np.uint32) << 16).view(np.float32).astype(np.float64)


def left(x):
    parts = aligned(left_shape(*x.shape), np.int16)
    compile_kernel(emit_split_left, (x.shape, "float32"), (parts.shape, "int16"))(x, parts)
    return parts


def right(w, transposed=False):
    parts = aligned(right_shape(*w.shape), np.int16)
    source = np.ascontiguousarray(w.T) if transposed else w
    compile_kernel(lambda s, p: emit_split_right(s, p, transposed), (source.shape, "float32"), (parts.shape, "int16"))(source, parts)
    return parts


def product(x, w, dynamic=False, epilogue=None):
    y = np.empty((len(x), w.shape[1]), np.float32)
    operands = [x, left(x), right(w), y]
    kinds = [(tuple(None if dynamic else s for s in a.shape[:1]) + a.shape[1:], a.dtype.name) for a in operands]
    kernel = compile_kernel(lambda a, p, q, c: emit_split_matmul(a, p, q, c, epilogue), *kinds)
    kernel(*operands)
    return y


@pytest.mark.parametrize("m, k", [(1, 1), (16, 32), (17, 33), (40, 70)])
def test_left_parts_sum_to_the_matrix(m, k):
    x = numbers(m, k) * 10.0 ** random.integers(-20, 20, (m, k)).astype(np.float32)
    tiles = as_float(left(x)).sum(axis=2).reshape(-(-m // 16), -(-k // 32), 16, 32)
    whole = tiles.transpose(0, 2, 1, 3).reshape(-(-m // 16) * 16, -1)
    np.testing.assert_array_equal(whole[:m, :k], x)
    assert not whole[m:].any() and not whole[:, k:].any()


@pytest.mark.parametrize("transposed", [False, True])
@pytest.mark.parametrize("k, n", [(1, 1), (32, 32), (33, 45), (70, 17)])
def test_right_parts_sum_to_the_matrix(k, n, transposed):
    w = numbers(k, n)
    parts = as_float(right(w, transposed))
    tiles = parts.reshape(*parts.shape[:2], 3, 2, 16, 16, 2).sum(axis=2)  # panel, block, half, pair, column, odd
    whole = tiles.transpose(1, 3, 5, 0, 2, 4).reshape(parts.shape[1] * 32, parts.shape[0] * 32)
    np.testing.assert_array_equal(whole[:k, :n], w)
    assert not whole[k:].any() and not whole[:, n:].any()


@needs_unit
@pytest.mark.parametrize("dynamic", [False, True])
@pytest.mark.parametrize("m, k, n", [(1, 1, 1), (16, 32, 32), (17, 33, 45), (33, 300, 70), (70, 600, 31)])
def test_products_are_as_exact_as_f32(m, k, n, dynamic):
    x, w = numbers(m, k), numbers(k, n)
    size = np.abs(x).astype(np.float64) @ np.abs(w).astype(np.float64)
    assert np.max(np.abs(product(x, w, dynamic) - x.astype(np.float64) @ w.astype(np.float64)) / size) < 3e-7


@needs_unit
def test_an_epilogue_sees_each_element_once():
    x, w = numbers(37, 40), numbers(40, 50)

    def epilogue(vector, place):
        return arith.addf(vector, arith.mulf(vector, vector))

    y = x.astype(np.float64) @ w
    np.testing.assert_allclose(product(x, w, epilogue=epilogue), y + y * y, rtol=1e-4, atol=1e-5)


@needs_unit
def test_infinities_nans_and_the_largest_numbers_are_those_of_f32():
    x, w = numbers(20, 40), numbers(40, 33)
    x[0, 3], x[1, 5], x[2, 7], x[3, 1] = np.inf, np.nan, np.finfo(np.float32).max, -np.inf
    w[9, 4] = np.inf
    w[7] = 0.5
    with np.errstate(all="ignore"):
        want, got = x @ w, product(x, w)
    np.testing.assert_allclose(got, want, rtol=1e-5, atol=1e-4)  # equal infinities, equal places of NaN


@needs_unit
def test_a_session_with_few_and_many_rows():
    model = nn.Sequential(nn.Linear(40, 64), nn.GELU(), nn.Linear(64, 33))
    session = model.trace(tensor(numbers(3, 40)), axes=("rows", None)).session(threads=1)
    torch = pytest.importorskip("torch")
    peer = torch.nn.Sequential(torch.nn.Linear(40, 64), torch.nn.GELU(), torch.nn.Linear(64, 33))
    peer.load_state_dict({name: torch.tensor(np.asarray(p.numpy())) for name, p in model.named_parameters()})
    for rows in (0, 1, 16, 17, 50):
        x = numbers(rows, 40)
        np.testing.assert_allclose(session(x), peer(torch.tensor(x)).detach().numpy(), rtol=1e-5, atol=1e-5)


def test_layers_that_read_one_tensor_share_its_parts():
    class Two(nn.Module):
        def __init__(self):
            super().__init__()
            self.first, self.second = nn.Linear(32, 32), nn.Linear(32, 64)

        def forward(self, x):
            return self.first(x), self.second(x)

    traced = Two().trace(tensor(numbers(20, 32)))
    with targets.lowering_for(targets.AMX):
        assert str(lower(traced, until="prepare")).count('name = "split_left"') == 1
        assert "tdpbf16ps" in str(lower(traced, until="loops"))
