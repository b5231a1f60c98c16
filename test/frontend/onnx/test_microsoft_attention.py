"""Attention of com.microsoft, against onnxruntime."""
import numpy as np
import onnx
import pytest

import onemlir as om
from models import microsoft as ms, model, same_node_as_peer as check, value

rng = np.random.default_rng(3)


def normal(*shape):
    return rng.standard_normal(shape).astype(np.float32)


def i32(*values):
    return np.array(values, np.int32)


WEIGHTS = {"w": normal(8, 24), "b": normal(24)}


@pytest.mark.parametrize("mask", [i32(3, 5), i32(4, 5, 1, 0), i32([1, 1, 0, 1, 0], [1] * 5), (rng.random((2, 5, 5)) < 0.7).astype(np.int32)],
                         ids=["ends", "ends and starts", "places", "pairs"])
@pytest.mark.parametrize("unidirectional", [0, 1])
def test_masks(mask, unidirectional):
    check(ms("Attention", "x w b mask", "y", num_heads=2, unidirectional=unidirectional), {"x": normal(2, 5, 8), "mask": np.asarray(mask)}, WEIGHTS)


def test_unequal_widths():
    check(ms("Attention", "x w b", "y", num_heads=2, qkv_hidden_sizes=[8, 8, 4]), {"x": normal(2, 3, 8)}, {"w": normal(8, 20), "b": normal(20)})


@pytest.mark.parametrize("unidirectional", [0, 1])
@pytest.mark.parametrize("symbolic", [False, True])
def test_past(unidirectional, symbolic):
    inputs = {"x": normal(2, 3, 8), "past": normal(2, 2, 2, 4, 4)}
    check(ms("Attention", "x w b _ past", "y present", num_heads=2, unidirectional=unidirectional, scale=0.3), inputs, WEIGHTS, symbolic)


def test_bias_of_scores():
    check(ms("Attention", "x w b _ _ bias", "y", num_heads=2), {"x": normal(2, 3, 8), "bias": normal(2, 2, 3, 3)}, WEIGHTS)


def test_quantized_attention():
    inputs = {"x": rng.integers(0, 256, (2, 4, 8)).astype(np.uint8)}
    constants = {"w": rng.integers(-128, 128, (8, 24)).astype(np.int8), "b": normal(24), "xs": np.float32(0.01), "ws": np.float32(0.02), "xz": np.uint8(120), "wz": np.int8(3)}
    check(ms("QAttention", "x w b xs ws _ xz wz", "y", num_heads=2), inputs, {k: np.asarray(v) for k, v in constants.items()})


@pytest.mark.parametrize("unidirectional", [0, 1])
def test_multi_head_attention_with_past(unidirectional):
    inputs = {"q": normal(2, 3, 8), "k": normal(2, 3, 8), "v": normal(2, 3, 8), "pk": normal(2, 2, 4, 4), "pv": normal(2, 2, 4, 4)}
    check(ms("MultiHeadAttention", "q k v _ _ _ pk pv", "y nk nv", num_heads=2, unidirectional=unidirectional), inputs)


def test_multi_head_attention_of_packed_operands():
    """onnxruntime has these for GPUs alone: the expected values are torch's."""
    import torch

    def expected(q, k, v):
        heads = [torch.from_numpy(np.ascontiguousarray(t)).reshape(2, -1, 2, 4).transpose(1, 2) for t in (q, k, v)]
        return torch.nn.functional.scaled_dot_product_attention(*heads).transpose(1, 2).reshape(2, -1, 8).numpy()

    qkv, q, kv = normal(2, 3, 2, 3, 4), normal(2, 3, 8), normal(2, 5, 2, 2, 4)
    for names, inputs, operands in (("qkv", [qkv], [qkv[:, :, :, i] for i in range(3)]), ("q kv", [q, kv], [q, kv[:, :, :, 0], kv[:, :, :, 1]])):
        infos = [value(n, a.shape) for n, a in zip(names.split(), inputs)]
        proto = model([ms("MultiHeadAttention", names, "y", num_heads=2)], infos, [onnx.ValueInfoProto(name="y")], extra=[("com.microsoft", 1)])
        np.testing.assert_allclose(om.from_onnx(proto)(*inputs), expected(*operands), rtol=1e-4, atol=1e-5)


def test_multi_head_attention_with_cross_keys():
    check(ms("MultiHeadAttention", "q k v", "y", num_heads=2), {"q": normal(2, 3, 8), "k": normal(2, 2, 5, 4), "v": normal(2, 2, 5, 4)})


def test_multi_head_attention_with_mask_and_bias_of_scores():
    inputs = {"q": normal(2, 3, 8), "k": normal(2, 5, 8), "v": normal(2, 5, 8), "mask": i32([1, 1, 0, 1, 0], [1] * 5), "scores": normal(1, 2, 3, 5)}
    check(ms("MultiHeadAttention", "q k v bias mask scores", "y", num_heads=2), inputs, {"bias": normal(24)})


ANGLES = {"cos": np.cos(normal(16, 2)), "sin": np.sin(normal(16, 2))}
WIDE_ANGLES = {"cos": np.cos(normal(16, 8)), "sin": np.sin(normal(16, 8))}


@pytest.mark.parametrize("options", [{}, {"do_rotary": 1}, {"do_rotary": 1, "rotary_interleaved": 1}, {"local_window_size": 3}, {"softcap": 2.0, "scale": 0.7}], ids=str)
@pytest.mark.parametrize("step", ["prompt", "next", "shared cache"])
def test_group_query_attention(options, step):
    rows, past, total = {"prompt": (5, 0, 5), "next": (1, 4, 5), "shared cache": (1, 8, 5)}[step]
    inputs = {"q": normal(2, rows, 64), "k": normal(2, rows, 32), "v": normal(2, rows, 32), "pk": normal(2, 2, past, 16), "pv": normal(2, 2, past, 16),
              "lengths": i32(total - 1, total - 1), "total": np.array(total, np.int32)}
    names = "q k v pk pv lengths total" + (" cos sin" if options.get("do_rotary") else "")
    node = ms("GroupQueryAttention", names, "y nk nv", num_heads=4, kv_num_heads=2, **options)
    check(node, inputs, WIDE_ANGLES if options.get("do_rotary") else (), symbolic=step == "next")


@pytest.mark.parametrize("sink, options", [(True, {}), (True, {"softcap": 3.0}), (False, {"smooth_softmax": 1})])
def test_group_query_attention_with_a_sink(sink, options):
    inputs = {"q": normal(2, 3, 64), "k": normal(2, 3, 32), "v": normal(2, 3, 32), "lengths": i32(2, 2), "total": np.array(3, np.int32)}
    names = "q k v _ _ lengths total" + (" _ _ _ _ sink" if sink else "")
    check(ms("GroupQueryAttention", names, "y", num_heads=4, kv_num_heads=2, **options), inputs, {"sink": normal(4)} if sink else ())


def test_group_query_attention_of_packed_operands_and_samples_of_their_own_length():
    inputs = {"qkv": normal(2, 1, 128), "pk": normal(2, 2, 8, 16), "pv": normal(2, 2, 8, 16), "lengths": i32(3, 6), "total": np.array(7, np.int32)}
    check(ms("GroupQueryAttention", "qkv _ _ pk pv lengths total cos sin", "y nk nv", num_heads=4, kv_num_heads=2, do_rotary=1), inputs, WIDE_ANGLES)


@pytest.mark.parametrize("shape, options", [((2, 2, 3, 4), {}), ((2, 3, 8), {"num_heads": 2}), ((2, 3, 8), {"interleaved": 1}), ((2, 3, 16), {"num_heads": 2, "rotary_embedding_dim": 4})])
@pytest.mark.parametrize("place", [np.array([2]), np.array([[0, 1, 2], [5, 3, 4]])], ids=["start", "places"])
def test_rotary_embedding(shape, options, place):
    check(ms("RotaryEmbedding", "x p cos sin", "y", **options), {"x": normal(*shape), "p": place}, ANGLES)
