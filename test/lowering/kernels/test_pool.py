"""The kernel of max_pool against windows written out in numpy, NaN and infinities included."""
import numpy as np
import pytest

from onemlir.lowering import targets
from onemlir.lowering.kernels import standalone
from onemlir.lowering.kernels.pool import emit_max_pool, PoolShape


def expected(x, kernel, strides, pads, rows, columns):
    padded = np.pad(x, ((0, 0), (0, 0), (pads[0], pads[2]), (pads[1], pads[3])), constant_values=-np.inf)
    windows = np.lib.stride_tricks.sliding_window_view(padded, kernel, axis=(2, 3))[:, :, ::strides[0], ::strides[1]]
    return windows[:, :, :rows, :columns].max(axis=(4, 5))


@pytest.mark.parametrize("size, kernel, strides, pads", [
    ((13, 37), (3, 3), (2, 2), (1, 1, 1, 1)), ((8, 16), (2, 2), (2, 2), (0, 0, 0, 0)), ((5, 3), (3, 3), (1, 1), (1, 1, 1, 1)),
    ((9, 70), (2, 5), (3, 1), (0, 2, 1, 2)), ((1, 1), (3, 3), (2, 2), (1, 1, 1, 1)),
])  # fmt: skip
@pytest.mark.parametrize("target", [targets.AVX512, targets.NEON], ids=lambda t: t.name)
def test_max_pool(size, kernel, strides, pads, target):
    rows, columns = ((s + pads[a] + pads[a + 2] - kernel[a]) // strides[a] + 1 for a, s in enumerate(size))
    shape = PoolShape(*size, kernel, strides, pads)
    assert shape.has_kernel(rows, columns)
    x = standalone.aligned((2, 3, *size))
    x[...] = np.random.default_rng(0).standard_normal(x.shape)
    x[0, 1, 0, 0], x[1, 2, -1, -1], x[1, 1] = np.nan, np.inf, -np.inf
    y = standalone.aligned((2, 3, rows, columns))
    compiled = standalone.compile_kernel(lambda x, y: emit_max_pool(x, y, shape, target), (x.shape, np.float32), (y.shape, np.float32))
    compiled(x, y)
    np.testing.assert_array_equal(y, expected(x, kernel, strides, pads, rows, columns))


def test_a_window_outside_of_the_image_has_no_kernel():
    assert not PoolShape(4, 4, (2, 2), (3, 3), (0, 0, 2, 2)).has_kernel(3, 3)
    assert not PoolShape(4, 4, (3, 3), (3, 3), (0, 0, 0, 0)).has_kernel(1, 1)
