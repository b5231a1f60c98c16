"""Linear layers."""
from __future__ import annotations

import math

from .. import ops
from ..random import generator
from .module import Module, Parameter


class Linear(Module):
    """x @ weight.T + bias. weight: (out_features, in_features), bias: (out_features,).

    Initialised from U(-1/sqrt(in), 1/sqrt(in)), as torch does.
    """

    def __init__(self, in_features: int, out_features: int, bias: bool = True):
        super().__init__()
        self.in_features, self.out_features = in_features, out_features
        bound = 1 / math.sqrt(in_features) if in_features else 0.0
        self.weight = Parameter(generator().uniform(-bound, bound, (out_features, in_features)).astype("float32"))
        self.register_parameter("bias", Parameter(generator().uniform(-bound, bound, out_features).astype("float32")) if bias else None)

    def forward(self, x):
        return ops.linear(x, self.weight, self.bias)

    def extra_repr(self) -> str:
        return f"{self.in_features}, {self.out_features}, bias={self.bias is not None}"
