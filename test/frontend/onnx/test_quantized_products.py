"""Products and convolutions of dequantized tensors: by their integers where the processor multiplies bytes."""
import numpy as np
import pytest
from onnx import helper, TensorProto

import onemlir as om
from onemlir.lowering import targets
from onemlir.lowering.compilation import lower

from models import model, node, same_as_peer, value

rng = np.random.default_rng(3)


def two_layers():
    """MatMul with a scale a column and zero points that are 0, and Gemm with one scale, of the same quantized rows."""
    nodes = [
        node("QuantizeLinear", "x s z", "q"), node("DequantizeLinear", "q s z", "d"),
        node("DequantizeLinear", "w ws wz", "wd", axis=1), node("MatMul", "d wd", "y"),
        node("DequantizeLinear", "v vs vz", "vd"), node("Gemm", "d vd b", "g", transB=1),
    ]
    constants = {
        "s": np.float32(0.03).reshape(()), "z": np.uint8(120).reshape(()), "b": rng.standard_normal(65).astype(np.float32),
        "w": rng.integers(-128, 128, (40, 65)).astype(np.int8), "ws": rng.uniform(0.01, 0.02, 65).astype(np.float32), "wz": np.zeros(65, np.int8),
        "v": rng.integers(0, 256, (65, 40)).astype(np.uint8), "vs": np.float32(0.01).reshape(()), "vz": np.uint8(131).reshape(()),
    }
    return model(nodes, [value("x", ["rows", 40])], [value("y", ["rows", 65]), value("g", ["rows", 65])], constants)


def two_convolutions():
    """One over windows with a side that is cut, a stride and a spacing, by a scale a filter; one of single places."""
    nodes = [
        node("DequantizeLinear", "q s z", "d"), node("DequantizeLinear", "w ws wz", "wd", axis=0), node("DequantizeLinear", "v vs", "vd"),
        node("Conv", "d wd b", "y", pads=[1, 0, 2, 1], strides=[2, 1], dilations=[1, 2]), node("Conv", "d vd", "u"),
    ]
    constants = {
        "s": np.float32(0.03).reshape(()), "z": np.uint8(120).reshape(()), "b": rng.standard_normal(5).astype(np.float32),
        "w": rng.integers(-128, 128, (5, 16, 3, 2)).astype(np.int8), "ws": rng.uniform(0.01, 0.02, 5).astype(np.float32),
        "wz": np.arange(5, dtype=np.int8), "v": rng.integers(0, 256, (9, 16, 1, 1)).astype(np.uint8), "vs": np.float32(0.01).reshape(()),
    }
    outputs = [value("y", ["n", 5, None, None]), value("u", ["n", 9, None, None])]
    return model(nodes, [value("q", ["n", 16, "h", 8], TensorProto.UINT8)], outputs, constants)


def quantized_block():
    """A 3x3 convolution, a depthwise one with a stride, and a 1x1 one, of which each result is quantized, a maximum, and a sum of two tensors."""
    nodes, constants = [node("QuantizeLinear", "x s0 z0", "q0"), node("DequantizeLinear", "q0 s0 z0", "d0")], {}

    def quantized(name: str, number: int, scale: float, zero: int):
        constants.update({f"s{number}": np.float32(scale).reshape(()), f"z{number}": np.uint8(zero).reshape(())})
        if name != "x":
            nodes.extend([node("QuantizeLinear", f"{name} s{number} z{number}", f"q{number}"),
                          node("DequantizeLinear", f"q{number} s{number} z{number}", f"d{number}")])

    def convolution(number: int, shape: tuple, **options):
        filters, scales = rng.integers(-128, 128, shape).astype(np.int8), rng.uniform(0.001, 0.002, shape[0]).astype(np.float32)
        constants.update({f"w{number}": filters, f"ws{number}": scales, f"b{number}": rng.integers(-900, 900, shape[0]).astype(np.int32),
                          f"bs{number}": np.float32(1e-3).reshape(())})
        nodes.extend([node("DequantizeLinear", f"w{number} ws{number}", f"wd{number}", axis=0),
                      node("DequantizeLinear", f"b{number} bs{number}", f"bd{number}"),
                      node("Conv", f"d{number} wd{number} bd{number}", f"c{number}", **options)])

    quantized("x", 0, 0.02, 117)
    convolution(0, (24, 3, 3, 3), pads=[1, 1, 1, 1])
    nodes.append(node("Relu", "c0", "r0"))
    quantized("r0", 1, 0.01, 0)
    convolution(1, (24, 1, 3, 3), pads=[1, 1, 1, 1], strides=[2, 2], group=24)
    quantized("c1", 2, 0.02, 120)
    convolution(2, (24, 24, 1, 1))
    quantized("c2", 3, 0.02, 130)
    nodes.append(node("MaxPool", "d1", "m", kernel_shape=[2, 2], strides=[2, 2]))
    nodes.extend([node("QuantizeLinear", "m s1 z1", "mq"), node("DequantizeLinear", "mq s1 z1", "md"), node("Add", "d3 md", "a")])
    quantized("a", 4, 0.03, 99)
    return model(nodes, [value("x", ["n", 3, 8, 12])], [value("q4", ["n", 24, 4, 6], TensorProto.UINT8)], constants)


@pytest.mark.parametrize("make", [two_layers, two_convolutions])
@pytest.mark.parametrize("target", [targets.BASELINE, targets.AVX2, targets.AVX512_VNNI], ids=lambda t: t.name)
def test_which_processor_multiplies_integers(target, make):
    with targets.lowering_for(target):
        text = str(lower(om.from_onnx(make()), until="linalg"))
    windows = text.count('"byte_conv2d"')
    assert text.count('"byte_matmul"') == (2 if target.integers else 0)
    assert bool(windows) == (target.integers > 0 and make is two_convolutions)


def test_layers_agree_with_onnxruntime():
    same_as_peer(two_layers(), {"x": rng.standard_normal((7, 40)).astype(np.float32) * 3}, rtol=1e-4, atol=1e-4)


def test_convolutions_agree_with_onnxruntime():
    rows = rng.integers(0, 256, (2, 16, 7, 8)).astype(np.uint8)
    same_as_peer(two_convolutions(), {"q": rows}, {"q": rows[:1, :, :4]}, rtol=1e-4, atol=1e-3)


def test_a_chain_of_bytes_agrees_with_onnxruntime():
    """A rounding may fall on the next step, of which another layer makes another one."""
    images = rng.standard_normal((2, 3, 8, 12)).astype(np.float32)
    same_as_peer(quantized_block(), {"x": images}, {"x": images[:1]}, rtol=0, atol=2)
    with targets.lowering_for(targets.AVX512_VNNI):
        text = str(lower(om.from_onnx(quantized_block()), until="prepare"))
    assert text.count("om.epilogue") == 2  # the result of the last one is brought into another layout


def test_sums_that_32_bits_do_not_hold():
    """f32 numbers do not wrap: such products stay products of f32."""
    terms = 33100  # of 255 * 255
    nodes = [node("DequantizeLinear", "q s", "d"), node("DequantizeLinear", "w s", "wd"), node("MatMul", "d wd", "y")]
    constants = {"s": np.float32(0.5).reshape(()), "w": np.full((terms, 2), 255, np.uint8)}
    whole = model(nodes, [value("q", [3, terms], TensorProto.UINT8)], [value("y", [3, 2])], constants)
    found, = om.from_onnx(whole).session().run({"q": np.full((3, terms), 255, np.uint8)}).values()
    np.testing.assert_allclose(found, np.full((3, 2), terms * 127.5**2), rtol=1e-5)


def test_large_weights_and_tables_stay_integers():
    """Blocks of int4 along the sums, a scale a column, a table with a scale a row: all against f64."""
    k, n, block = 512, 520, 64
    nodes = [
        node("Gather", "td ids", "x"), node("DequantizeLinear", "t ts tz", "td", axis=0),
        node("DequantizeLinear", "w ws wz", "wd", axis=0, block_size=block), node("MatMul", "x wd", "y"),
        node("DequantizeLinear", "v vs", "vd", axis=0), node("Gemm", "x vd b", "g", transB=1),
    ]
    table, weight, other = rng.integers(-128, 128, (600, k)), rng.integers(-8, 8, (k, n)), rng.integers(0, 256, (n, k))
    scales = {"ts": rng.uniform(0.01, 0.02, 600), "ws": rng.uniform(0.01, 0.02, (k // block, n)), "vs": rng.uniform(0.01, 0.02, n)}
    zeros, bias = {"tz": rng.integers(-9, 9, 600), "wz": rng.integers(-8, 8, (k // block, n))}, rng.standard_normal(n)
    constants = {name: array.astype(np.float32) for name, array in {**scales, "b": bias}.items()}
    constants |= {"t": table.astype(np.int8), "tz": zeros["tz"].astype(np.int8), "v": other.astype(np.uint8)}
    made = model(nodes[1::-1] + nodes[2:], [value("ids", ["rows"], TensorProto.INT64)], [value("y", ["rows", n]), value("g", ["rows", n])], constants)
    made.graph.initializer.extend(helper.make_tensor(name, TensorProto.INT4, array.shape, array.ravel()) for name, array in [("w", weight), ("wz", zeros["wz"])])
    recorded = om.from_onnx(made)
    assert str(lower(recorded, until="linalg")).count('"dequantized_matmul"') == 2
    ids = np.array([0, 599, 7, 7, 31, 8])
    found = recorded.session(threads=2).run({"ids": ids})
    x = ((table - zeros["tz"][:, None]) * constants["ts"][:, None].astype(np.float64))[ids]
    spread = lambda a: np.repeat(a, block, axis=0)
    np.testing.assert_allclose(found["y"], x @ ((weight - spread(zeros["wz"])) * spread(constants["ws"].astype(np.float64))), rtol=1e-4, atol=1e-4)
    np.testing.assert_allclose(found["g"], x @ (other * constants["vs"][:, None].astype(np.float64)).T + bias, rtol=1e-4, atol=1e-4)
