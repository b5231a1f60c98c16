"""Linear and bilinear layers."""
from __future__ import annotations

import math

from ...errors import OnemlirError
from .. import ops
from . import init
from .module import Module
from .parameter import new_parameter


class Identity(Module):
    """Gives its input back; any arguments of the constructor are ignored."""

    def __init__(self, *args, **kwargs):
        super().__init__()

    def forward(self, x):
        return x


class Linear(Module):
    """x @ weight.T + bias. x: (..., in_features); result: (..., out_features).

    weight: (out_features, in_features) and bias: (out_features,), both from U(-1/sqrt(in_features), 1/sqrt(in_features)).
    """

    def __init__(self, in_features: int, out_features: int, bias: bool = True, dtype=None):
        super().__init__()
        self.in_features, self.out_features = in_features, out_features
        self.weight = new_parameter((out_features, in_features), dtype)
        self.register_parameter("bias", new_parameter(out_features, dtype) if bias else None)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        init.linear_default_(self.weight, self.bias)

    def forward(self, x):
        return ops.linear(x, self.weight, self.bias)

    def extra_repr(self) -> str:
        return f"in_features={self.in_features}, out_features={self.out_features}, bias={self.bias is not None}"


class Bilinear(Module):
    """y[o] = x1 @ weight[o] @ x2 + bias[o]. x1: (..., in1_features), x2: (..., in2_features); result: (..., out_features).

    weight: (out, in1, in2) and bias: (out,), both from U(-1/sqrt(in1), 1/sqrt(in1)).
    """

    def __init__(self, in1_features: int, in2_features: int, out_features: int, bias: bool = True, dtype=None):
        super().__init__()
        if in1_features < 1:
            raise OnemlirError(f"in1_features must be positive, found {in1_features}")
        self.in1_features, self.in2_features, self.out_features = in1_features, in2_features, out_features
        self.weight = new_parameter((out_features, in1_features, in2_features), dtype)
        self.register_parameter("bias", new_parameter(out_features, dtype) if bias else None)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        bound = 1 / math.sqrt(self.in1_features)
        for parameter in self.parameters(recurse=False):
            init.uniform_(parameter, -bound, bound)

    def forward(self, x1, x2):
        partial = ops.matmul(ops.expand_dims(ops.expand_dims(x1, -2), -2), self.weight)  # (..., out, 1, in2)
        rows = ops.reshape(partial, (*x1.shape[:-1], self.out_features, self.in2_features))
        y = ops.reshape(ops.matmul(rows, ops.expand_dims(x2, -1)), (*x1.shape[:-1], self.out_features))
        return y if self.bias is None else y + self.bias

    def extra_repr(self) -> str:
        return (f"in1_features={self.in1_features}, in2_features={self.in2_features}, out_features={self.out_features}, "
                f"bias={self.bias is not None}")
