"""For each differentiable op examples of its use: a function of arrays, the arrays, whether it is smooth there."""
from dataclasses import dataclass
from typing import Callable

import numpy as np

from onemlir.frontend.ops.declared import declared as ops

_rng = np.random.default_rng(11)


def real(*shape, low=-2.0, high=2.0):
    return _rng.uniform(low, high, shape)


def positive(*shape):
    return real(*shape, low=0.3, high=2.0)


def inside(*shape):
    return real(*shape, low=-0.8, high=0.8)


def above_one(*shape):
    return real(*shape, low=1.2, high=3.0)


def apart(*shape):
    """Elements that are far from each other, from whole numbers and from 0."""
    count = int(np.prod(shape))
    return (_rng.permutation(count) * 0.37 + 0.17 - count * 0.15).reshape(shape)


@dataclass
class Case:
    op: str
    function: Callable
    arrays: tuple
    smooth: bool = True

    def __str__(self):
        return f"{self.op}-{'x'.join(str(a.shape) for a in self.arrays if a is not None)}".replace(" ", "")


def case(op: str, *arrays, smooth: bool = True, **attributes) -> Case:
    present = [i for i, a in enumerate(arrays) if a is not None]

    def function(*tensors):
        operands = [None] * len(arrays)
        for place, tensor in zip(present, tensors):
            operands[place] = tensor
        return getattr(ops, op)(*operands, **attributes)
    return Case(op, function, tuple(arrays[i] for i in present), smooth)


def index(*values):
    return np.array(values, np.int64)


CASES = [
    *[case(op, real(3, 4), real(4)) for op in ("add", "subtract", "multiply")],
    *[case(op, real(2, 1), real(1, 3)) for op in ("add", "multiply")],
    case("divide", real(3, 1), positive(3, 2)), case("pow", positive(3, 2), real(2)), case("pow", real(4), np.array(3.0)), case("atan2", real(3), positive(2, 3)),
    *[case(op, apart(3, 3), apart(3, 1) + 0.05, smooth=False) for op in ("maximum", "minimum", "copysign", "remainder", "fmod", "floor_divide", "trunc_divide")],
    case("where", np.array([True, False, True]), real(2, 3), real(3)),
    *[case(op, real(5)) for op in ("negative", "square", "exp", "exp2", "expm1", "sin", "cos", "sinh", "cosh", "tanh", "asinh", "atan", "erf", "erfc",
                                   "sigmoid", "gelu", "silu", "mish", "softplus")],
    case("gelu", real(5), approximate="tanh"), case("softplus", real(5), beta=2.0, threshold=1.0, smooth=False), case("cast", real(3), dtype="float64"),
    *[case(op, positive(5)) for op in ("sqrt", "rsqrt", "log", "log2", "log10", "log1p", "reciprocal")],
    *[case(op, inside(5)) for op in ("asin", "acos", "atanh", "tan")], case("acosh", above_one(5)),
    *[case(op, apart(9), smooth=False) for op in ("abs", "sign", "floor", "ceil", "trunc", "round", "relu", "relu6", "leaky_relu", "elu", "selu", "celu",
                                                  "hard_sigmoid", "hard_swish", "softsign")],
    case("prelu", apart(2, 3), positive(3), smooth=False), case("celu", apart(7), alpha=0.7, smooth=False), case("elu", apart(7), alpha=1.3, smooth=False),
    *[case(op, real(2, 3, 4), axis=axis) for op in ("softmax", "log_softmax") for axis in (-1, 1)],
    # Products.
    *[case("matmul", real(*a), real(*b)) for a, b in (((3,), (3,)), ((3,), (3, 2)), ((2, 3), (3,)), ((2, 3), (3, 4)), ((5, 2, 3), (3, 4)), ((2, 3), (5, 3, 4)),
                                                      ((2, 1, 2, 3), (4, 3, 2)), ((3,), (2, 3, 4)), ((2, 4, 3), (3,)))],
    case("linear", real(2, 3), real(4, 3), real(4)), case("linear", real(2, 5, 3), real(4, 3), None), case("linear", real(3), real(4, 3), real(4)),
    # Reductions.
    *[case(op, positive(2, 3, 4), axis=axis, keepdims=keepdims) for op in ("sum", "mean", "var", "std", "logsumexp", "prod", "norm")
      for axis, keepdims in ((None, False), (1, False), ((0, 2), True))],
    *[case(op, apart(2, 3, 2), axis=axis, smooth=False) for op in ("max", "min") for axis in (None, (0, 2))],
    *[case("norm", apart(2, 4), axis=1, ord=ord, smooth=False) for ord in (1.0, 3.0, 0.0, np.inf, -np.inf, 0.5)],
    case("var", real(2, 4), axis=1, correction=1.0), case("std", real(2, 4), axis=0, correction=1.0), case("prod", np.array([[1.5, 0.0, 2.0], [0.5, 3.0, 1.0]]), axis=1),
    *[case(op, real(2, 4), axis=1, exclusive=exclusive, reverse=reverse) for op in ("cumsum", "cumprod") for exclusive in (False, True) for reverse in (False, True)],
    case("cumprod", np.array([1.5, 0.0, 2.0, 0.0]), axis=0),
    # Shapes.
    case("reshape", real(2, 6), shape=(3, 4)), case("transpose", real(2, 3, 4), axes=(2, 0, 1)), case("broadcast_to", real(2, 1), shape=(4, 2, 3)),
    case("slice", real(5, 4), starts=(1, 3), shape=(2, 2), steps=(2, -2)), case("slice", real(3), starts=(0,), shape=(0,), steps=(1,)),
    Case("concat", lambda a, b: ops.concat([a, b, a], axis=1), (real(2, 3), real(2, 1))),
    case("pad_constant", real(2, 3), np.array(0.5), low=(1, 0), high=(0, 2)), case("full", np.array(1.5), shape=(2, 3)),
    *[case("pad", real(3, 4), None, low=(2, -1), high=(1, 2), mode=mode) for mode in ("constant", "edge", "reflect", "wrap")],
    case("pad", real(3), np.array(0.7), low=(1,), high=(2,)),
    # Places.
    case("gather", real(4, 3), index(1, -1, 1)), case("gather", real(2, 4, 3), np.array([[0, 2], [2, 2]]), axis=1),
    case("take_along_axis", real(3, 4), np.array([[0, 1, 0], [3, 3, -1]]), axis=1), case("take_along_axis", real(3, 4), np.array([[0, 2, 2, 1]]), axis=0),
    *[case("scatter", apart(3, 4), np.array([[0, 2], [1, 1]]), apart(2, 2) + 0.03, axis=1, reduction=r, smooth=r in ("none", "add")) for r in ("none", "add", "mul", "max", "min")],
    case("gather_nd", real(3, 4, 2), np.array([[0, 1], [2, 3], [0, 1]])), case("gather_nd", real(2, 3, 4), np.array([[[1], [1]], [[0], [2]]]), batch_dims=1),
    *[case("scatter_nd", apart(4, 2), np.array([[1], [3], [1]]), apart(3, 2) + 0.03, reduction=r, smooth=r in ("none", "add")) for r in ("none", "add", "mul", "max")],
    case("dynamic_slice", real(4, 5), index(1, 9), shape=(2, 3)), case("dynamic_update", real(4, 5), real(2, 3), index(1, 9)),
    case("slice_update", real(5, 4), real(2, 2), starts=(1, 0), steps=(2, 3)),
    case("append_rows", real(2, 2, 3, 4), real(2, 2, 2, 4), index(3, 1), size=(6,)),
    case("sort", apart(3, 4), smooth=False), case("sort", apart(3, 4), axis=0, descending=True, smooth=False), case("topk", apart(3, 5), k=(2,), smooth=False),
    case("topk", apart(5, 3), k=(3,), axis=0, largest=False, smooth=False),
    # Windows.
    case("conv", real(2, 3, 6), real(4, 3, 3), real(4)), case("conv", real(2, 4, 6, 5), real(6, 2, 3, 2), None, stride=(2, 1), padding=(1, 0, 2, 1), groups=2),
    case("conv", real(1, 2, 9), real(3, 2, 3), None, stride=2, dilation=2, padding=1), case("conv", real(1, 2, 3, 4, 3), real(2, 2, 2, 2, 2), real(2)),
    case("conv", real(2, 4, 5, 5), real(4, 1, 3, 3), real(4), padding=1, groups=4),
    case("conv_transpose", real(2, 3, 4), real(3, 2, 3), real(2), stride=2, padding=1, output_padding=1),
    case("conv_transpose", real(2, 4, 3, 4), real(4, 1, 3, 2), None, stride=(2, 1), dilation=(1, 2), groups=2, padding=(1, 0, 0, 1)),
    *[case("max_pool", apart(2, 2, 6, 5), kernel_size=(3, 2), smooth=False, **options) for options in ({}, {"stride": 1, "padding": 1}, {"stride": 2, "ceil_mode": True, "dilation": 2})],
    case("max_pool_with_indices", apart(2, 7), kernel_size=(3,), stride=2, padding=1, smooth=False),
    *[case("avg_pool", real(2, 2, 6, 5), kernel_size=(3, 2), **options) for options in ({}, {"stride": 1, "padding": 1}, {"stride": 2, "padding": 1, "ceil_mode": True},
      {"padding": 1, "count_include_pad": False}, {"divisor": 2}, {"stride": 3, "dilation": 2})],
    # Normalizations.
    case("layer_norm", real(3, 4), real(4), real(4)), case("layer_norm", real(2, 3, 4), real(3, 4), None, axes_count=2), case("rms_norm", real(3, 4), real(4)),
    case("batch_norm", real(3, 2, 4), real(2), positive(2), real(2), real(2)), case("group_norm", real(2, 4, 3), real(4), real(4), num_groups=2),
    case("instance_norm", real(2, 3, 4), real(3), real(3)), case("local_response_norm", real(2, 5, 3), size=3),
    case("local_response_norm", real(1, 4, 2), size=2, beta=0.5, alpha=0.3),
    # Layers.
    case("attention", real(2, 3, 4), real(2, 5, 4), real(2, 5, 2), None), case("attention", real(2, 3, 4), real(2, 3, 4), real(2, 3, 2), real(3, 3), is_causal=True),
    case("attention", real(1, 4, 3, 2), real(1, 2, 3, 2), real(1, 2, 3, 2), np.array([[True, False, True], [False, False, False], [True, True, True]]), enable_gqa=True),
    case("rnn_layer", real(3, 2, 3), real(4, 3), real(4, 4), real(4), real(4), real(2, 4), index(3, 2)), case("rnn_layer", real(2, 1, 2), real(2, 2), real(2, 2), None, None, None, None, reverse=True, activation="sigmoid"),
    case("gru_layer", real(3, 2, 3), real(6, 3), real(6, 2), real(6), real(6), real(2, 2), None), case("gru_layer", real(2, 2, 2), real(6, 2), real(6, 2), real(6), real(6), None, index(2, 1), linear_before_reset=False, reverse=True),
    case("lstm_layer", real(3, 2, 3), real(8, 3), real(8, 2), real(8), real(8), real(2, 2), index(3, 1), real(2, 2), real(6)),
    case("lstm_layer", real(2, 1, 2), real(8, 2), real(8, 2), None, None, None, None, None, None, input_forget=True, reverse=True),
    # Resampling, quantization.
    *[case("resize", real(1, 2, 3, 4), sizes=(1, 2, 5, 6), mode=mode) for mode in ("nearest", "linear", "cubic")],
    case("resize", real(1, 1, 5, 4), sizes=(1, 1, 7, 3), mode="nearest", nearest_mode="floor", coordinate_mode="asymmetric"),
    case("resize", real(1, 1, 6, 5), sizes=(1, 1, 3, 4), mode="linear", antialias=True), case("resize", real(4), sizes=(7,), mode="linear", coordinate_mode="align_corners"),
    *[case("grid_sample", real(2, 2, 4, 3), inside(2, 3, 2, 2) * 1.3, mode=mode, padding_mode=padding, smooth=False)
      for mode in ("linear", "cubic", "nearest") for padding in ("zeros", "border", "reflection")],
    case("grid_sample", real(1, 2, 3, 3, 3), inside(1, 2, 2, 2, 3), align_corners=True, smooth=False),
    case("dequantize_linear", np.array([[1, 2, 3], [4, 5, 6]], np.int8), real(3), None), case("dequantize_linear", np.array([[1, 2, 3, 4]], np.uint8), real(1, 2), np.array([[1, 2]], np.uint8), axis=1, block_size=2),
    case("dequantized_linear", real(2, 4), np.array([[1, 2, 30, 4]], np.uint8), real(1, 2), np.array([[1, 2]], np.uint8), block_size=2, bits=4),
]
