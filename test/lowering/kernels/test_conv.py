"""Convolutions against a numpy loop: strides, pads, dilations, groups, layouts, known and unknown sizes."""

import numpy as np
import pytest

pytest.importorskip("mlir.ir")

from mlir import ir  # noqa: E402
from mlir.dialects import arith  # noqa: E402
from onemlir.lowering import targets  # noqa: E402
from onemlir.lowering.kernels import ConvShape, conv_strategy, emit_conv, emit_pack_filter, packed_filter_shape, scratch_shape  # noqa: E402
from onemlir.lowering.kernels.standalone import compile_kernel  # noqa: E402

random = np.random.default_rng(0)


def data(*shape):
    return random.standard_normal(shape).astype("float32")


def reference(x, w, shape):
    """Taps outside the image are left out, so nothing is multiplied by a padding zero."""
    images = x.shape[0]
    per_group, channels = shape.filters // shape.groups, shape.channels // shape.groups
    height, width = x.shape[2:]
    sized = ConvShape(**{**vars(shape), "height": height, "width": width})
    y = np.zeros((images, shape.filters, *sized.output_size()))
    for oy, ox in np.ndindex(*y.shape[2:]):
        for ky, kx in np.ndindex(*shape.kernel):
            iy = oy * shape.strides[0] - shape.pads[0] + ky * shape.dilations[0]
            ix = ox * shape.strides[1] - shape.pads[1] + kx * shape.dilations[1]
            if 0 <= iy < height and 0 <= ix < width:
                for g in range(shape.groups):
                    f = slice(g * per_group, (g + 1) * per_group)
                    y[:, f, oy, ox] += x[:, g * channels : (g + 1) * channels, iy, ix].astype(float) @ w[f, :, ky, kx].astype(float).T
    return y


def blocked(x, lanes):
    n, c, h, w = x.shape
    return np.ascontiguousarray(x.reshape(n, c // lanes, lanes, h, w).transpose(0, 1, 3, 4, 2))


def unblocked(x):
    n, c, h, w, lanes = x.shape
    return np.ascontiguousarray(x.transpose(0, 1, 4, 2, 3).reshape(n, c * lanes, h, w))


class Conv:
    """A compiled convolution and its filter packing. `images` None is a dynamic batch."""

    def __init__(self, shape, images=None, target=None, epilogue=None, extra=()):
        self.shape, self.target = shape, target or targets.host()
        self.lanes = self.target.lanes(32)
        with ir.Context(), ir.Location.unknown():
            self.packed = packed_filter_shape(shape, ir.F32Type.get(), self.target)
        w = (shape.filters, shape.channels // shape.groups, *shape.kernel)
        packed = self.packed or w
        if self.packed:
            self.pack = compile_kernel(lambda f, p: emit_pack_filter(f, p, shape, self.target), (w, "float32"), (packed, "float32"))

        def body(x, f, *rest):
            emit_conv(x, f, rest[-1], shape, epilogue(*rest[:-1]) if epilogue else None, self.target)

        arguments = [self._type(images, shape.channels, (shape.height, shape.width), shape.layout_in), (packed, "float32"), *extra]
        self.kernel = compile_kernel(body, *arguments, self._type(images, shape.filters, shape.output_size(), shape.layout_out))

    def _type(self, images, channels, size, layout):
        sizes = (images, channels, *size) if layout == "nchw" else (images, channels // self.lanes, *size, self.lanes)
        return sizes, "float32"

    def __call__(self, x, w, *extra):
        shape = ConvShape(**{**vars(self.shape), "height": x.shape[2], "width": x.shape[3]})
        filter = w
        if self.packed:
            filter = np.full(self.packed, np.nan, "float32")
            self.pack(w, filter)
        y = np.full((x.shape[0], shape.filters, *shape.output_size()), np.nan, "float32")
        if shape.layout_out == "blocked":
            y = blocked(y, self.lanes)
        self.kernel(blocked(x, self.lanes) if shape.layout_in == "blocked" else x, filter, *extra, y)
        return unblocked(y) if shape.layout_out == "blocked" else y


def check(shape, size=None, images=2, target=None, **options):
    size = size or (shape.height, shape.width)
    conv = Conv(shape, target=target, **options)
    x, w = data(images, shape.channels, *size), data(shape.filters, shape.channels // shape.groups, *shape.kernel)
    np.testing.assert_allclose(conv(x, w), reference(x, w, shape), rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("channels, filters, size, kernel, options", [
    (3, 5, (8, 9), (3, 3), dict(pads=(1, 1, 1, 1))),
    (4, 40, (7, 7), (3, 3), dict(pads=(1, 1, 1, 1))),
    (2, 32, (20, 30), (3, 3), dict(pads=(1, 1, 1, 1))),
    (3, 20, (17, 33), (7, 7), dict(pads=(3, 3, 3, 3), strides=(2, 2))),
    (5, 17, (16, 5), (2, 3), dict(pads=(0, 2, 1, 0), strides=(2, 1))),
    (3, 33, (12, 13), (3, 3), dict(pads=(2, 2, 2, 2), dilations=(2, 2))),
    (3, 33, (12, 13), (3, 2), dict(pads=(4, 0, 0, 5), dilations=(3, 2), strides=(1, 2))),
    (6, 9, (5, 6), (3, 3), dict(pads=(1, 1, 1, 1), groups=3)),
    (8, 80, (9, 4), (1, 3), dict(groups=2)),
    (2, 3, (1, 1), (3, 3), dict(pads=(1, 1, 1, 1))),
    (2, 3, (3, 3), (3, 3), {}),
    (2, 3, (2, 40), (1, 5), dict(pads=(0, 4, 0, 4))),
    (2, 3, (6, 300), (3, 3), dict(pads=(1, 1, 1, 1))),
    (16, 33, (7, 7), (1, 1), {}),
    (16, 33, (4, 8), (1, 1), {}),
    (16, 33, (5, 17), (1, 1), {}),
    (16, 33, (6, 7), (1, 1), dict(strides=(2, 2))),
    (35, 20, (1, 1), (1, 1), {}),
])  # fmt: skip
@pytest.mark.parametrize("name", ["avx512", "avx2"])
def test_known_sizes(channels, filters, size, kernel, options, name):
    check(ConvShape(channels, filters, *size, kernel, **options), target=targets.TARGETS[name])


@pytest.mark.parametrize("kernel, options", [
    ((3, 3), dict(pads=(1, 1, 1, 1))),
    ((3, 3), dict(pads=(1, 0, 2, 1), strides=(2, 2))),
    ((3, 3), dict(pads=(3, 3, 3, 3), dilations=(3, 3))),
    ((2, 5), dict(strides=(1, 2))),
    ((1, 1), {}),
])  # fmt: skip
def test_unknown_sizes(kernel, options):
    shape = ConvShape(4, 20, None, None, kernel, **options)
    conv = Conv(shape)
    for size in [(7, 9), (8, 8), (5, 40), (9, 300), (20, 16)]:
        x, w = data(2, 4, *size), data(20, 4, *kernel)
        np.testing.assert_allclose(conv(x, w), reference(x, w, shape), rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("layout_in", ["nchw", "blocked"])
@pytest.mark.parametrize("kernel, size", [((3, 3), (7, 7)), ((3, 3), (10, 20)), ((1, 1), (6, 10))])
def test_blocked_layouts(layout_in, kernel, size):
    pads = (kernel[0] // 2,) * 4
    for filters in (48, 16):
        check(ConvShape(32, filters, *size, kernel, pads=pads, layout_in=layout_in, layout_out="blocked"))
    check(ConvShape(32, 20, *size, kernel, pads=pads, layout_in="blocked"))


def test_many_channels_are_summed_in_blocks():
    """Small caches, so that the sums go through the stash several times."""
    target = targets.Target("small", 256, 16, rows=6, vectors=2, level2=16 << 10)
    check(ConvShape(50, 20, 6, 6, (3, 3), pads=(1, 1, 1, 1)), target=target)
    check(ConvShape(64, 20, 6, 6, (3, 3), pads=(1, 1, 1, 1), layout_in="blocked"), target=target)


@pytest.mark.parametrize("size, kernel", [((9, 10), (3, 3)), ((4, 4), (1, 1)), ((1, 1), (1, 1)), ((7, 7), (1, 1))])
@pytest.mark.parametrize("layout", ["nchw", "blocked"])
def test_epilogue_adds_bias_and_residual(size, kernel, layout):
    pads = (kernel[0] // 2,) * 4
    shape = ConvShape(16, 48, *size, kernel, pads=pads, layout_in=layout, layout_out=layout)
    lanes = targets.host().lanes(32)
    axes = ([1], [0, 1, 2, 3]) if layout == "nchw" else ([1, 4], [0, 1, 2, 3, 4])

    def epilogue(bias, residual):
        return lambda vec, place: arith.addf(arith.addf(vec, place.operand(bias, axes[0])), place.operand(residual, axes[1]))

    x, w, bias, residual = data(2, 16, *size), data(48, 16, *kernel), data(48), data(2, 48, *size)
    want = reference(x, w, shape) + bias.reshape(1, -1, 1, 1) + residual
    extra = (bias, residual) if layout == "nchw" else (bias.reshape(-1, lanes), blocked(residual, lanes))
    conv = Conv(shape, epilogue=epilogue, extra=[(e.shape, "float32") for e in extra])
    np.testing.assert_allclose(conv(x, w, *extra), want, rtol=1e-4, atol=1e-4)


def test_epilogue_follows_one_spatial_axis():
    shape = ConvShape(2, 5, 6, 7, (3, 3), pads=(1, 1, 1, 1))
    conv = Conv(
        shape, epilogue=lambda rows: lambda vec, place: arith.addf(vec, place.operand(rows, [0, None, 3])), extra=[((2, 1, 7), "float32")]
    )
    x, w, rows = data(2, 2, 6, 7), data(5, 2, 3, 3), data(2, 1, 7)
    np.testing.assert_allclose(conv(x, w, rows), reference(x, w, shape) + rows[:, :, None, :], rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("size", [(6, 9), (None, None)])
def test_padding_is_left_out_and_lanes_do_not_mix(size):
    """An infinite weight on a tap outside the image is not read; NaN stays in its filter."""
    shape = ConvShape(2, 20, *size, (3, 3), pads=(1, 1, 1, 1))
    x, w = data(1, 2, 6, 9), data(20, 2, 3, 3)
    w[3, 0, 0, 0], w[19, 1, 1, 1] = np.inf, np.nan
    got, want = Conv(shape)(x, w), reference(x, w, shape)
    np.testing.assert_array_equal(np.isnan(got), np.isnan(want))
    np.testing.assert_array_equal(np.isinf(got), np.isinf(want))


def test_strategies():
    def strategy(*shape, **options):
        return conv_strategy(ConvShape(*shape, **options), targets.AVX512)

    assert strategy(64, 64, 56, 56, (1, 1)) == "planes"
    assert strategy(64, 64, 7, 7, (1, 1)) == "pixels"
    assert strategy(64, 64, 1, 1, (1, 1)) == "rows"
    assert strategy(64, 64, 56, 56, (1, 1), strides=(2, 2)) == "pixels"
    assert strategy(64, 64, 56, 56, (3, 3), groups=64) == "depthwise"


@pytest.mark.parametrize("size", [(7, 7), (9, 40), (14, 14), (5, 33), (1, 1), (3, 70)])
@pytest.mark.parametrize("options", [
    dict(pads=(1, 1, 1, 1)),
    dict(pads=(1, 1, 1, 1), strides=(2, 2)),
    dict(pads=(0, 1, 1, 0), strides=(2, 2)),
    dict(pads=(2, 2, 2, 2), dilations=(2, 2)),
    dict(pads=(1, 1, 1, 1), strides=(3, 3)),
])  # fmt: skip
@pytest.mark.parametrize("known", [True, False])
def test_depthwise_planes(size, options, known):
    check(ConvShape(3, 3, *(size if known else (None, None)), (3, 3), groups=3, **options), size)


@pytest.mark.parametrize(
    "options", [dict(pads=(1, 1, 1, 1)), dict(pads=(2, 2, 2, 2), strides=(2, 2)), dict(pads=(2, 2, 2, 2), dilations=(2, 2))]
)
@pytest.mark.parametrize("known", [True, False])
def test_depthwise_blocked(options, known):
    for size in [(7, 7), (9, 20), (1, 1)]:
        shape = ConvShape(
            32, 32, *(size if known else (None, None)), (3, 3), groups=32, layout_in="blocked", layout_out="blocked", **options
        )
        check(shape, size)


def test_depthwise_of_other_kernels_and_targets():
    check(ConvShape(4, 4, 9, 12, (5, 5), pads=(2, 2, 2, 2), groups=4))
    check(ConvShape(4, 4, 9, 12, (1, 3), groups=4), target=targets.AVX2)
    check(ConvShape(16, 16, 9, 12, (5, 5), pads=(2, 2, 2, 2), groups=16, layout_in="blocked", layout_out="blocked"), target=targets.AVX2)


@pytest.mark.parametrize("channels, filters, size, pad, images", [
    (16, 40, (17, 23), 1, 1),
    (16, 48, (30, 66), 0, 2),
    (20, 33, (28, 28), 2, 2),
    (16, 64, (16, 56), 1, 1),
])  # fmt: skip
@pytest.mark.parametrize("name", ["avx512", "avx2"])
def test_winograd(channels, filters, size, pad, images, name):
    target = targets.TARGETS[name]
    shape = ConvShape(channels, filters, *size, (3, 3), pads=(pad,) * 4, winograd=True)
    assert conv_strategy(shape, target) == "winograd"
    with ir.Context(), ir.Location.unknown():
        packed = packed_filter_shape(shape, ir.F32Type.get(), target)
    w, x, bias = data(filters, channels, 3, 3), data(images, channels, *size), data(filters)
    filter, y = np.full(packed, np.nan, "float32"), np.full((images, filters, *shape.output_size()), np.nan, "float32")
    compile_kernel(lambda f, p: emit_pack_filter(f, p, shape, target), (w.shape, "float32"), (packed, "float32"))(w, filter)
    scratch = np.full(scratch_shape(shape, images, target), np.nan, "float32")

    def body(x, f, bias, scratch, y):
        emit_conv(x, f, y, shape, lambda vec, place: arith.addf(vec, place.operand(bias, [1])), target, scratch)

    arrays = (x, filter, bias, scratch, y)
    compile_kernel(body, *[(array.shape, "float32") for array in arrays])(*arrays)
    want = reference(x, w, shape) + bias.reshape(1, -1, 1, 1)
    assert np.abs(y - want).max() < 3e-5 * np.abs(want).max()


def test_winograd_only_where_it_pays():
    assert conv_strategy(ConvShape(512, 512, 7, 7, (3, 3), pads=(1, 1, 1, 1), winograd=True), targets.AVX512) == "pixels"
    assert conv_strategy(ConvShape(64, 64, 56, 56, (3, 3), strides=(2, 2), winograd=True), targets.AVX512) == "pixels"
