"""The kernels of pooling against windows written out in numpy, NaN and infinities included."""
from dataclasses import replace
from functools import partial

import numpy as np
import pytest

from onemlir.lowering import targets
from onemlir.lowering.kernels import standalone
from onemlir.lowering.kernels.pool import emit_pool, PoolShape


def expected(x, shape, out):
    rank = len(shape.size)
    outside = -np.inf if shape.divisor is None else 0
    padded = np.pad(x.astype(np.float64), ((0, 0), (0, 0), *zip(shape.pads[:rank], shape.pads[rank:])), constant_values=outside)
    windows = np.lib.stride_tricks.sliding_window_view(padded, shape.kernel, axis=tuple(range(2, 2 + rank)))
    windows = windows[(..., *(slice(0, count * step, step) for count, step in zip(out, shape.strides)), *[slice(None)] * rank)]
    axes = tuple(range(2 + rank, 2 + 2 * rank))
    return windows.max(axis=axes) if shape.divisor is None else windows.sum(axis=axes) / shape.divisor


@pytest.mark.parametrize("size, kernel, strides, pads, dtype", [
    ((13, 37), (3, 3), (2, 2), (1, 1, 1, 1), "f4"), ((8, 16), (2, 2), (2, 2), (0, 0, 0, 0), "f8"), ((5, 3), (3, 3), (1, 1), (1, 1, 1, 1), "f4"),
    ((9, 70), (2, 5), (3, 1), (0, 2, 1, 2), "f2"), ((1, 1), (3, 3), (2, 2), (1, 1, 1, 1), "f4"),
    ((4, 5, 19), (2, 3, 2), (2, 1, 2), (1, 0, 0, 0, 2, 1), "f4"), ((3, 2, 5), (3, 2, 3), (1, 2, 1), (1, 0, 1, 1, 0, 1), "f2"),
])  # fmt: skip
@pytest.mark.parametrize("target", [targets.AVX512, targets.NEON], ids=lambda t: t.name)
@pytest.mark.parametrize("layout", ["nchw", "nhwc"])
@pytest.mark.parametrize("divisor", [None, 6])
def test_pool(size, kernel, strides, pads, dtype, target, layout, divisor):
    rank = len(size)
    out = tuple((s + pads[a] + pads[a + rank] - kernel[a]) // strides[a] + 1 for a, s in enumerate(size))
    shape = PoolShape(size, kernel, strides, pads, divisor, not any(pads))
    assert shape.has_kernel(out)
    x = np.random.default_rng(0).standard_normal((2, 19, *size)).astype(dtype)
    x[(0, 1, *[0] * rank)], x[(1, 2, *[-1] * rank)], x[1, 1] = np.nan, np.inf, -np.inf
    near = partial(np.testing.assert_allclose, rtol=1e-3, atol=1e-3 if dtype == "f2" else 1e-6)
    check = np.testing.assert_array_equal if divisor is None else near
    arrange = (lambda a: np.ascontiguousarray(np.moveaxis(a, 1, -1))) if layout == "nhwc" else (lambda a: a)
    y = arrange(np.zeros((2, 19, *out), dtype))
    want = arrange(expected(x, shape, out)).astype(dtype)
    emitter = lambda x, y: emit_pool(x, y, shape, target, layout)
    standalone.compile_kernel(emitter, (arrange(x).shape, dtype), (y.shape, dtype))(arrange(x), y)
    check(y, want)
    if layout == "nhwc":
        y[...], shape, given = 0, replace(shape, size=(None,) * rank), arrange(x)
        sizes = [((None, *[None] * rank, 19), dtype)] * 2
        standalone.compile_kernel(emitter, *sizes)(given, y)
        check(y, want)


def test_a_window_outside_of_the_image_has_no_kernel():
    assert not PoolShape((4, 4), (2, 2), (3, 3), (0, 0, 2, 2)).has_kernel((3, 3))
    assert not PoolShape((4, 4), (3, 3), (3, 3), (0, 0, 0, 0)).has_kernel((1, 1))
