"""Operators of com.microsoft that ai.onnx has too or that are small, against onnxruntime, or against torch where onnxruntime has no CPU code."""
import numpy as np
import onnx
import pytest
from onnx import helper

import onemlir as om
from models import microsoft as ms, model, same_node_as_peer as check, value

rng = np.random.default_rng(5)


def normal(*shape):
    return rng.standard_normal(shape).astype(np.float32)


@pytest.mark.parametrize("options", [{"transBatchA": 1}, {"transBatchB": 1, "transB": 1}, {"transBatchA": 1, "transA": 1, "alpha": 0.5}], ids=str)
def test_transposed_batches(options):
    """The batch axis may stand behind the first matrix axis."""
    a, b = normal(2, 3, 4), normal(2, 4, 5)
    a = np.swapaxes(a, 1, 2) if options.get("transA") else a
    b = np.swapaxes(b, 1, 2) if options.get("transB") else b
    a = np.swapaxes(a, 0, 1) if options.get("transBatchA") else a
    b = np.swapaxes(b, 0, 1) if options.get("transBatchB") else b
    check(ms("FusedMatMul", "a b", "y", **options), {"a": np.ascontiguousarray(a), "b": np.ascontiguousarray(b)})


@pytest.mark.parametrize("activation", ["Relu", "Tanh", "Sigmoid", "LeakyRelu"])
def test_fused_gemm(activation):
    options = {"activation_alpha": 0.2} if activation == "LeakyRelu" else {}
    check(ms("FusedGemm", "a b c", "y", activation=activation, transB=1, **options), {"a": normal(3, 4), "b": normal(5, 4), "c": normal(5)})


@pytest.mark.parametrize("activation, options", [("HardSigmoid", {"activation_params": [0.3, 0.4]}), ("Relu", {})])
def test_fused_conv_with_an_addend(activation, options):
    node = ms("FusedConv", "x w b z", "y", activation=activation, pads=[1, 1, 1, 1], **options)
    check(node, {"x": normal(1, 3, 6, 6), "z": normal(1, 4, 6, 6)}, {"w": normal(4, 3, 3, 3), "b": normal(4)})


def test_cdist():
    for metric in ("euclidean", "sqeuclidean"):
        check(ms("CDist", "a b", "y", metric=metric), {"a": normal(4, 3), "b": normal(5, 3)})


@pytest.mark.parametrize("shape, symbolic", [((3, 3), False), ((2, 5, 5), False), ((2, 4, 4), True), ((1, 1), False)])
def test_inverse(shape, symbolic):
    x = normal(*shape)
    x[..., 0, 0] = 0 if shape[-1] > 1 else 2  # the first pivot is another row
    check(ms("Inverse", "x", "y"), {"x": x}, symbolic=symbolic, rtol=1e-3, atol=1e-4)


def test_same_as_in_the_standard():
    check(ms("Trilu", "x k", "y", upper=0), {"x": normal(3, 4)}, {"k": np.array(1)})
    check(ms("GridSample", "x g", "y", mode="bilinear", padding_mode="border"), {"x": normal(1, 2, 4, 4), "g": normal(1, 3, 3, 2)})
    check(ms("Pad", "x p v", "y", mode="constant"), {"x": normal(2, 3)}, {"p": np.array([1, 0, 0, 2]), "v": np.float32(7).reshape(1)})
    check(ms("Range", "a b c", "y"), {"a": np.array(2, np.int64), "b": np.array(11, np.int64), "c": np.array(3, np.int64)})
    check(ms("GatherND", "x i", "y"), {"x": normal(3, 4), "i": np.array([[0, 1], [2, 3]])})
    check(ms("ExpandDims", "x a", "y"), {"x": normal(2, 3)}, {"a": np.array(-1, np.int32)})
    check(ms("Unique", "x", "y i n"), {"x": np.array([3, 1, 3, 2, 1], np.float32)})


def test_conv_transpose_with_pads_as_an_input():
    node = ms("ConvTransposeWithDynamicPads", "x w p b", "y", strides=[2, 2], kernel_shape=[3, 3])
    check(node, {"x": normal(1, 3, 4, 4)}, {"w": normal(3, 2, 3, 3), "p": np.array([1, 1, 1, 1]), "b": normal(2)})


def run(node, inputs, outputs=1):
    infos = [value(n, a.shape, helper.np_dtype_to_tensor_dtype(a.dtype)) for n, a in inputs.items()]
    proto = model([node], infos, [onnx.ValueInfoProto(name=o) for o in list(node.output)[:outputs]], extra=[("com.microsoft", 1)])
    return om.from_onnx(proto)(*inputs.values())


def test_operators_without_code_for_cpu():
    """onnxruntime has these for GPUs alone; the expected values are torch's."""
    import torch

    x, bias, skip = normal(2, 4, 8), normal(8), normal(2, 4, 8)
    t = lambda a: torch.from_numpy(np.ascontiguousarray(a))
    split = t(x + bias)
    cases = [(ms("BiasSplitGelu", "x b", "y"), {"x": x, "b": bias}, split[..., :4] * torch.nn.functional.gelu(split[..., 4:])),
             (ms("BiasAdd", "x b s", "y"), {"x": x, "b": bias, "s": skip}, t(x + bias + skip)),
             (ms("BiasDropout", "x b s", "y mask"), {"x": x, "b": bias, "s": skip}, t(x + bias + skip))]
    image, weight = normal(1, 5, 6, 3), normal(4, 3, 3, 3)
    convolved = torch.conv2d(t(image).permute(0, 3, 1, 2), t(weight), padding=1).permute(0, 2, 3, 1)
    cases.append((ms("NhwcConv", "x w", "y", pads=[1, 1, 1, 1]), {"x": image, "w": weight}, convolved))
    wide, gamma, beta = normal(2, 3, 3, 8), normal(8), normal(8)
    normed = torch.nn.functional.silu(torch.nn.functional.group_norm(t(wide).permute(0, 3, 1, 2), 2, t(gamma), t(beta), 1e-5)).permute(0, 2, 3, 1)
    cases.append((ms("GroupNorm", "x g b", "y", groups=2, activation=1, channels_last=1), {"x": wide, "g": gamma, "b": beta}, normed))
    bias = normal(2, 1, 8)
    cases.append((ms("BiasSoftmax", "x b", "y", axis=2, is_inner_broadcast=0), {"x": x, "b": bias}, torch.softmax(t(x + bias), -1)))
    codes = rng.integers(0, 256, (2, 3, 4, 5)).astype(np.uint8)
    means = torch.clamp(torch.round((t(codes).float() - 120).mean((2, 3)) * (0.5 / 0.25)) + 110, 0, 255).to(torch.uint8)
    places = {n: np.asarray(v) for n, v in (("xs", np.float32(0.5)), ("xz", np.uint8(120)), ("ys", np.float32(0.25)), ("yz", np.uint8(110)))}
    cases.append((ms("QLinearReduceMean", "x xs xz ys yz", "y", axes=[2, 3], keepdims=0), {"x": codes} | places, means))
    for node, inputs, expected in cases:
        np.testing.assert_allclose(run(node, inputs), expected.numpy(), rtol=1e-4, atol=1e-5, err_msg=node.op_type)
