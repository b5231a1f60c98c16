"""Convolutions against a numpy loop: strides, pads, dilations, groups, layouts, known and unknown sizes."""

from dataclasses import replace

import numpy as np
import pytest

pytest.importorskip("mlir.ir")

from mlir import ir  # noqa: E402
from mlir.dialects import arith  # noqa: E402
from onemlir.lowering import targets  # noqa: E402
from onemlir.lowering.kernels import ConvShape, conv_strategy, emit_conv, emit_pack_filter, packed_filter_shape, rolls_epilogue, scratch_shape, winograd_size  # noqa: E402
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


def arranged(x, layout):
    """An [n, c, h, w] array in a layout."""
    return np.ascontiguousarray(x.transpose(0, 2, 3, 1)) if layout == "nhwc" else x


class Conv:
    """A compiled convolution and its filter packing. `images` None is a dynamic batch."""

    def __init__(self, shape, images=None, target=None, epilogue=None, extra=(), rolled=False):
        self.shape, self.target = shape, target or targets.host()
        with ir.Context(), ir.Location.unknown():
            self.packed = packed_filter_shape(shape, ir.F32Type.get(), self.target)
        w = (shape.filters, shape.channels // shape.groups, *shape.kernel)
        packed = self.packed or w
        if self.packed:
            self.pack = compile_kernel(lambda f, p: emit_pack_filter(f, p, conv_strategy(shape, self.target)), (w, "float32"), (packed, "float32"))

        def body(x, f, *rest):
            emit_conv(x, f, rest[-1], shape, epilogue(*rest[:-1]) if epilogue else None, self.target, rolled=rolled)

        packed = packed if conv_strategy(shape, self.target) != "planes" else w
        arguments = [self._type(images, shape.channels, (shape.height, shape.width), shape.layout_in), (packed, "float32"), *extra]
        with targets.lowering_for(self.target):
            self.kernel = compile_kernel(body, *arguments, self._type(images, shape.filters, shape.output_size(), shape.layout_out))

    def _type(self, images, channels, size, layout):
        sizes = (images, channels, *size) if layout == "nchw" else (images, *size, channels)
        return sizes, "float32"

    def __call__(self, x, w, *extra):
        shape = ConvShape(**{**vars(self.shape), "height": x.shape[2], "width": x.shape[3]})
        filter = w
        if self.packed:
            filter = np.full(self.packed, np.nan, "float32")
            self.pack(w, filter)
        y = np.full((x.shape[0], shape.filters, *shape.output_size()), np.nan, "float32")
        y = arranged(y, shape.layout_out)
        self.kernel(arranged(x, shape.layout_in), filter, *extra, y)
        return y.transpose(0, 3, 1, 2) if shape.layout_out == "nhwc" else y


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


LAYOUTS = [("nchw", "nhwc"), ("nhwc", "nchw"), ("nhwc", "nhwc")]


@pytest.mark.parametrize("channels, filters, size, kernel, options", [
    (32, 48, (7, 7), (3, 3), dict(pads=(1, 1, 1, 1))),
    (5, 20, (10, 20), (3, 3), dict(pads=(1, 1, 1, 1), strides=(2, 2))),
    (6, 10, (9, 5), (2, 3), dict(pads=(0, 2, 1, 0), dilations=(1, 2))),
    (17, 40, (6, 10), (1, 1), {}),
    (12, 10, (5, 17), (1, 1), dict(strides=(2, 2))),
    (6, 9, (5, 6), (3, 3), dict(pads=(1, 1, 1, 1), groups=3)),
    (40, 80, (9, 4), (1, 3), dict(groups=2)),
])  # fmt: skip
def test_channels_last(channels, filters, size, kernel, options):
    check(ConvShape(channels, filters, *size, kernel, layout_in="nhwc", layout_out="nhwc", **options))


@pytest.mark.parametrize("layouts", LAYOUTS[:2])
def test_layouts_that_differ(layouts):
    check(ConvShape(5, 40, 10, 20, (3, 3), pads=(1, 1, 1, 1), strides=(2, 2), layout_in=layouts[0], layout_out=layouts[1]))


@pytest.mark.parametrize("layouts", LAYOUTS)
def test_unknown_sizes_in_layouts(layouts):
    shape = ConvShape(4, 20, None, None, (3, 3), pads=(1, 0, 2, 1), strides=(1, 2), layout_in=layouts[0], layout_out=layouts[1])
    conv = Conv(shape)
    for size in [(7, 9), (5, 40), (20, 16)]:
        x, w = data(2, 4, *size), data(20, 4, 3, 3)
        np.testing.assert_allclose(conv(x, w), reference(x, w, shape), rtol=1e-4, atol=1e-4)


def test_many_channels_are_summed_in_blocks():
    """Small caches, so that the sums go through the stash several times."""
    target = targets.Target("small", 256, 16, rows=6, vectors=2, level2=16 << 10)
    check(ConvShape(50, 20, 6, 6, (3, 3), pads=(1, 1, 1, 1)), target=target)
    check(ConvShape(64, 20, 6, 6, (3, 3), pads=(1, 1, 1, 1), layout_out="nhwc"), target=target)


@pytest.mark.parametrize("size, kernel, groups", [((9, 10), (3, 3), 1), ((9, 10), (3, 3), 16), ((4, 4), (1, 1), 1), ((1, 1), (1, 1), 1), ((7, 7), (1, 1), 1)])
@pytest.mark.parametrize("layout, rolled", [("nchw", False), ("nchw", True), ("nhwc", False), ("nhwc", True)])
def test_epilogue_adds_bias_and_residual(size, kernel, groups, layout, rolled):
    """A bias, a residual, and one number an image and channel, as of a squeeze-and-excitation block."""
    pads = (kernel[0] // 2,) * 4
    shape = ConvShape(16, 32, *size, kernel, pads=pads, groups=groups, layout_in=layout, layout_out=layout)
    axes = ([1], [0, 1, 2, 3], [0, 1, None, None]) if layout == "nchw" else ([3], [0, 1, 2, 3], [0, None, None, 3])

    def epilogue(*buffers):
        def apply(vec, place):
            for buffer, follows in zip(buffers, axes):
                vec = arith.addf(vec, place.operand(buffer, follows))
            return vec

        return apply

    x, w, bias, residual, scale = data(2, 16, *size), data(32, 16 // groups, *kernel), data(32), data(2, 32, *size), data(2, 32, 1, 1)
    want = reference(x, w, shape) + bias.reshape(1, -1, 1, 1) + residual + scale
    extra = (bias, arranged(residual, layout), arranged(scale, layout))
    conv = Conv(shape, epilogue=epilogue, extra=[(e.shape, "float32") for e in extra], rolled=rolled and rolls_epilogue(shape))
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
    last = dict(layout_in="nhwc", layout_out="nhwc")
    assert strategy(64, 64, 7, 7, (1, 1), **last) == "rows"
    assert strategy(64, 64, 7, 7, (3, 3), **last) == "pixels"
    assert strategy(64, 64, 56, 56, (3, 3), groups=64, **last) == strategy(64, 128, 56, 56, (3, 3), groups=16, **last) == "grouped"


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


@pytest.mark.parametrize("groups, channels, filters, options, known", [
    (20, 1, 1, dict(pads=(1, 1, 1, 1)), True),
    (20, 1, 1, dict(pads=(2, 1, 0, 2), strides=(2, 1)), False),
    (9, 1, 2, dict(pads=(2, 2, 2, 2), dilations=(2, 2)), True),
    (5, 2, 4, dict(pads=(1, 1, 1, 1), strides=(2, 2)), True),
    (4, 8, 8, dict(pads=(1, 1, 1, 1)), True),
    (3, 4, 2, dict(pads=(1, 1, 1, 1)), False),
    (7, 1, 16, {}, True),
])  # fmt: skip
def test_groups_of_few_channels(groups, channels, filters, options, known):
    """Channels that fill no whole number of vectors, several channels and filters a group."""
    for size in [(7, 9), (3, 3)] if known else [(9, 20)]:
        shape = ConvShape(groups * channels, groups * filters, *(size if known else (None, None)), (3, 3), groups=groups,
                          layout_in="nhwc", layout_out="nhwc", **options)  # fmt: skip
        check(shape, size)


def test_depthwise_of_other_kernels_and_targets():
    check(ConvShape(4, 4, 9, 12, (5, 5), pads=(2, 2, 2, 2), groups=4))
    check(ConvShape(4, 4, 9, 12, (1, 3), groups=4), target=targets.AVX2)
    check(ConvShape(16, 16, 9, 12, (5, 5), pads=(2, 2, 2, 2), groups=16, layout_in="nhwc", layout_out="nhwc"), target=targets.AVX2)


def reference_transposed(x, w, shape, size):
    """Each input pixel adds its products where they belong."""
    per_group, channels = shape.per_group, shape.channels // shape.groups
    y = np.zeros((x.shape[0], shape.filters, *size))
    for iy, ix, ky, kx in np.ndindex(*x.shape[2:], *shape.kernel):
        oy = iy * shape.strides[0] + ky * shape.dilations[0] - shape.pads[0]
        ox = ix * shape.strides[1] + kx * shape.dilations[1] - shape.pads[1]
        if 0 <= oy < size[0] and 0 <= ox < size[1]:
            for g in range(shape.groups):
                part = slice(g * channels, (g + 1) * channels)
                y[:, g * per_group : (g + 1) * per_group, oy, ox] += x[:, part, iy, ix].astype(float) @ w[part, :, ky, kx].astype(float)
    return y


@pytest.mark.parametrize("kernel, options, more, known", [
    ((2, 2), dict(strides=(2, 2)), (0, 0), True),
    ((3, 3), dict(strides=(2, 2), pads=(1, 1, 1, 1)), (1, 1), True),
    ((4, 3), dict(strides=(2, 3), pads=(1, 0, 2, 1)), (0, 2), False),
    ((3, 2), dict(strides=(2, 3), dilations=(3, 2), groups=2), (1, 0), True),
    ((1, 1), dict(strides=(3, 2)), (0, 1), True),
    ((3, 3), dict(pads=(1, 1, 1, 1)), (0, 0), True),
])  # fmt: skip
def test_transposed(kernel, options, more, known):
    low, high = options.get("pads", (0, 0, 0, 0))[:2], options.get("pads", (0, 0, 0, 0))[2:]
    options = options | dict(pads=(*low, high[0] - more[0], high[1] - more[1]))
    shape = ConvShape(6, 20, 5, 17, kernel, transposed=True, layout_in="nhwc", layout_out="nhwc", **options)
    size = shape.output_size()
    x, w = data(2, 6, 5, 17), data(6, 20 // shape.groups, *kernel)
    with ir.Context(), ir.Location.unknown():
        packed = packed_filter_shape(shape, ir.F32Type.get())
    filter, y = np.full(packed, np.nan, "float32"), np.full((2, *size, 20), np.nan, "float32")
    compile_kernel(lambda f, p: emit_pack_filter(f, p, "pixels", True), (w.shape, "float32"), (packed, "float32"))(w, filter)
    pick = lambda sizes: sizes if known else (2, None, None, sizes[3])
    kernel = compile_kernel(lambda x, f, y: emit_conv(x, f, y, shape), (pick((2, 5, 17, 6)), "float32"), (packed, "float32"), (pick(y.shape), "float32"))
    kernel(arranged(x, "nhwc"), filter, y)
    np.testing.assert_allclose(y.transpose(0, 3, 1, 2), reference_transposed(x, w, shape, size), rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("channels, filters, size, pad, images, name, known, step", [
    (16, 40, (17, 23), 1, 1, "avx512", True, (1, 1)),
    (16, 48, (5, 6), 0, 3, "avx2", True, (1, 1)),
    (20, 33, (14, 14), 2, 2, "avx512", True, (1, 1)),
    (17, 64, (4, 5), 1, None, "avx2", True, (1, 1)),
    (16, 40, (17, 23), 1, 1, "avx512", False, (1, 1)),
    (17, 33, (9, 5), 1, None, "avx2", False, (1, 1)),
    (16, 24, (17, 23), 2, 1, "avx512", True, (2, 3)),
    (16, 16, (9, 20), 3, None, "avx512", True, (4, 4)),
    (16, 40, (13, 16), 2, 2, "avx2", False, (2, 2)),
])  # fmt: skip
@pytest.mark.parametrize("tile, error", [(2, 3e-6), (4, 3e-5)])
def test_winograd(channels, filters, size, pad, images, name, tile, error, known, step):
    """Tiles of one image and through several, whole and cut ones; `images` None is a dynamic batch, `known` height and width, `step` the dilation."""
    target = targets.TARGETS[name]
    shape = ConvShape(channels, filters, *size, (3, 3), pads=(pad,) * 4, dilations=step, winograd=tile, layout_in="nhwc", layout_out="nhwc")
    out = shape.output_size()
    shape = shape if known else replace(shape, height=None, width=None)
    with ir.Context(), ir.Location.unknown():
        packed = packed_filter_shape(shape, ir.F32Type.get(), target)
    w, x, bias = data(filters, channels, 3, 3), data(images or 2, channels, *size), data(filters)
    filter, y = np.full(packed, np.nan, "float32"), np.full((images or 2, *out, filters), np.nan, "float32")
    compile_kernel(lambda f, p: emit_pack_filter(f, p, "winograd"), (w.shape, "float32"), (packed, "float32"))(w, filter)
    windows = scratch_shape(shape, images or (1 if known else 2), out, target)
    scratch = np.full(windows if images or not known else (2 * windows[0], *windows[1:]), np.nan, "float32")

    def body(x, f, bias, scratch, y):
        emit_conv(x, f, y, shape, lambda vec, place: arith.addf(vec, place.operand(bias, [3])), target, scratch)

    arrays = (arranged(x, "nhwc"), filter, bias, scratch, y)
    open_axes = {i: ([0] if images is None else []) + ([] if known else [1, 2] if i in (0, 4) else [0]) for i in (0, 3, 4)}
    kinds = [(tuple(None if axis in open_axes.get(i, ()) else size for axis, size in enumerate(array.shape)), "float32") for i, array in enumerate(arrays)]
    with targets.lowering_for(target):
        compile_kernel(body, *kinds)(*arrays)
    want = reference(x, w, shape) + bias.reshape(1, -1, 1, 1)
    assert np.abs(y.transpose(0, 3, 1, 2) - want).max() < error * np.abs(want).max()


def test_winograd_only_where_it_pays():
    def size(*shape, images=1, **options):
        return winograd_size(ConvShape(*shape, **options), images, targets.AVX512)

    assert size(64, 64, 56, 56, (3, 3), pads=(1, 1, 1, 1)) == 4
    assert size(256, 256, 14, 14, (3, 3), pads=(1, 1, 1, 1)) == 2
    assert size(512, 512, 7, 7, (3, 3), pads=(1, 1, 1, 1)) == 0
    assert size(64, 64, 56, 56, (3, 3), strides=(2, 2)) == size(64, 64, 56, 56, (3, 3), groups=2) == 0
    assert size(64, 64, None, None, (3, 3)) == size(64, 64, None, 56, (3, 3)) == 4  # as of 24 pixels
    assert size(64, 64, 3, None, (3, 3)) == 0
    assert size(128, 128, 24, 24, (3, 3), pads=(2, 2, 2, 2), dilations=(2, 2)) == 4
    assert size(128, 64, 28, 28, (3, 3), pads=(18, 18, 18, 18), dilations=(18, 18)) == 0  # most taps are beyond the border
