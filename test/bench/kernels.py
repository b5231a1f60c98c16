"""GFLOP/s of the generated kernels and of onnxruntime, on one thread: `python test/bench/kernels.py [word of a case's name …]`.

Both run in this process, in turns, and the medians are compared, so that noise of the machine hits both. Filters and B are packed before
(onnxruntime packs them too). NCHW in and out, as onnxruntime's graphs; `nhwc` cases keep that layout at both ends.
"""

import sys
import time
from dataclasses import dataclass, replace

import numpy as np
import onnxruntime
from mlir import ir
from onemlir.lowering import targets
from onemlir.lowering.kernels import (
    ConvShape,
    MatmulShape,
    conv_strategy,
    emit_conv,
    emit_matmul,
    emit_pack_b,
    emit_pack_filter,
    packed_filter_shape,
    packed_shape,
    scratch_shape,
    winograd_size,
)
from onemlir.lowering.kernels.standalone import aligned, compile_kernel
from onnx import TensorProto, helper, numpy_helper

ROUNDS = 40
random = np.random.default_rng(0)

PRODUCTS = {
    "mlp 64x784x512": (64, 784, 512),
    "mlp 64x512x512": (64, 512, 512),
    "mlp 1x512x512": (1, 512, 512),
    "mlp 64x512x10": (64, 512, 10),
    "transformer 128x256x1024": (128, 256, 1024),
    "transformer 128x1024x256": (128, 1024, 256),
    "transformer 128x512x2000": (128, 512, 2000),
    "large 512x2048x2048": (512, 2048, 2048),
    "vector 1x4096x4096": (1, 4096, 4096),
}


def conv(channels, filters, size, kernel, stride=1, groups=1):
    return ConvShape(channels, filters, size, size, (kernel,) * 2, (stride,) * 2, (kernel // 2,) * 4, groups=groups)


CONVOLUTIONS = {
    "resnet stem 7x7/2": conv(3, 64, 224, 7, 2),
    "resnet 56x56x64 3x3": conv(64, 64, 56, 3),
    "resnet 28x28x128 3x3": conv(128, 128, 28, 3),
    "resnet 14x14x256 3x3": conv(256, 256, 14, 3),
    "resnet 7x7x512 3x3": conv(512, 512, 7, 3),
    "resnet 56x56x64 3x3/2": conv(64, 128, 56, 3, 2),
    "resnet 56x56x64 1x1/2": conv(64, 128, 56, 1, 2),
    "resnet 14x14x256 1x1/2": conv(256, 512, 14, 1, 2),
    "mobilenet stem 3x3/2": conv(3, 32, 224, 3, 2),
    "mobilenet 112x112 1x1 16-96": conv(16, 96, 112, 1),
    "mobilenet 56x56 1x1 24-144": conv(24, 144, 56, 1),
    "mobilenet 56x56 1x1 144-24": conv(144, 24, 56, 1),
    "mobilenet 14x14 1x1 576-96": conv(576, 96, 14, 1),
    "mobilenet 7x7 1x1 960-320": conv(960, 320, 7, 1),
    "mobilenet 7x7 1x1 320-1280": conv(320, 1280, 7, 1),
    "mobilenet depthwise 112x112x32": conv(32, 32, 112, 3, 1, 32),
    "mobilenet depthwise 112x112x96/2": conv(96, 96, 112, 3, 2, 96),
    "mobilenet depthwise 56x56x144": conv(144, 144, 56, 3, 1, 144),
    "mobilenet depthwise 14x14x384": conv(384, 384, 14, 3, 1, 384),
    "mobilenet depthwise 7x7x960": conv(960, 960, 7, 3, 1, 960),
}


@dataclass
class Case:
    flops: float
    ours: object
    theirs: object
    check: object


def session(node, x, w):
    graph = helper.make_graph(
        [node], "g",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, x.shape)],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)],
        [numpy_helper.from_array(w, "w")],
    )  # fmt: skip
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=10)
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    runner = onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
    return lambda: runner.run(None, {"x": x})[0]


def data(*shape):
    array = aligned(shape)
    array[...] = random.standard_normal(shape, dtype=np.float32)
    return array


def f32_shape(rule, *arguments):
    with ir.Context(), ir.Location.unknown():
        return rule(*arguments[:-1], ir.F32Type.get(), arguments[-1])


def product(m, k, n, target, dynamic=False):
    x, w, y = data(m, k), data(k, n), aligned((m, n), fill=np.nan)
    packed = aligned(f32_shape(packed_shape, k, n, target))
    compile_kernel(emit_pack_b, (w.shape, "float32"), (packed.shape, "float32"))(w, packed)
    shape = MatmulShape(None if dynamic else m, n, k)
    kernel = compile_kernel(
        lambda a, b, c: emit_matmul(a, b, c, shape, target=target),
        ((shape.m, k), "float32"), (packed.shape, "float32"), ((shape.m, n), "float32"),
    )  # fmt: skip
    node = helper.make_node("MatMul", ["x", "w"], ["y"])
    return Case(2.0 * m * n * k, kernel.bind(x, packed, y), session(node, x, w), lambda want: error(y, want))


def convolution(shape, target):
    x, w = data(1, shape.channels, shape.height, shape.width), data(shape.filters, shape.channels // shape.groups, *shape.kernel)
    y = aligned((1, shape.filters, *shape.output_size()), fill=np.nan)
    packed_sizes = f32_shape(packed_filter_shape, shape, target)
    packed = w.reshape(w.shape[0], -1) if packed_sizes is None else aligned(packed_sizes)
    if packed_sizes:
        pack = compile_kernel(lambda f, p: emit_pack_filter(f, p, conv_strategy(shape, target)), (w.shape, "float32"), (packed.shape, "float32"))
        pack(w, packed)
    given, result = x, y
    if shape.layout_in == "nhwc":
        given = data(1, shape.height, shape.width, shape.channels)
        given[...] = x.transpose(0, 2, 3, 1)
    if shape.layout_out == "nhwc":
        result = aligned((1, *shape.output_size(), shape.filters), fill=np.nan)
    scratch = aligned(scratch_shape(shape, 1, shape.output_size(), target) or (1,))
    arrays = (given, packed, scratch, result)
    kernel = compile_kernel(
        lambda a, f, s, c: emit_conv(a, f, c, shape, target=target, scratch=s), *[(array.shape, "float32") for array in arrays]
    )
    node = helper.make_node("Conv", ["x", "w"], ["y"], strides=shape.strides, pads=shape.pads, group=shape.groups)

    def check(want):
        got = result.transpose(0, 3, 1, 2) if shape.layout_out == "nhwc" else y
        return error(got, want)

    flops = 2.0 * y.size * w[0].size
    return Case(flops, kernel.bind(*arrays), session(node, x, w), check)


def error(got, want):
    return float(np.abs(got - want).max() / np.abs(want).max())


def seconds(*functions):
    """Median time of each, called in turns."""
    times = [[] for _ in functions]
    for round_ in range(ROUNDS + 3):
        for function, kept in zip(functions, times):
            start = time.perf_counter()
            function()
            if round_ >= 3:
                kept.append(time.perf_counter() - start)
    return [float(np.median(kept)) for kept in times]


def report(name, case):
    case.ours()
    wrong = case.check(case.theirs())
    ours, theirs = seconds(case.ours, case.theirs)
    print(
        f"{name:44s} {case.flops / ours / 1e9:8.1f} {case.flops / theirs / 1e9:8.1f} {ours / theirs:8.2f} {ours * 1e6:9.1f} {wrong:9.0e}",
        flush=True,
    )


def cases(target):
    for name, sizes in PRODUCTS.items():
        yield name, lambda sizes=sizes: product(*sizes, target)
        yield name + " dynamic m", lambda sizes=sizes: product(*sizes, target, dynamic=True)
    for name, shape in CONVOLUTIONS.items():
        yield name, lambda shape=shape: convolution(shape, target)
        last = replace(shape, layout_in="nhwc" if shape.channels > 3 else "nchw", layout_out="nhwc")
        yield name + " nhwc", lambda shape=last: convolution(shape, target)
        for size in (2, 4):
            if winograd_size(last, 1, target):
                yield f"{name} nhwc winograd {size}", lambda shape=replace(last, winograd=size): convolution(shape, target)


def main():
    target, words = targets.host(), sys.argv[1:]
    print(f"{target.name}, one thread\n{'':44s} {'ours':>8s} {'ort':>8s} {'time':>8s} {'us':>9s} {'error':>9s}")
    for name, make in cases(target):
        if not words or any(word in name for word in words):
            report(name, make())


if __name__ == "__main__":
    main()
