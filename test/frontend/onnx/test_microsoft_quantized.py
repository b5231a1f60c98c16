"""Quantized operators of com.microsoft, against onnxruntime: equal up to one step of the result."""
import numpy as np
import pytest

from onemlir.lowering.targets import host

from models import microsoft as ms, node, same_node_as_peer as check

rng = np.random.default_rng(4)


def normal(*shape):
    return rng.standard_normal(shape).astype(np.float32)


def u8(*shape):
    return rng.integers(0, 256, shape).astype(np.uint8)


def scales(**values):
    """Scales are floats, zero points integers."""
    return {name: np.asarray(v, np.float32 if isinstance(v, float) else np.uint8) for name, v in values.items()}


XY = scales(xs=0.02, xz=120, ys=0.03, yz=110)


def same_up_to_a_step(node, inputs, constants):
    check(node, inputs, constants, rtol=0, atol=1)


@pytest.mark.parametrize("op_type, options, places", [("QLinearSigmoid", {}, (0.00390625, 0)), ("QLinearLeakyRelu", {"alpha": 0.2}, (0.03, 110))])
def test_activations(op_type, options, places):
    same_up_to_a_step(ms(op_type, "x xs xz ys yz", "y", **options), {"x": u8(3, 40)}, XY | scales(ys=places[0], yz=places[1]))


@pytest.mark.parametrize("axis, opset", [(-1, 13), (1, 13), (1, 12)])
def test_softmax(axis, opset):
    same_up_to_a_step(ms("QLinearSoftmax", "x xs xz ys yz", "y", axis=axis, opset=opset), {"x": u8(2, 3, 4)}, XY | scales(ys=0.00390625, yz=0))


def test_where():
    names = "c x xs xz y ys yz zs zz"
    inputs = {"c": rng.random((3, 4)) < 0.5, "x": u8(3, 4), "y": u8(3, 4)}
    same_up_to_a_step(ms("QLinearWhere", names, "z"), inputs, XY | scales(zs=0.04, zz=100))


@pytest.mark.parametrize("channels_last", [0, 1])
def test_average_pools(channels_last):
    options = {"channels_last": channels_last}
    inputs = {"x": u8(1, 3, 6, 6)}
    same_up_to_a_step(ms("QLinearGlobalAveragePool", "x xs xz ys yz", "y", **options), inputs, XY)
    same_up_to_a_step(ms("QLinearAveragePool", "x xs xz ys yz", "y", kernel_shape=[3, 3], strides=[2, 2], pads=[1, 1, 1, 1], **options), inputs, XY)


def test_concat():
    same_up_to_a_step(ms("QLinearConcat", "ys yz a xs xz b bs bz", "y", axis=1), {"a": u8(2, 3), "b": u8(2, 4)}, XY | scales(bs=0.05, bz=90))


@pytest.mark.parametrize("output", ["integers", "floats"])
def test_gemm(output):
    constants = XY | scales(bs=0.01, bz=100) | {"c": rng.integers(-500, 500, 5).astype(np.int32), "b": u8(4, 5)}
    names = "x xs xz b bs bz c" + (" ys yz" if output == "integers" else "")
    check(ms("QGemm", names, "y"), {"x": u8(3, 4)}, constants, rtol=1e-6, atol=1 if output == "integers" else 1e-5)


def test_convolution_of_the_last_channels():
    constants = XY | scales(ws=0.01, wz=128) | {"w": u8(4, 3, 3, 3), "bias": rng.integers(-500, 500, 4).astype(np.int32)}
    node = ms("QLinearConv", "x xs xz w ws wz ys yz bias", "y", pads=[1, 1, 1, 1], channels_last=1)
    same_up_to_a_step(node, {"x": u8(1, 6, 6, 3)}, constants)


def test_nhwc_max_pool():
    check(ms("NhwcMaxPool", "x", "y", kernel_shape=[3, 3], strides=[2, 2], pads=[1, 1, 1, 1]), {"x": u8(1, 6, 6, 3)}, rtol=0, atol=0)


@pytest.mark.parametrize("per_column", [False, True])
@pytest.mark.parametrize("dtype", [np.uint8, np.int8])
def test_matmul_integer_to_float(per_column, dtype):
    b = (u8(6, 5).astype(np.int16) - (128 if dtype == np.int8 else 0)).astype(dtype)
    wide = (5,) if per_column else ()
    constants = {"b": b, "as": np.float32(0.02).reshape(()), "bs": np.full(wide, 0.03, np.float32), "az": np.uint8(7).reshape(()), "bz": np.full(wide, 4, dtype), "bias": normal(5)}
    check(ms("MatMulIntegerToFloat", "a b as bs az bz bias", "y"), {"a": u8(3, 6)}, constants)


@pytest.mark.parametrize("dtype", [np.uint8, np.int8])
def test_dynamic_quantize_matmul(dtype):
    b = (u8(6, 5).astype(np.int16) - (128 if dtype == np.int8 else 0)).astype(dtype)
    constants = {"b": b, "bs": np.float32(0.03).reshape(()), "bz": np.asarray(4, dtype), "bias": normal(5)}
    check(ms("DynamicQuantizeMatMul", "a b bs bz bias", "y"), {"a": normal(3, 6)}, constants)


@pytest.mark.parametrize("dtype", [np.int16, np.uint16, np.int8])
def test_linear_quantization(dtype):
    zero = np.asarray(3, dtype)
    check(ms("QuantizeLinear", "x s z", "y"), {"x": normal(3, 5) * 10}, {"s": np.float32(0.01).reshape(()), "z": zero}, rtol=0, atol=0)
    check(ms("DequantizeLinear", "x s z", "y"), {"x": rng.integers(0, 100, (3, 5)).astype(dtype)}, {"s": np.float32(0.01).reshape(()), "z": zero})


# Blocks.
@pytest.mark.parametrize("bits, columns", [(4, 32), (4, 40), (8, 32), (2, 32)])
@pytest.mark.parametrize("points", ["none", "packed", "floats"])
@pytest.mark.parametrize("rows", [5, 40])
def test_matmul_n_bits(bits, columns, points, rows):
    block = 16
    blocks = -(-columns // block)
    if bits == 2 and points == "floats" or bits == 8 and points == "floats":
        points = "packed"
    constants = {"b": u8(rows, blocks, block * bits // 8), "s": np.abs(normal(rows * blocks))}
    if points == "packed":
        constants["z"] = u8(rows, -(-blocks * bits // 8))
    if points == "floats":
        constants["z"] = (normal(rows, blocks) * 4 + 8).astype(np.float32)
    names = "a b s" + ("" if points == "none" else " z")
    check(ms("MatMulNBits", names, "y", K=columns, N=rows, bits=bits, block_size=block), {"a": normal(2, 3, columns)}, constants, rtol=1e-3, atol=1e-3)


@pytest.mark.parametrize("points", [False, True])
def test_matmul_n_bits_of_rounded_rows(points):
    """accuracy_level 4 lets the rows be rounded to 8 bits, by the largest number of a block; without that processor they stay f32, which
    differs from the peer by half a step of each number at most."""
    constants = {"b": u8(40, 2, 16), "s": np.abs(normal(80))} | ({"z": u8(40, 1)} if points else {})
    node = ms("MatMulNBits", "a b s" + " z" * points, "y", K=64, N=40, bits=4, block_size=32, accuracy_level=4)
    a = normal(3, 2, 64)
    a[1] = 0
    both = lambda x: np.stack([x & 15, x >> 4], axis=-1).astype(np.float32)
    weight = (both(constants["b"]).reshape(40, 2, 32) - (both(constants["z"]).reshape(40, 2, 1) if points else 8)) * constants["s"].reshape(40, 2, 1)
    steps = np.abs(weight).sum(axis=(1, 2)).max() * np.abs(a).max() / 127
    check(node, {"a": a}, constants, rtol=1e-3, atol=1e-3 if host().byte_products else steps / 2)


@pytest.mark.parametrize("bits, points", [(4, True), (4, False), (8, True)])
def test_gather_block_quantized(bits, points):
    constants = {"t": u8(10, 4 * bits), "s": np.abs(normal(10, 2))}
    if points:
        constants["z"] = u8(10, bits // 4)
    node = ms("GatherBlockQuantized", "t i s" + " z" * points, "y", bits=bits, block_size=16, gather_axis=0, quantize_axis=1)
    check(node, {"i": np.array([[1, 9, 3]])}, constants)


@pytest.mark.parametrize("direction, states, per_column, dtype", [("forward", False, False, np.uint8), ("bidirectional", True, True, np.int8)])
def test_dynamic_quantize_lstm(direction, states, per_column, dtype):
    directions, features, hidden = 2 if direction == "bidirectional" else 1, 5, 8
    wide = (directions, 4 * hidden) if per_column else (directions,)
    weights = lambda rows: (u8(directions, rows, 4 * hidden).astype(np.int16) - (128 if dtype == np.int8 else 0)).astype(dtype)
    points = np.zeros(wide, dtype) if dtype == np.int8 else np.full(wide, 120, dtype)
    constants = {"w": weights(features), "r": weights(hidden), "b": normal(directions, 8 * hidden), "rs": np.full(wide, 0.004, np.float32),
                 "ws": np.full(wide, 0.005, np.float32), "wz": points, "rz": points}
    inputs = {"x": normal(6, 3, features)} | ({"h": normal(directions, 3, hidden), "c": normal(directions, 3, hidden)} if states else {})
    names = "x w r b _ h c _ ws wz rs rz" if states else "x w r b _ _ _ _ ws wz rs rz"
    node = ms("DynamicQuantizeLSTM", names, "y yh yc", direction=direction, hidden_size=hidden, input_forget=0)
    check(node, inputs, constants, symbolic=not states, rtol=0, atol=1e-4)


@pytest.mark.parametrize("op_type", ["QuantizeLinear", "DequantizeLinear"])
def test_one_element_parameters_of_two_ranks(op_type):
    """Scale (1,) and zero point () with an axis that x does not have."""
    x = normal(4) if op_type == "QuantizeLinear" else u8(4)
    check(node(op_type, "x s z", "y", axis=1), {"x": x}, {"s": np.full((1,), 0.02, np.float32), "z": np.uint8(3).reshape(())}, rtol=0, atol=0)


# Sums of more products than f32 holds exactly.
def test_matmul_of_many_terms():
    inputs = {"a": np.where(rng.random((2, 300)) < 0.1, u8(2, 300), 255).astype(np.uint8)}
    check(node("MatMulInteger", "a b", "y"), inputs, {"b": np.where(rng.random((300, 7)) < 0.1, u8(300, 7), 255).astype(np.uint8)}, rtol=0, atol=0)


@pytest.mark.parametrize("groups, channels", [(1, 40), (2, 80), (4, 8)])
def test_convolution_of_many_terms(groups, channels):
    x, w = (np.where(rng.random(shape) < 0.1, u8(*shape), 255).astype(np.uint8) for shape in ((1, channels, 5, 5), (8, channels // groups, 3, 3)))
    check(node("ConvInteger", "x w", "y", pads=[1, 1, 1, 1], group=groups), {"x": x}, {"w": w}, rtol=0, atol=0)
