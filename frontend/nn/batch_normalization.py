"""Normalisation over the batch, or over each instance, with running statistics."""
from __future__ import annotations

import numpy as np

from .. import ops
from ...errors import ShapeError
from ..dispatch import current_recorder
from .module import Module
from .normalization import reset_scale
from .parameter import new_buffer, new_parameter, refuse_in_recording, replace_data


class RunningNormalization(Module):
    """Base of layers that normalise channels (axis 1) and keep running statistics.

    weight: ones and bias: zeros where `affine`; running_mean, running_var and num_batches_tracked where `track_running_stats`.
    running = (1 - momentum) * running + momentum * batch statistic, with the unbiased variance; the plain average with momentum None.
    """

    ranks: tuple[int, ...] = ()

    def __init__(self, num_features: int, eps: float = 1e-5, momentum: float | None = 0.1, affine: bool = True,
                 track_running_stats: bool = True, dtype=None):
        super().__init__()
        self.num_features, self.eps, self.momentum = num_features, eps, momentum
        self.affine, self.track_running_stats = affine, track_running_stats
        for name in ("weight", "bias"):
            self.register_parameter(name, new_parameter(num_features, dtype) if affine else None)
        self.register_buffer("running_mean", new_buffer(num_features, 0, dtype) if track_running_stats else None)
        self.register_buffer("running_var", new_buffer(num_features, 1, dtype) if track_running_stats else None)
        self.register_buffer("num_batches_tracked", new_buffer((), 0, np.int64) if track_running_stats else None)
        self.reset_parameters()

    def reset_running_stats(self) -> None:
        if self.running_mean is not None:
            replace_data(self.running_mean, np.zeros_like(self.running_mean._array))
            replace_data(self.running_var, np.ones_like(self.running_var._array))
            replace_data(self.num_batches_tracked, np.zeros((), np.int64))

    def reset_parameters(self) -> None:
        self.reset_running_stats()
        reset_scale(self)

    def _check_rank(self, x) -> None:
        if x.ndim not in self.ranks:
            raise ShapeError(f"{type(self).__name__} takes {' or '.join(map(str, self.ranks))} axes, found shape {x.shape}")

    def extra_repr(self) -> str:
        return (f"{self.num_features}, eps={self.eps}, momentum={self.momentum}, affine={self.affine}, "
                f"track_running_stats={self.track_running_stats}")


class BatchNorm(RunningNormalization):
    """Base of BatchNorm1d, BatchNorm2d, BatchNorm3d: (x - mean) / sqrt(var + eps) * weight + bias for each channel.

    While training, and without running statistics, mean and variance are those of the batch. Source: Ioffe and Szegedy 2015.
    """

    def forward(self, x):
        self._check_rank(x)
        if not self.training and self.running_mean is not None:
            return ops.batch_norm(x, self.running_mean, self.running_var, self.weight, self.bias, eps=self.eps)
        if not self.training:
            return ops.batch_norm(x, None, None, self.weight, self.bias, training=True, eps=self.eps)
        refuse_in_recording("batch_norm in training mode", "it changes the running statistics: call eval() on the module first")
        if x.size <= x.shape[1]:
            raise ShapeError(f"batch_norm in training mode needs more than one value for each channel, found shape {x.shape}")
        return ops.batch_norm(x, self.running_mean, self.running_var, self.weight, self.bias, training=True, momentum=self._share(), eps=self.eps)

    def _share(self) -> float:
        """How much the running statistics move towards those of this batch, which is counted."""
        if self.num_batches_tracked is None:
            return 0.0
        recorder = current_recorder()
        if recorder is not None:
            return self._share_in(recorder)
        replace_data(self.num_batches_tracked, self.num_batches_tracked._array + 1)
        return 1 / float(self.num_batches_tracked) if self.momentum is None else self.momentum


    def _share_in(self, recorder) -> float:
        """`_share` in a function that is recorded for training: it counts when it runs."""
        if self.momentum is None or not hasattr(recorder, "write_back"):
            recorder.refuse("batch_norm in training mode", "it changes the running statistics in a way that depends on how often it ran: call eval() "
                            "on the module first, or give it a momentum and use om.jit or om.grad")
        recorder.write_back(self.num_batches_tracked, self.num_batches_tracked + 1)
        return self.momentum


class BatchNorm1d(BatchNorm):
    """Batch normalisation of (N, C) or (N, C, L)."""

    ranks = (2, 3)


class BatchNorm2d(BatchNorm):
    """Batch normalisation of (N, C, H, W)."""

    ranks = (4,)


class BatchNorm3d(BatchNorm):
    """Batch normalisation of (N, C, D, H, W)."""

    ranks = (5,)


class InstanceNorm(RunningNormalization):
    """Base of InstanceNorm1d, InstanceNorm2d, InstanceNorm3d: each channel of each instance is normalised over its spatial axes.

    In evaluation mode with running statistics those are used. Source: Ulyanov et al. 2016.
    """

    def __init__(self, num_features: int, eps: float = 1e-5, momentum: float | None = 0.1, affine: bool = False,
                 track_running_stats: bool = False, dtype=None):
        super().__init__(num_features, eps, momentum, affine, track_running_stats, dtype)

    def forward(self, x):
        self._check_rank(x)
        single = x.ndim == self.ranks[0]
        result = self._normalize(ops.expand_dims(x, 0) if single else x)
        return ops.reshape(result, x.shape) if single else result

    def _normalize(self, x):
        if self.training:
            refuse_in_recording("instance_norm in training mode", "call eval() on the module first")
        return ops.instance_norm(x, self.running_mean, self.running_var, self.weight, self.bias,
                                 use_input_stats=self.training or self.running_mean is None, momentum=self.momentum or 0.0, eps=self.eps)


class InstanceNorm1d(InstanceNorm):
    """Instance normalisation of (N, C, L) or (C, L)."""

    ranks = (2, 3)


class InstanceNorm2d(InstanceNorm):
    """Instance normalisation of (N, C, H, W) or (C, H, W)."""

    ranks = (3, 4)


class InstanceNorm3d(InstanceNorm):
    """Instance normalisation of (N, C, D, H, W) or (C, D, H, W)."""

    ranks = (4, 5)
