"""Convolution, pooling, normalization, recurrent layers, attention, resampling, quantization."""
import numpy as np
import pytest

from onemlir.frontend.ops.declared import ops as om

RNG = np.random.default_rng(0)


def normal(*shape):
    return RNG.standard_normal(shape).astype(np.float32)


IMAGE = ("n", None, "h", "w")


def test_conv(agree):
    x, w, b = normal(1, 4, 9, 8), normal(6, 2, 3, 2), normal(6)
    options = dict(stride=(2, 1), padding=(1, 0, 2, 1), dilation=(1, 2), groups=2)
    agree(lambda x, w, b: [om.conv(x, w, b, **options), om.conv(x, w, groups=2)], (x, w, b), (normal(2, 4, 7, 7), w, b), axes={"x": IMAGE}, rtol=1e-4, atol=1e-5)
    agree(lambda x, w: om.conv(x, w, stride=2), (normal(2, 3, 9), normal(4, 3, 3)), rtol=1e-4, atol=1e-5)
    agree(lambda x, w: om.conv(x, w), (normal(1, 2, 4, 4, 4), normal(3, 2, 2, 2, 2)), rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int32])
def test_integer_conv(agree, dtype):
    x, w, b = RNG.integers(0, 100, (1, 2, 5, 5)).astype(dtype), RNG.integers(0, 100, (3, 2, 2, 2)).astype(dtype), np.arange(3).astype(dtype)
    agree(lambda x, w, b: om.conv(x, w, b, padding=1), (x, w, b))


def test_convolutions_of_bytes(agree):
    x, w = RNG.integers(0, 256, (1, 4, 5, 6)).astype(np.uint8), RNG.integers(-128, 128, (6, 2, 3, 2)).astype(np.int8)
    agree(lambda x, w: [om.conv_integer(x, w, np.uint8(9), padding=1, groups=2), om.conv_integer(x, w, stride=2, groups=2)], (x, w))


def test_conv_transpose(agree):
    x, w, b = normal(1, 4, 5, 6), normal(4, 3, 3, 2), normal(6)
    options = dict(stride=(2, 3), padding=(1, 0, 1, 1), output_padding=(1, 0), groups=2)
    agree(lambda x, w, b: om.conv_transpose(x, w, b, **options), (x, w, b), (normal(2, 4, 3, 3), w, b), axes={"x": IMAGE}, rtol=1e-4, atol=1e-5)


POOLS = [dict(kernel_size=(3, 2)), dict(kernel_size=(3, 2), stride=(2, 1), padding=(1, 0, 1, 1)), dict(kernel_size=(2, 3), stride=(2, 2), ceil_mode=True)]


@pytest.mark.parametrize("options", POOLS)
def test_pools(agree, options):
    inputs = [(normal(2, 3, 9, 8),), (normal(1, 3, 7, 6),)]
    agree(lambda x: [om.max_pool(x, **options), om.max_pool_with_indices(x, **options)], *inputs, axes=IMAGE)
    agree(lambda x: [om.avg_pool(x, **options), om.avg_pool(x, count_include_pad=False, **options), om.avg_pool(x, divisor=4, **options)], *inputs, axes=IMAGE)


def test_pools_of_other_ranks_and_dtypes(agree):
    agree(lambda x: [om.max_pool(x, kernel_size=(2,)), om.avg_pool(x, kernel_size=(2, 2), divisor=3)], (normal(4, 6),))
    agree(lambda x: om.max_pool_with_indices(x, kernel_size=(2,)), (normal(2, 3, 4, 6),), (normal(1, 2, 4, 6),), axes=("a", "b", None, None))
    agree(lambda x: om.max_pool(x, kernel_size=(2, 2), dilation=2), (normal(2, 3, 6, 6),))
    for dtype in (np.int8, np.int16, np.int32):
        agree(lambda x: om.max_pool(x, kernel_size=(2, 2), padding=1), (RNG.integers(-9, 9, (1, 2, 5, 5)).astype(dtype),))


def test_normalizations(agree):
    x, c = normal(2, 4, 5, 3), [abs(normal(4)) for _ in range(4)]
    agree(lambda x, w, b, m, v: [om.batch_norm(x, m, v, w, b, eps=1e-3), om.batch_norm(x, m, v), om.group_norm(x, w, b, num_groups=2),
                                 om.instance_norm(x, w, b), om.instance_norm(x)], (x, *c), (normal(1, 4, 2, 6), *c), axes={"x": IMAGE}, rtol=1e-4, atol=1e-5)
    agree(lambda x: [om.local_response_norm(x, size=3), om.local_response_norm(x, size=2)], (x,), rtol=1e-4, atol=1e-5)
    y, w, b = normal(2, 5, 3), normal(5, 3), normal(5, 3)
    agree(lambda x, w, b: [om.layer_norm(x, w, b, axes_count=2), om.layer_norm(x, w, None, axes_count=2), om.layer_norm(x), om.rms_norm(x, w, axes_count=2),
                           om.rms_norm(x, eps=1e-3)], (y, w, b), (normal(7, 5, 3), w, b), axes={"x": ("n", None, None)}, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("layer,gates", [("rnn_layer", 1), ("gru_layer", 3), ("lstm_layer", 4)])
def test_recurrent(agree, layer, gates):
    hidden, features = 4, 3
    weights = [normal(gates * hidden, features), normal(gates * hidden, hidden), normal(gates * hidden), normal(gates * hidden)]
    h, lengths = normal(2, hidden), np.array([5, 3])
    f = getattr(om, layer)
    options = [{"reverse": True}, {"clip": 0.5}] + ([{"linear_before_reset": False}] if gates == 3 else [])

    def function(x, wi, wh, bi, bh, h, n):
        yield f(x, wi, wh, bi, bh, h)
        yield f(x, wi, wh, bi)
        yield from (f(x, wi, wh, bi, bh, h, n, **o) for o in options)
        if gates == 4:
            yield f(x, wi, wh, bi, bh, h, None, h * 2, om.slice(bi, starts=(0,), shape=(12,), steps=(1,)), input_forget=True)
    agree(lambda *a: list(function(*a)), (normal(5, 2, features), *weights, h, lengths), rtol=1e-4, atol=1e-5)
    agree(lambda x, wi, wh: f(x, wi, wh), (normal(5, 2, features), *weights[:2]), (normal(3, 1, features), *weights[:2]), axes={"x": ("time", "batch", None)},
          rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("opset", [21, 23])
def test_attention(agree, opset):
    q, k, v = normal(2, 4, 5, 8), normal(2, 2, 6, 8), normal(2, 2, 6, 3)
    agree(lambda q, k, v: om.attention(q, k, v, enable_gqa=True, is_causal=True), (q, k, v), opset=opset, rtol=1e-4, atol=1e-5)
    mask = RNG.random((5, 6)) > 0.3
    mask[0] = False
    agree(lambda q, k, v, m: om.attention(q, k, v, m, scale=0.3), (q[:, :2], k, v, mask), opset=opset, rtol=1e-4, atol=1e-5)


RESIZES = [dict(mode="nearest"), dict(mode="linear"), dict(mode="cubic"), dict(mode="linear", coordinate_mode="align_corners"), dict(mode="linear", antialias=True),
           dict(mode="cubic", antialias=True, exclude_outside=True),
           dict(mode="nearest", coordinate_mode="asymmetric", nearest_mode="floor"), dict(mode="linear", coordinate_mode="pytorch_half_pixel")]


@pytest.mark.parametrize("options", RESIZES, ids=lambda o: "-".join(map(str, o.values())))
def test_resize(agree, options):
    agree(lambda x: om.resize(x, sizes=(x.shape[0], 2, 7, 3), **options), (normal(1, 2, 4, 6),), (normal(3, 2, 4, 6),), axes=("n", None, None, None), rtol=1e-4, atol=1e-4)
    if not options.get("antialias"):
        agree(lambda x: om.resize(x, sizes=(1, 2, 2 * x.shape[2], 9), scales=(1, 1, 2.0, 1.5), **options), (normal(1, 2, 4, 6),), (normal(1, 2, 5, 6),),
              axes=(None, None, "h", None), rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("mode", ["linear", "nearest", "cubic"])
def test_grid_sample(agree, mode):
    x, grid = normal(2, 3, 5, 4), RNG.uniform(-1.3, 1.3, (2, 6, 7, 2)).astype(np.float32)
    agree(lambda x, g: [om.grid_sample(x, g, mode=mode, padding_mode=p, align_corners=a) for p in ("zeros", "border", "reflection") for a in (False, True)],
          (x, grid), rtol=1e-3, atol=1e-4)


def test_quantization(agree):
    x, scale = normal(3, 4) * 40, np.array([0.1, 0.5, 1.0, 2.0], np.float32)
    zero = np.array([0, 3, -5, 9], np.int8)
    agree(lambda x, s, z: [om.quantize_linear(x, s, z, axis=1), om.dequantize_linear(om.quantize_linear(x, s, z), s, z)], (x, scale, zero))
    agree(lambda x, s: [om.quantize_linear(x, s), om.quantize_linear(x, s, dtype=np.int16)], (x, np.float32(0.3)))
    agree(lambda x, s: om.dequantize_linear(x, s, axis=1, block_size=2), (RNG.integers(-9, 9, (3, 4)).astype(np.int8), abs(normal(3, 2))))
    agree(lambda x, w, s: [om.dequantized_linear(x, w, s, block_size=2), om.dequantized_linear(x, w, s, np.full((3, 2), 8, np.uint8), block_size=2, bits=4)],
          (normal(5, 4), RNG.integers(0, 256, (3, 4)).astype(np.uint8), abs(normal(3, 2))), rtol=1e-5, atol=1e-4)
