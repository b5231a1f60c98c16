"""Operators of com.microsoft, against onnxruntime."""
import numpy as np
import pytest

from models import microsoft as ms, same_node_as_peer as check

rng = np.random.default_rng(2)


def normal(*shape):
    return rng.standard_normal(shape).astype(np.float32)


@pytest.mark.parametrize("options", [{}, {"transA": 1}, {"transB": 1}, {"transA": 1, "transB": 1, "alpha": 0.5}])
def test_fused_matmul(options):
    a = normal(2, 4, 3) if options.get("transA") else normal(2, 3, 4)
    b = normal(2, 5, 4) if options.get("transB") else normal(2, 4, 5)
    check(ms("FusedMatMul", "a b", "y", **options), {"a": a, "b": b})


@pytest.mark.parametrize("op_type", ["Gelu", "QuickGelu"])
def test_gelus(op_type):
    check(ms(op_type, "x", "y"), {"x": normal(3, 5) * 3})


@pytest.mark.parametrize("op_type", ["FastGelu", "BiasGelu"])
def test_gelus_with_bias(op_type):
    check(ms(op_type, "x b", "y"), {"x": normal(3, 5), "b": normal(5)})


def test_skip_layer_norm():
    check(ms("SkipLayerNormalization", "x s g b bias", "y _ _ sum", epsilon=1e-5),
          {"x": normal(2, 3, 8), "s": normal(2, 3, 8), "g": normal(8), "b": normal(8), "bias": normal(8)})


def test_skip_rms_norm():
    check(ms("SkipSimplifiedLayerNormalization", "x s g", "y", epsilon=1e-5), {"x": normal(2, 3, 8), "s": normal(2, 3, 8), "g": normal(8)})


@pytest.mark.parametrize("activation, parameters", [("Relu", []), ("Sigmoid", []), ("LeakyRelu", [0.2]), ("Clip", [-0.5, 0.5])])
def test_fused_conv(activation, parameters):
    options = {"activation_params": parameters} if parameters else {}
    check(ms("FusedConv", "x w b", "y", activation=activation, pads=[1, 1, 1, 1], **options), {"x": normal(1, 3, 6, 6)}, constants={"w": normal(4, 3, 3, 3), "b": normal(4)})


@pytest.mark.parametrize("heads, masked", [(2, False), (4, True)])
def test_attention(heads, masked):
    inputs = {"x": normal(2, 5, 8)}
    names = "x w b"
    if masked:
        inputs["mask"] = np.array([[1, 1, 1, 0, 0], [1, 1, 1, 1, 1]], np.int32)
        names += " mask"
    check(ms("Attention", names, "y", num_heads=heads), inputs, constants={"w": normal(8, 24), "b": normal(24)})


def test_multi_head_attention():
    check(ms("MultiHeadAttention", "q k v bias", "y", num_heads=2), {"q": normal(2, 3, 8), "k": normal(2, 5, 8), "v": normal(2, 5, 8), "bias": normal(24)})


def test_embed_layer_norm():
    inputs = {"ids": rng.integers(0, 10, (2, 4)).astype(np.int32), "segments": rng.integers(0, 2, (2, 4)).astype(np.int32)}
    constants = {"words": normal(10, 8), "places": normal(6, 8), "kinds": normal(2, 8), "g": normal(8), "b": normal(8)}
    check(ms("EmbedLayerNormalization", "ids segments words places kinds g b", "y counts", epsilon=1e-5), inputs, constants)


@pytest.mark.parametrize("op_type", ["QLinearAdd", "QLinearMul"])
def test_quantized_arithmetic(op_type):
    """To the last bit."""
    data = {n: rng.integers(0, 256, (4, 6)).astype(np.uint8) for n in "ab"}
    constants = {"as": np.float32(0.02), "az": np.uint8(120), "bs": np.float32(0.03), "bz": np.uint8(100), "ys": np.float32(0.05), "yz": np.uint8(110)}
    check(ms(op_type, "a as az b bs bz ys yz", "y"), data, constants={k: np.asarray(v) for k, v in constants.items()}, rtol=0, atol=1)

