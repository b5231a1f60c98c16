"""Products against numpy: odd sizes, known and not, every layout of B, dtypes, epilogues."""

import ml_dtypes
import numpy as np
import pytest

mlir = pytest.importorskip("mlir.ir")

from mlir import ir  # noqa: E402
from mlir.dialects import arith  # noqa: E402
from onemlir.lowering import targets  # noqa: E402
from onemlir.lowering.kernels import MatmulShape, emit_matmul, emit_pack_b, panel_width  # noqa: E402
from onemlir.lowering.kernels.pack import accumulator_type  # noqa: E402
from onemlir.lowering.kernels.standalone import compile_kernel, memref_type  # noqa: E402

SIZES = [1, 2, 3, 5, 16, 17, 33]
random = np.random.default_rng(0)


def data(shape, dtype="float32"):
    if np.dtype(dtype).kind in "iu":
        return random.integers(0 if np.dtype(dtype).kind == "u" else -128, 127, shape).astype(dtype)
    return random.standard_normal(shape).astype(dtype)


def guarded(shape, dtype="float32"):
    """An array with a border of marks on both sides, and the check that they are untouched."""
    size = int(np.prod(shape))
    whole = np.full(size + 128, 77, dtype)

    def untouched():
        assert (whole[:64] == 77).all() and (whole[size + 64 :] == 77).all()

    return whole[64 : size + 64].reshape(shape), untouched


def pack(w, width):
    *lead, k, n = w.shape
    panels = -(-n // width)
    padded = np.zeros((*lead, k, panels * width), w.dtype)
    padded[..., :n] = w
    return np.ascontiguousarray(np.moveaxis(padded.reshape(*lead, k, panels, width), -2, -3))


def width_of(n, dtype, target):
    with ir.Context(), ir.Location.unknown():
        return panel_width(n, accumulator_type(memref_type((1,), dtype).element_type), target)


def compiled(m, n, k, target=None, dtype="float32", out=None, epilogue=None, extra=(), **options):
    """A kernel of (a, b, *extra, c); None is a dynamic size."""
    target = target or targets.host()
    shape = MatmulShape(m, n, k, **options)
    lead = (None,) * shape.batch
    width = width_of(n, dtype, target)
    layouts = {"packed": (None if n is None else -(-n // width), k, width), "rows": (k, n), "columns": (n, k)}

    def body(a, b, *rest):
        make = epilogue(*rest[:-1]) if epilogue else None
        emit_matmul(a, b, rest[-1], shape, make, target)

    a = (*lead, k, m) if shape.a_transposed else (*lead, m, k)
    a_dtype = "uint8" if shape.a_unsigned else dtype
    arguments = [(a, a_dtype), ((*lead, *layouts[shape.b]), dtype), *extra, ((*lead, m, n), out or dtype)]
    with targets.lowering_for(target):
        return compile_kernel(body, *arguments), width


def check(got, want, tolerance=1e-4):
    np.testing.assert_allclose(got.astype(np.float64), want, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("name", ["avx512", "avx2", "neon", "sse2"])
def test_dynamic_sizes_of_every_target_table(name):
    target = targets.TARGETS[name]
    kernel, width = compiled(None, None, None, target)
    for m in SIZES:
        for n in [*SIZES, 70]:
            for k in [0, 1, 3, 17, 600]:
                a, w = data((m, k)), data((k, n))
                c, untouched = guarded((m, n))
                kernel(a, pack(w, width), c)
                untouched()
                check(c, a.astype(float) @ w, 1e-3)


@pytest.mark.parametrize(
    "m, n, k", [(1, 1, 1), (2, 17, 3), (33, 5, 16), (17, 33, 33), (64, 70, 100), (300, 40, 1100), (16, 16, 2), (5, 0, 3), (0, 5, 3), (31, 70, 1024), (300, 300, 2048)]
)
def test_known_sizes(m, n, k):
    kernel, width = compiled(m, n, k)
    a, w = data((m, k)), data((k, n))
    c, untouched = guarded((m, n))
    kernel(a, pack(w, width), c)
    untouched()
    check(c, a.astype(float) @ w, 1e-3)


@pytest.mark.parametrize("layout", ["rows", "columns"])
@pytest.mark.parametrize("known", [True, False])
def test_batch_of_unpacked_products(layout, known):
    for m, n, k in [(3, 17, 5), (33, 33, 600), (9, 200, 33)]:
        sizes = (m, n, k) if known else (None, None, None)
        kernel, _ = compiled(*sizes, b=layout, batch=2)
        a, w = data((2, 3, m, k)), data((2, 3, k, n))
        c, untouched = guarded((2, 3, m, n))
        kernel(a, np.ascontiguousarray(w.swapaxes(-1, -2)) if layout == "columns" else w, c)
        untouched()
        check(c, a.astype(float) @ w, 1e-3)


def test_transposed_a():
    kernel, width = compiled(None, None, None, a_transposed=True)
    a, w = data((17, 33)), data((17, 50))
    c, untouched = guarded((33, 50))
    kernel(a, pack(w, width), c)
    untouched()
    check(c, a.T.astype(float) @ w)


@pytest.mark.parametrize("dtype, tolerance", [("float64", 1e-12), ("float16", 2e-2), (ml_dtypes.bfloat16, 5e-2)])
@pytest.mark.parametrize("sizes", [(7, 33, 40), (None, None, None)])
def test_other_floats(dtype, tolerance, sizes):
    kernel, width = compiled(*sizes, dtype=dtype)
    for k in (40,) if sizes[2] else (40, 1100):
        a, w = data((7, k), dtype), data((k, 33), dtype)
        c = np.zeros((7, 33), dtype)
        kernel(a, pack(w, width), c)
        want = a.astype(float) @ w.astype(float)
        assert np.abs(c.astype(float) - want).max() <= tolerance * np.abs(want).max()


@pytest.mark.parametrize("unsigned", [True, False])
def test_integers(unsigned):
    kernel, width = compiled(None, None, None, dtype="int8", out="int32", a_unsigned=unsigned)
    a, w = data((5, 700), "uint8" if unsigned else "int8"), data((700, 37), "int8")
    c = np.zeros((5, 37), "int32")
    kernel(a, pack(w, width), c)
    assert (c == a.astype(int) @ w.astype(int)).all()


@pytest.mark.parametrize("k", [33, 1100])
def test_epilogue_adds_bias_and_residual(k):
    def epilogue(bias, residual):
        return lambda vec, place: arith.addf(arith.addf(vec, place.operand(bias, [1])), place.operand(residual, [0, 1]))

    extra = (((37,), "float32"), ((None, 37), "float32"))
    kernel, width = compiled(None, 37, k, epilogue=epilogue, extra=extra)
    a, w, bias, residual = data((19, k)), data((k, 37)), data(37), data((19, 37))
    c = np.zeros((19, 37), "float32")
    kernel(a, pack(w, width), bias, residual, c)
    check(c, a.astype(float) @ w + bias + residual, 1e-3)


def test_a_row_does_not_depend_on_its_neighbours():
    """NaN and infinity stay in their row and column: padding leaks nothing."""
    kernel, width = compiled(None, None, None)
    a, w = data((5, 9)), data((9, 33))
    a[1, 2], a[3, 3], w[4, 32] = np.nan, np.inf, np.inf
    c = np.zeros((5, 33), "float32")
    kernel(a, pack(w, width), c)
    want = a @ w
    np.testing.assert_array_equal(np.isnan(c), np.isnan(want))
    np.testing.assert_array_equal(np.isinf(c), np.isinf(want))


@pytest.mark.parametrize("transposed", [True, False])
@pytest.mark.parametrize("sizes", [(7, 33), (None, None), (20, 5), (3, 64)])
def test_packing(transposed, sizes):
    k, n = sizes
    target = targets.host()
    width = width_of(n, "float32", target)
    source = (n, k) if transposed else (k, n)
    kernel = compile_kernel(lambda s, p: emit_pack_b(s, p, transposed), (source, "float32"), ((None, None, width), "float32"))
    k, n = k or 40, n or 70
    w = data((k, n))
    packed, untouched = guarded((-(-n // width), k, width))
    kernel(np.ascontiguousarray(w.T) if transposed else w, packed)
    untouched()
    np.testing.assert_array_equal(packed, pack(w, width))
