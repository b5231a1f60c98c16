"""Normalisation that does not depend on the batch: layer, group, RMS, local response."""
from __future__ import annotations

from .. import ops
from ...errors import OnemlirError
from . import init
from .module import Module
from .parameter import new_parameter
from .spatial import Sizes


class LayerNorm(Module):
    """(x - mean) / sqrt(var + eps) * weight + bias over the last axes, whose sizes are `normalized_shape`.

    weight: ones and bias: zeros, both of normalized_shape. Source: Ba et al. 2016.
    """

    def __init__(self, normalized_shape: Sizes, eps: float = 1e-5, elementwise_affine: bool = True, bias: bool = True, dtype=None):
        super().__init__()
        self.normalized_shape = _sizes(normalized_shape)
        self.eps, self.elementwise_affine = eps, elementwise_affine
        self.register_parameter("weight", new_parameter(self.normalized_shape, dtype) if elementwise_affine else None)
        self.register_parameter("bias", new_parameter(self.normalized_shape, dtype) if elementwise_affine and bias else None)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        reset_scale(self)

    def forward(self, x):
        return ops.layer_norm(x, self.normalized_shape, self.weight, self.bias, eps=self.eps)

    def extra_repr(self) -> str:
        return f"{self.normalized_shape}, eps={self.eps}, elementwise_affine={self.elementwise_affine}"


class RMSNorm(Module):
    """x / sqrt(mean(x^2) + eps) * weight over the last axes, whose sizes are `normalized_shape`. weight: ones.

    eps None is the smallest step from 1 in x's dtype. Source: Zhang and Sennrich 2019.
    """

    def __init__(self, normalized_shape: Sizes, eps: float | None = None, elementwise_affine: bool = True, dtype=None):
        super().__init__()
        self.normalized_shape = _sizes(normalized_shape)
        self.eps, self.elementwise_affine = eps, elementwise_affine
        self.register_parameter("weight", new_parameter(self.normalized_shape, dtype) if elementwise_affine else None)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        reset_scale(self)

    def forward(self, x):
        return ops.rms_norm(x, self.normalized_shape, self.weight, eps=self.eps)

    def extra_repr(self) -> str:
        return f"{self.normalized_shape}, eps={self.eps}, elementwise_affine={self.elementwise_affine}"


class GroupNorm(Module):
    """Normalises each of `num_groups` groups of channels of (N, C, ...), then scales each channel. Source: Wu and He 2018."""

    def __init__(self, num_groups: int, num_channels: int, eps: float = 1e-5, affine: bool = True, dtype=None):
        super().__init__()
        if num_groups < 1 or num_channels % num_groups:
            raise OnemlirError(f"num_channels must be a multiple of num_groups, found {num_channels} and {num_groups}")
        self.num_groups, self.num_channels, self.eps, self.affine = num_groups, num_channels, eps, affine
        for name in ("weight", "bias"):
            self.register_parameter(name, new_parameter(num_channels, dtype) if affine else None)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        reset_scale(self)

    def forward(self, x):
        return ops.group_norm(x, num_groups=self.num_groups, weight=self.weight, bias=self.bias, eps=self.eps)

    def extra_repr(self) -> str:
        return f"{self.num_groups}, {self.num_channels}, eps={self.eps}, affine={self.affine}"


class LocalResponseNorm(Module):
    """x / (k + alpha / size * sum of x^2 over `size` neighbouring channels)^beta. Source: Krizhevsky et al. 2012, section 3.3."""

    def __init__(self, size: int, alpha: float = 1e-4, beta: float = 0.75, k: float = 1.0):
        super().__init__()
        self.size, self.alpha, self.beta, self.k = size, alpha, beta, k

    def forward(self, x):
        return ops.local_response_norm(x, size=self.size, alpha=self.alpha, beta=self.beta, k=self.k)

    def extra_repr(self) -> str:
        return f"{self.size}, alpha={self.alpha}, beta={self.beta}, k={self.k}"


def reset_scale(module: Module) -> None:
    """Ones for the weight and zeros for the bias, where there are any."""
    if module.weight is not None:
        init.ones_(module.weight)
    if module._parameters.get("bias") is not None:
        init.zeros_(module.bias)


def _sizes(shape) -> tuple[int, ...]:
    return tuple(shape) if isinstance(shape, (tuple, list)) else (shape,)
