"""Layers that drop elements at random while training, and do nothing in evaluation. Inside a recording training is a TraceError."""
from __future__ import annotations

import math

from .. import ops
from ...errors import OnemlirError, ShapeError
from .module import Module
from .parameter import refuse_in_recording

_ALPHA = -1.7580993408473766  # what SELU tends to: -scale * alpha
_ADVICE = "it is random: call eval() on the module first, or trace the module itself, which records in evaluation mode"


class RandomDrop(Module):
    """Base of the dropout layers: the probability, and when nothing is to be done."""

    def __init__(self, p: float = 0.5, inplace: bool = False):
        super().__init__()
        if not 0 <= p <= 1:
            raise OnemlirError(f"the probability p must be between 0 and 1, found {p}")
        self.p = p

    def forward(self, x):
        if not self.training:
            return x
        refuse_in_recording(f"dropout ({type(self).__name__}) in training mode", _ADVICE)
        return self.drop(x) if self.p > 0 else x

    def drop(self, x):
        """x with elements dropped."""
        raise NotImplementedError

    def extra_repr(self) -> str:
        return f"p={self.p}"


class Dropout(RandomDrop):
    """Each element is 0 with probability p, else divided by 1 - p."""

    def drop(self, x):
        return ops.dropout(x, self.p, True)


class ChannelDropout(RandomDrop):
    """Base of the layers that drop whole channels of (N, C, *spatial) or (C, *spatial)."""

    spatial = 1

    def drop(self, x):
        return x * (_kept(x, self.spatial, self.p) / (1 - self.p) if self.p < 1 else 0.0)


class Dropout1d(ChannelDropout):
    """Each channel of (N, C, L) is 0 with probability p, else divided by 1 - p."""


class Dropout2d(ChannelDropout):
    """Each channel of (N, C, H, W) is 0 with probability p, else divided by 1 - p."""

    spatial = 2


class Dropout3d(ChannelDropout):
    """Each channel of (N, C, D, H, W) is 0 with probability p, else divided by 1 - p."""

    spatial = 3


class AlphaDropout(RandomDrop):
    """Dropout that keeps mean 0 and variance 1: dropped elements become SELU's limit. Source: Klambauer et al. 2017."""

    def drop(self, x):
        return _alpha_drop(x, ops.bernoulli(ops.full(x.shape, 1 - self.p, x.dtype)), self.p)


class FeatureAlphaDropout(RandomDrop):
    """`AlphaDropout` of whole channels of (N, C, ...)."""

    def drop(self, x):
        return _alpha_drop(x, _kept(x, x.ndim - 2, self.p), self.p)


def _kept(x, spatial: int, p: float):
    """1 for the channels that stay, else 0, in a shape that broadcasts against x."""
    if x.ndim not in (spatial + 1, spatial + 2):
        raise ShapeError(f"dropout of channels needs {spatial + 1} or {spatial + 2} axes, found shape {x.shape}")
    return ops.bernoulli(ops.full((*x.shape[:x.ndim - spatial], *(1,) * spatial), 1 - p, x.dtype))


def _alpha_drop(x, kept, p: float):
    if p == 1:
        return x * 0.0
    scale = 1 / math.sqrt((_ALPHA**2 * p + 1) * (1 - p))
    return (x * kept + _ALPHA * (1 - kept)) * scale - scale * _ALPHA * p
