"""Convolutions and pooling, compiled, against the references: one to three axes, groups, dilation, padding on one side."""
import ml_dtypes
import numpy as np
import pytest

WIDE = 50  # sums over a window, in another order


def normal(rng, *shape, dtype=np.float32):
    return rng.standard_normal(shape).astype(dtype)


@pytest.mark.parametrize("axes", ((), ("n", None, "h", "w")), ids=("static", "dynamic"))
def test_conv_2d(agrees, rng, axes):
    x, w, b, v = normal(rng, 2, 4, 7, 9), normal(rng, 6, 2, 3, 2), normal(rng, 6), normal(rng, 5, 4, 3, 3)

    def build(ops, x, w, b, v):
        return (ops.conv(x, w, b, groups=2, stride=(2, 1), padding=(1, 0, 2, 1), dilation=(1, 2)), ops.conv(x, v, padding=1),
                ops.conv(x, v, stride=2), ops.relu(ops.conv(x, w, b, groups=2)))
    more = [(normal(rng, *s), w, b, v) for s in ((1, 4, 9, 5), (3, 4, 3, 3), (0, 4, 5, 6))] if axes else []
    agrees(build, x, w, b, v, axes=[axes], more=more, scale=WIDE)


@pytest.mark.parametrize("axes", ((), ("n", None, "w")), ids=("static", "dynamic"))
def test_conv_1d_and_depthwise(agrees, rng, axes):
    x, w, d, t = normal(rng, 2, 3, 11), normal(rng, 4, 3, 3), normal(rng, 6, 1, 4), normal(rng, 3, 2, 4)

    def build(ops, x, w, d, t):
        return ops.conv(x, w, stride=2, padding=(2, 1), dilation=2), ops.conv(x, d, groups=3), ops.conv_transpose(x, t, groups=3, stride=3)
    more = [(normal(rng, 1, 3, 20), w, d, t)] if axes else []
    agrees(build, x, w, d, t, axes=[axes], more=more, scale=WIDE)


@pytest.mark.parametrize("axes", ((), ("n", None, "h", None)), ids=("static", "dynamic"))
def test_conv_of_a_column(agrees, rng, axes):
    """Images of one pixel's width."""
    x, w, v, d, t = normal(rng, 2, 4, 23, 1), normal(rng, 20, 4, 5, 1), normal(rng, 3, 20, 4, 1), normal(rng, 8, 1, 3, 1), normal(rng, 4, 3, 4, 1)

    def build(ops, x, w, v, d, t):
        y = ops.relu(ops.conv(x, w, padding=(2, 0, 1, 0)))
        return (ops.conv(y, v, padding=(0, 0, 3, 0)), ops.conv(x, w, stride=(2, 1), dilation=(3, 1)), ops.conv(x, d, groups=4),
                ops.conv_transpose(x, t, stride=(3, 1), padding=(1, 0, 0, 0)))
    more = [(normal(rng, 1, 4, 14, 1), w, v, d, t)] if axes else []
    agrees(build, x, w, v, d, t, axes=[axes], more=more, scale=WIDE)


@pytest.mark.parametrize("axes", ((), ("n", None, "d", None, "w")), ids=("static", "dynamic"))
def test_conv_3d(agrees, rng, axes):
    x, w, b, d, g = normal(rng, 2, 4, 5, 4, 6), normal(rng, 20, 4, 2, 3, 2), normal(rng, 20), normal(rng, 4, 1, 3, 3, 3), normal(rng, 6, 2, 3, 1, 2)
    t = normal(rng, 4, 3, 3, 2, 3)

    def build(ops, x, w, b, d, g, t):
        y = ops.relu(ops.conv(x, w, b, padding=(1, 0, 1, 0, 1, 0), stride=(1, 2, 1)))
        return (ops.conv_transpose(y, w, stride=(2, 1, 3), padding=(1, 0, 2, 0, 1, 1)), ops.conv(x, d, groups=4, padding=(1, 1, 0, 2, 1, 0)),
                ops.conv(x, g, groups=2, dilation=(2, 1, 3), padding=(2, 0, 0, 1, 0, 2)), ops.conv_transpose(x, t, stride=2, output_padding=(1, 0, 1)))
    more = [(normal(rng, 1, 4, 3, 4, 9), w, b, d, g, t)] if axes else []
    agrees(build, x, w, b, d, g, t, axes=[axes], more=more, scale=WIDE)


@pytest.mark.parametrize("axes", ((), ("n", None, None, None, "w"), ("n", None, "d", "h", None)), ids=str)
@pytest.mark.parametrize("kernel", ((1, 1, 1), (3, 1, 1), (1, 3, 2), (1, 1, 3)), ids=str)
def test_axes_of_one_tap(agrees, rng, axes, kernel):
    """Axes along which each output reads one place are one axis with their neighbours, or images, where at most one size of them is symbolic."""
    x, w, b, v = normal(rng, 2, 5, 4, 3, 7), normal(rng, 18, 5, *kernel), normal(rng, 18), normal(rng, 5, 18, 1, 1, 1)
    padding = tuple(k // 2 for k in kernel)

    def build(ops, x, w, b, v):
        y = ops.relu(ops.conv(x, w, b, padding=padding + padding))
        return ops.conv(y, v), ops.conv(x, w, stride=(2, 1, 1)), ops.conv_transpose(y, w)
    agrees(build, x, w, b, v, axes=[axes], more=[(normal(rng, 1, 5, 3, 3, 7), w, b, v)] if axes and axes[2] else [], scale=WIDE)


@pytest.mark.parametrize("dtype", (np.float64, np.float16, ml_dtypes.bfloat16, np.int32), ids=lambda d: np.dtype(d).name)
def test_conv_dtypes(agrees, rng, dtype):
    """Narrow floats are summed in f32; integers wrap."""
    make = (lambda *s: rng.integers(-2**31, 2**31 - 1, s, dtype)) if dtype == np.int32 else (lambda *s: normal(rng, *s, dtype=dtype))
    x, w, v, d = make(1, 20, 5, 6), make(20, 20, 3, 3), make(20, 20, 1, 1), make(20, 1, 3, 3)

    def build(ops, x, w, v, d, b):
        return (ops.conv(x, w, b, padding=1), ops.conv(ops.conv(x, v), d, groups=20), ops.conv(x, d, groups=20), ops.conv(x, v),
                ops.conv_transpose(x, w, stride=2))
    agrees(build, x, w, v, d, make(20), scale=WIDE)


@pytest.mark.parametrize("rank", (1, 3))
def test_conv_dtypes_of_other_ranks(agrees, rng, rank):
    for dtype in (np.float64, np.float16, np.int16):
        make = (lambda *s: rng.integers(-100, 100, s, dtype)) if dtype == np.int16 else (lambda *s: normal(rng, *s, dtype=dtype))
        x, w = make(1, 3, *(4, 5, 3)[:rank]), make(3, 3, *(2, 3, 2)[:rank])
        agrees(lambda ops, x, w: (ops.conv(x, w, padding=1), ops.conv_transpose(x, w, stride=2)), x, w, scale=WIDE)


@pytest.mark.parametrize("axes", ((), ("n", None, "h", "w")), ids=("static", "dynamic"))
def test_conv_transpose(agrees, rng, axes):
    """Padding beyond the kernel's reach cuts off what the input's ends add."""
    x, w, b = normal(rng, 2, 4, 5, 6), normal(rng, 4, 3, 3, 2), normal(rng, 6)

    def build(ops, x, w, b):
        return (ops.conv_transpose(x, w, b, groups=2, stride=(2, 3), padding=(1, 0, 2, 1), dilation=(1, 2), output_padding=(1, 0)),
                ops.conv_transpose(x, w, stride=2, padding=3, groups=2))
    more = [(normal(rng, 1, 4, 7, 4), w, b)] if axes else []
    agrees(build, x, w, b, axes=[axes], more=more, scale=WIDE)


@pytest.mark.parametrize("axes", ((), ("n", None, "h", "w")), ids=("static", "dynamic"))
def test_pooling(agrees, rng, axes):
    x = normal(rng, 2, 3, 7, 9)
    x[0, 0, 1, 2], x[1] = np.nan, -np.inf

    def build(ops, x):
        partial = {"stride": 2, "padding": 1, "ceil_mode": True}
        return (ops.max_pool(x, 3, **partial), *ops.max_pool_with_indices(x, (3, 2), **partial), *ops.max_pool_with_indices(x, 2),
                ops.avg_pool(x, 3, count_include_pad=False, **partial), ops.avg_pool(x, 3, **partial), ops.avg_pool(x, 2, divisor=3, dilation=2))
    more = [(normal(rng, *s),) for s in ((1, 3, 4, 5), (2, 3, 3, 3))] if axes else []
    agrees(build, x, axes=[axes], more=more, scale=4)


@pytest.mark.parametrize("dtype", (np.float32, np.float64, ml_dtypes.bfloat16), ids=lambda d: np.dtype(d).name)
def test_pooling_between_convolutions(agrees, rng, dtype):
    """Of two and three axes, alone and with the channels last; f16 and bf16 are compared as f32."""
    x, y, v, w = normal(rng, 1, 17, 6, 7, dtype=dtype), normal(rng, 1, 3, 4, 5, 6, dtype=dtype), normal(rng, 17, 17, 1, 1, dtype=dtype), normal(rng, 4, 3, 2, 1, 1, dtype=dtype)
    x[0, 0, 1, 2] = np.nan

    def build(ops, x, y, v, w):
        options = {"stride": 2, "padding": 1}
        planes, volumes = ops.max_pool(ops.conv(x, v), 3, **options), ops.max_pool(ops.conv(y, w), (2, 3, 2), **options)
        return (ops.max_pool(x, 3, **options), ops.max_pool(y, 3, **options), ops.conv(planes, v),
                ops.max_pool(volumes, 2), ops.avg_pool(volumes, 2), ops.avg_pool(x, 3, **options),
                ops.conv(ops.avg_pool(ops.conv(x, v), 3, count_include_pad=False, **options), v))
    agrees(build, x, y, v, w, scale=WIDE)


@pytest.mark.parametrize("dtype", (np.float16, ml_dtypes.bfloat16, np.int8, np.uint8), ids=lambda d: np.dtype(d).name)
def test_pooling_dtypes(agrees, rng, dtype):
    """The padding of integers is their smallest number."""
    x = (rng.standard_normal((2, 9)) * 50).astype(np.int8).astype(dtype)

    def build(ops, x):
        average = [] if np.dtype(dtype).kind in "iu" else [ops.avg_pool(x, (3,), stride=2)]
        return [ops.max_pool(x, (3,), padding=1), *ops.max_pool_with_indices(x, (3,), stride=2, padding=1), *average]
    agrees(build, x)
