"""Products and convolutions with what comes before or after them; activations with a bias."""
from __future__ import annotations

from ....dialect import symbolic
from ...ops.declared import declared as om
from ...ops.shape import slice_along
from ...tensor import Tensor
from ..activation import swish
from ..convolution import convolved
from ..linear_algebra import read_gemm
from ..shape import sizes_of
from .domain import microsoft


def swapped(x: Tensor) -> Tensor:
    """The last two axes exchanged."""
    return om.transpose(x, axes=(*range(x.ndim - 2), x.ndim - 1, x.ndim - 2))


def _oriented(x: Tensor, transposed: int, batch: int) -> Tensor:
    """An operand of FusedMatMul: with `batch` its first axis stands behind the other batch axes."""
    if batch:
        x = om.transpose(x, axes=(*range(1, x.ndim - 1), 0, x.ndim - 1))
    return swapped(x) if transposed and x.ndim > 1 else x


@microsoft("FusedMatMul", "TransposeMatMul", "FusedMatMulActivation")
def read_fused_matmul(node, ops):
    """alpha * op(A) @ op(B), then an activation."""
    a = _oriented(node.tensor(0), node.int("transA", 0), node.int("transBatchA", 0))
    b = _oriented(node.tensor(1), node.int("transB", 0), node.int("transBatchB", 0))
    product, alpha = ops.matmul(a, b), node.float("alpha", 1.0)
    return activated(node, product if alpha == 1 else product * alpha)


def activated(node, x: Tensor) -> Tensor:
    """The activation that the node's attributes name, with its parameters."""
    kind = node.text("activation", "")
    given = node.floats("activation_params", ())
    named = [node.float(f"activation_{name}") for name in ("alpha", "beta", "gamma")]
    alpha, beta = [*(given or [p for p in named if p is not None]), None, None][:2]
    known = {"": lambda: x, "Relu": lambda: om.relu(x), "Sigmoid": lambda: om.sigmoid(x), "Tanh": lambda: om.tanh(x), "Softsign": lambda: om.softsign(x),
             "Softplus": lambda: om.softplus(x), "Gelu": lambda: om.gelu(x), "LeakyRelu": lambda: om.leaky_relu(x, negative_slope=0.01 if alpha is None else alpha),
             "Elu": lambda: om.elu(x, alpha=1.0 if alpha is None else alpha), "Clip": lambda: om.minimum(om.maximum(x, alpha), beta),
             "HardSigmoid": lambda: om.hard_sigmoid(x, alpha=0.2 if alpha is None else alpha, beta=0.5 if beta is None else beta)}
    return known[kind]() if kind in known else node.refuse(f"the activation '{kind}' cannot be read")


@microsoft("FusedConv")
def read_fused_conv(node, ops):
    """Conv, then an addend, then an activation."""
    y = convolved(node, node.tensor(0), node.tensor(1), node.optional(2))
    return activated(node, y + node.tensor(3) if node.has(3) else y)


def channels_first(x: Tensor) -> Tensor:
    return om.transpose(x, axes=(0, x.ndim - 1, *range(1, x.ndim - 1)))


def channels_last(x: Tensor) -> Tensor:
    return om.transpose(x, axes=(0, *range(2, x.ndim), 1))


@microsoft("NhwcConv", "NhwcFusedConv")
def read_nhwc_conv(node, ops):
    """Conv of (n, h, w, c)."""
    y = convolved(node, channels_first(node.tensor(0)), node.tensor(1), node.optional(2))
    y = channels_last(y)
    return activated(node, y + node.tensor(3) if node.has(3) else y)


@microsoft("NhwcMaxPool")
def read_nhwc_max_pool(node, ops):
    return channels_last(node.read_as("MaxPool", channels_first(node.tensor(0))))


@microsoft("FusedGemm")
def read_fused_gemm(node, ops):
    return activated(node, read_gemm(node, ops))


def _with_bias(node, number: int) -> Tensor:
    x = node.tensor(0)
    return x + node.tensor(number) if node.has(number) else x


@microsoft("Gelu")
def read_gelu(node, ops):
    return ops.gelu(node.tensor(0))


@microsoft("FastGelu")
def read_fast_gelu(node, ops):
    return ops.gelu(_with_bias(node, 1), approximate="tanh")


@microsoft("BiasGelu")
def read_bias_gelu(node, ops):
    return ops.gelu(_with_bias(node, 1))


@microsoft("QuickGelu")
def read_quick_gelu(node, ops):
    return swish(node, ops, 1.702)


@microsoft("BiasSplitGelu")
def read_bias_split_gelu(node, ops):
    """The first half of x + bias times the gelu of the second."""
    x = _with_bias(node, 1)
    width = symbolic.floordiv(sizes_of(x)[-1], 2)
    return slice_along(x, x.ndim - 1, 0, width) * ops.gelu(slice_along(x, x.ndim - 1, width, width))


@microsoft("BiasAdd")
def read_bias_add(node, ops):
    return _with_bias(node, 1) + node.tensor(2)


@microsoft("BiasDropout")
def read_bias_dropout(node, ops):
    """x + bias + residual: no element is dropped outside of training; output 1, the mask, is true throughout."""
    if node.has(4) and bool(node.array(4).reshape(())):
        node.refuse("dropout in training mode cannot be read: its numbers are random")
    y = _with_bias(node, 1)
    return (y + node.tensor(2) if node.has(2) else y), ops.equal(node.tensor(0), node.tensor(0))


@microsoft("BiasSoftmax")
def read_bias_softmax(node, ops):
    """softmax over the axes from `axis` on of x + bias; the bias broadcasts from the front (is_inner_broadcast 0) or inside of the batch."""
    x, bias, axis = node.tensor(0), node.tensor(1), node.int("axis", 1)
    shape = sizes_of(x)
    axis %= len(shape)
    if node.int("is_inner_broadcast", 1) == 0 or bias.ndim == x.ndim:
        y = x + bias
    else:
        y = x + ops.reshape(bias, shape=(*sizes_of(bias)[:-(x.ndim - axis)], *[1] * (x.ndim - bias.ndim), *sizes_of(bias)[-(x.ndim - axis):]))
    rows = ops.reshape(y, shape=(symbolic.product(shape[:axis]), symbolic.product(shape[axis:])))
    return ops.reshape(ops.softmax(rows, axis=1), shape=shape)


