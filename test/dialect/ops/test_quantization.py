"""Quantization against onnx's reference evaluator, and decomposed against our reference."""
import numpy as np
import onnx
import pytest
from onnx.reference import ReferenceEvaluator

import onemlir as om
from onemlir import ops
from onemlir.lowering import targets

rng = np.random.default_rng(0)
X = (rng.standard_normal((2, 3, 4)) * 40).astype(np.float32)
PER_AXIS = rng.uniform(0.1, 0.6, 3).astype(np.float32)


def onnx_node(op_type: str, *inputs, **attributes):
    names = [f"i{n}" for n in range(len(inputs))]
    values = [onnx.helper.make_tensor_value_info(n, onnx.helper.np_dtype_to_tensor_dtype(v.dtype), v.shape) for n, v in zip(names, inputs)]
    node = onnx.helper.make_node(op_type, names, ["y"], **attributes)
    graph = onnx.helper.make_graph([node], "g", values, [onnx.helper.make_empty_tensor_value_info("y")])
    model = onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", 21)])
    return ReferenceEvaluator(model).run(None, dict(zip(names, inputs)))[0]


@pytest.mark.parametrize("dtype", [np.uint8, np.int8, np.uint16, np.int16])
@pytest.mark.parametrize("scale", [np.float32(0.3), PER_AXIS], ids=["tensor", "axis"])
def test_quantize_and_back(dtype, scale, assert_decomposes):
    zero = np.full(np.shape(scale), 5, dtype)
    scale = np.asarray(scale)
    quantize = lambda x, s, z: ops.quantize_linear(x, s, z, axis=1)
    found = quantize(om.tensor(X), om.tensor(scale), om.tensor(zero)).numpy()
    np.testing.assert_array_equal(found, onnx_node("QuantizeLinear", X, scale, zero, axis=1))
    back = lambda x, s, z: ops.dequantize_linear(x, s, z, axis=1)
    np.testing.assert_allclose(back(om.tensor(found), om.tensor(scale), om.tensor(zero)).numpy(), onnx_node("DequantizeLinear", found, scale, zero, axis=1), rtol=1e-6)
    assert_decomposes(quantize, [X, scale, zero], rtol=0, atol=0)
    assert_decomposes(back, [found, scale, zero], rtol=0, atol=0)


def test_special_values(assert_decomposes):
    """NaN becomes 0, infinities saturate."""
    x = np.array([np.nan, np.inf, -np.inf, 0.5, 1.5, -1e30], np.float32)
    assert_decomposes(lambda v: ops.quantize_linear(v, 1.0, dtype=np.int8), [x], rtol=0, atol=0)
    np.testing.assert_array_equal(ops.quantize_linear(om.tensor(x), 1.0, dtype=np.int8).numpy(), [0, 127, -128, 0, 2, -128])


def test_blocks(assert_decomposes):
    scale = rng.uniform(0.1, 0.5, (2, 2, 4)).astype(np.float32)
    assert_decomposes(lambda x, s: ops.quantize_linear(x, s, axis=1, block_size=2, dtype=np.int8), [X, scale], rtol=0, atol=0)


@pytest.mark.parametrize("n, k, block, bits, dtype, zeros", [
    (70, 100, 32, 4, np.uint8, True), (40, 600, 16, 8, np.int8, True), (33, 300, 300, 8, np.uint8, False), (64, 640, 128, 4, np.uint8, False),
    (5, 24, 7, 8, np.int8, True), (40, 70, 33, 8, np.uint8, True), (0, 8, 4, 8, np.int8, False)])
def test_products_by_weights_of_few_bits(n, k, block, bits, dtype, zeros):
    """Eager and compiled, fixed and open numbers of rows, against f64; weights with upper bits that do not count."""
    ends, blocks = np.iinfo(dtype), -(-k // block)
    weight, scale = rng.integers(ends.min, ends.max + 1, (n, k)).astype(dtype), rng.uniform(0.1, 1, (n, blocks)).astype(np.float32)
    zero = rng.integers(0, 16, (n, blocks)).astype(dtype) if zeros else None
    spread = lambda parameter: np.repeat(parameter, block, axis=1)[:, :k].astype(np.float64)
    exact = (((weight & 15) if bits == 4 else weight).astype(np.float64) - (spread(zero) if zeros else 0)) * spread(scale)
    constants = [om.tensor(a) if a is not None else None for a in (weight, scale, zero)]
    product = lambda x: ops.gelu(ops.dequantized_linear(x, *constants, block_size=block, bits=bits) * (1 / 64))
    session = om.trace(product, om.tensor(np.ones((2, 3, k), np.float32)), axes=("a", "b", None)).session(threads=2)
    for shape in [(2, 3), (1, 1), (0, 3), (17, 2)]:
        x = rng.standard_normal((*shape, k)).astype(np.float32)
        want = ops.gelu(om.tensor((x @ exact.T / 64).astype(np.float32))).numpy()
        for found in (session(x), product(om.tensor(x)).numpy()):
            np.testing.assert_allclose(found, want, rtol=1e-4, atol=1e-4)
    np.testing.assert_allclose(om.trace(product, om.tensor(x)).session(threads=1)(x), want, rtol=1e-4, atol=1e-4)


def test_wrong_weights_of_few_bits():
    x, w, s = np.ones((2, 8), np.float32), np.ones((3, 8), np.int8), np.ones((3, 2), np.float32)
    for arguments, options, message in [
        ((x, w, s[:, :1]), {"block_size": 4}, "scale must have shape"), ((x[:, :7], w, s), {"block_size": 4}, "x .* has 7 features"),
        ((x, w, s), {"block_size": 4, "bits": 4}, "'bits' must be 8, or 4 for a u8 weight"), ((x, w, s), {"block_size": 0}, "block_size at least 1"),
        ((x.astype(np.int8), w, s), {"block_size": 4}, "'x' must be float32, as scale"),]:
        with pytest.raises(om.OnemlirError, match=message):
            ops.dequantized_linear(*map(om.tensor, arguments), **options)


@pytest.mark.parametrize("target", [targets.AVX512, targets.AVX512_VNNI, targets.AVX2_VNNI], ids=lambda t: t.name)
def test_products_of_rounded_rows(target):
    """Rows of i8 with a scale a block, by u8 of 8 and 4 bits, where the processor multiplies bytes and where not; against f64."""
    if target.byte_products and not (targets.host().byte_products and target.vector_bits <= targets.host().vector_bits):
        pytest.skip("needs byte products of this width")
    cases = [(70, 64, 16, 4, True), (33, 96, 96, 8, True), (40, 64, 32, 4, False)]
    weights = [(rng.integers(0, 256, (n, k)).astype(np.uint8), rng.uniform(0.1, 1, (n, k // block)).astype(np.float32),
                rng.integers(0, 16, (n, k // block)).astype(np.uint8) if zeros else None) for n, k, block, _, zeros in cases]

    def products(*inputs):
        return [ops.dequantized_linear(x, *(None if a is None else om.tensor(a) for a in arrays), x_scale, block_size=block, bits=bits)
                for x, x_scale, arrays, (_, _, block, bits, _) in zip(inputs[::2], inputs[1::2], weights, cases)]

    def draw(*rows):
        return [a for _, k, block, _, _ in cases for a in (rng.integers(-127, 128, (*rows, k)).astype(np.int8), rng.uniform(0, 1, (*rows, k // block)).astype(np.float32))]

    with targets.lowering_for(target):
        single = om.trace(products, *map(om.tensor, draw())).session(threads=1)
        rows = om.trace(products, *map(om.tensor, draw(2)), axes=[("n", None)] * 6).session(threads=2)
    for session, inputs in [(single, draw()), (rows, draw(0)), (rows, draw(1)), (rows, draw(13))]:
        for got, x, x_scale, (weight, scale, zero), (_, _, block, bits, _) in zip(session(*inputs), inputs[::2], inputs[1::2], weights, cases):
            spread = lambda a: np.repeat(a, block, axis=-1).astype(np.float64)
            w = (((weight & 15) if bits == 4 else weight).astype(np.float64) - (0 if zero is None else spread(zero))) * spread(scale)
            np.testing.assert_allclose(got, (x * spread(x_scale)) @ w.T, rtol=1e-5, atol=1e-2)
