"""Activations."""
from __future__ import annotations

from ... import ops
from ..dtypes import is_floating
from ..registry import handles
from .elementwise import clamp
from .values import as_dtype, floating


def _simple(*names: str, to=None) -> None:
    function = getattr(ops, to or names[0])
    handles(*names, *(f"F.{n}" for n in names))(lambda input, inplace=False: function(input))


_simple("relu")
_simple("relu6")
_simple("silu")
_simple("mish")
_simple("hardswish", to="hard_swish")
_simple("hardsigmoid", to="hard_sigmoid")
_simple("logsigmoid", "log_sigmoid", to="logsigmoid")


handles("softsign", "F.softsign")(lambda input: ops.softsign(*floating(input)))
handles("tanhshrink", "F.tanhshrink")(lambda input: ops.tanhshrink(*floating(input)))


@handles("F.gelu", "gelu")
def gelu(input, approximate="none"):
    return ops.gelu(input, approximate=approximate)


@handles("F.elu", "elu")
def elu(input, alpha=1.0, scale=1.0, input_scale=1.0, inplace=False):
    return ops.elu(input, alpha=float(alpha)) if scale == 1 else ops.selu(input, alpha=float(alpha), scale=float(scale))


@handles("F.selu", "selu")
def selu(input, inplace=False):
    return ops.selu(input)


@handles("F.celu", "celu")
def celu(input, alpha=1.0, inplace=False):
    return ops.celu(input, alpha=float(alpha))


@handles("F.leaky_relu", "leaky_relu")
def leaky_relu(input, negative_slope=0.01, inplace=False):
    return ops.leaky_relu(input, negative_slope=float(negative_slope))


@handles("F.prelu", "prelu")
def prelu(input, weight):
    return ops.prelu(input, weight.astype(input.dtype))


@handles("F.rrelu", "rrelu")
def rrelu(input, lower=1 / 8, upper=1 / 3, training=False, inplace=False):
    return ops.leaky_relu(input, negative_slope=(lower + upper) / 2) if not training else NotImplemented


@handles("F.hardtanh", "hardtanh")
def hardtanh(input, min_val=-1.0, max_val=1.0, inplace=False):
    if not is_floating(input.dtype):
        min_val, max_val = int(min_val), int(max_val)
    return clamp(input, min_val, max_val)


@handles("F.softplus", "softplus")
def softplus(input, beta=1.0, threshold=20.0):
    return ops.softplus(input, beta=float(beta), threshold=float(threshold))


@handles("F.threshold", "threshold")
def threshold(input, threshold, value, inplace=False):
    return ops.where(input <= as_dtype(threshold, input.dtype), as_dtype(value, input.dtype), input)


@handles("F.hardshrink", "hardshrink")
def hardshrink(input, lambd=0.5):
    return ops.hardshrink(input, lambd)


@handles("F.softshrink", "softshrink")
def softshrink(input, lambd=0.5):
    return ops.softshrink(input, lambd)


@handles("F.glu", "glu")
def glu(input, dim=-1):
    return ops.glu(input, dim)
